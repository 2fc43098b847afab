#include "store/postgres/writer/writer.h"

#include "store/postgres/owner.h"
#include "store/postgres/statements.h"
#include "store/postgres/writer/rows.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <map>
#include <thread>

namespace dormouse::store::postgres {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int repeats_max = 3;
constexpr auto leave_wait = std::chrono::seconds(2);
constexpr auto pause_between_connects = std::chrono::milliseconds(50);
// How many appends a promoted standby may lack. An eighth of the entries that the feed keeps, which
// are counted by these numbers: the rest stays readable.
constexpr std::int64_t numbers_skipped = 131'072;
// How many numbers of processes, and blocks of numbers of sessions. PostgreSQL logs a sequence 32
// numbers ahead, so that a standby may lack the newest of these records.
constexpr std::int64_t sequence_skipped = 1'024;

std::string random_bytes() {
    std::array<char, 16> bytes{};
    while (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) &&
           errno == EINTR) {}
    return {bytes.data(), bytes.size()};
}

Failure refusal_of(Failure failure) {
    if (failure.state == "DM003")
        failure.error = {Code::wrong_state,
                         "256 processes use this schema of the store: stop one of them",
                         {},
                         0};
    if (failure.state == "DM004")
        failure.error = {Code::newer_format,
                         "The upgrade of the store was finished: use the release of the servers "
                         "that work on it, or a newer one",
                         {},
                         0};
    return failure;
}

// After the promotion of a standby, numbers of the feed, of processes and of sessions begin above
// those that the former primary had given and the standby lacks.
Answer<void> skip_lost_numbers(Connection& connection, Connection::Wait wait) {
    std::array calls{Call{sql(Write::note_timeline)}, Call{sql(Write::raise_numbers)}};
    calls[1].parameters.integer(numbers_skipped).integer(sequence_skipped);
    auto const done = connection.run(calls, wait);
    if (!done) return std::unexpected(done.error());
    return {};
}

Call data_keys_call(Write write, std::span<port::DataKeyRow const> rows) {
    std::vector<std::string> ids, masters, wrapped;
    std::vector<std::int64_t> mixed;
    for (port::DataKeyRow const& row : rows) {
        ids.push_back(row.id);
        masters.push_back(row.master);
        mixed.push_back(row.mixed ? 1 : 0);
        wrapped.push_back(row.wrapped);
    }
    Call call{sql(write)};
    call.parameters.texts(ids).texts(masters).integers(mixed).byte_arrays(wrapped);
    return call;
}

}  // namespace

Answer<Registration> register_node(Connection& connection, Catalogue const& catalogue,
                                   NodeName const& node, bool sole) {
    constexpr auto wait = std::chrono::seconds(10);
    if (auto skipped = skip_lost_numbers(connection, wait); !skipped)
        return std::unexpected(std::move(skipped.error()));
    Registration out;
    out.incarnation = random_bytes();
    Call call{sql(Write::register_node)};
    call.parameters.integer(catalogue.lock).bytes(out.incarnation);
    call.parameters.text(node.name).text(node.version);
    call.parameters.integer(static_cast<std::int64_t>(migrations().size()));
    std::vector<Call> calls;
    if (sole) calls = {Call{sql(Write::free_writers)}, Call{sql(Write::forget_nodes)}};
    auto const registers = calls.size();
    calls.push_back(std::move(call));
    Call keys{sql(Write::register_keys)};
    keys.parameters.bytes(out.incarnation).text(node.masters);
    if (!node.masters.empty()) calls.push_back(std::move(keys));
    auto const answers = connection.run(calls, wait);
    if (!answers) return std::unexpected(refusal_of(answers.error()));
    auto const& rows = (*answers)[registers];
    auto const made = integers_of(rows.text(0, 0));
    if (made.size() != 3) return std::unexpected(Failure{.error = {Code::internal, "register_6"}});
    out.epoch = static_cast<Epoch>(made[0]);
    out.slot = made[1];
    out.batch = made[2];
    return out;
}

Writer::~Writer() {
    auto const connection = session_.connection(leave_wait);
    if (!connection || fenced_) return;
    Call call{sql(Write::leave)};
    call.parameters.integer(me_.slot).bytes(me_.incarnation);
    std::ignore = (*connection)->run(call, leave_wait);
}

RowArray Writer::array(std::string_view type) const {
    auto const found = catalogue_.types.find(type);
    return RowArray(found == catalogue_.types.end() ? 0 : found->second);
}

Parameters Writer::fenced_parameters() {
    Parameters out;
    out.integer(catalogue_.lock).integer(me_.slot).bytes(me_.incarnation).integer(++me_.batch);
    return out;
}

Failure Writer::fence() {
    fenced_ = true;
    return {.error = static_cast<Error const&>(port::fenced().error())};
}

Answer<Connection*> Writer::reconnect() {
    auto const until = Clock::now() + options_.reconnect_wait;
    for (;;) {
        auto made = session_.connection(options_.reconnect_wait);
        if (made && session_.made() != looked_) {
            if (auto looked = replace_lost(**made); looked)
                looked_ = session_.made();
            else
                made = std::unexpected(std::move(looked.error()));
        }
        if (made || Clock::now() >= until) return made;
        std::this_thread::sleep_for(pause_between_connects);
    }
}

Answer<void> Writer::replace_lost(Connection& connection) {
    auto skipped = skip_lost_numbers(connection, options_.call_wait);
    if (!skipped || data_keys_.empty()) return skipped;
    std::vector<port::DataKeyRow> rows;
    for (auto const& [id, row] : data_keys_) rows.push_back(row);
    // A row that exists may be encrypted with a newer master key.
    auto const done =
        connection.run(data_keys_call(Write::restore_data_keys, rows), options_.call_wait);
    if (!done) return std::unexpected(done.error());
    return {};
}

// The row's lock waits until the server has ended the lost call. That it is taken and committed
// shows also that a standby has what was committed before.
Answer<std::optional<Writer::Statuses>> Writer::resolve() {
    auto const until = Clock::now() + options_.call_wait;
    for (;;) {
        auto const connection = reconnect();
        if (!connection) return std::unexpected(connection.error());
        Call call{sql(Write::newest_call)};
        call.parameters.integer(me_.slot).bytes(me_.incarnation);
        auto const rows = (*connection)->run(call, options_.call_wait);
        if (rows && !(*connection)->warned()) {
            if (rows->size() == 0) return std::unexpected(fence());
            if (rows->integer(0, 0) != me_.batch) return std::nullopt;
            return integers_of(rows->text(0, 1));
        }
        session_.close();
        if (rows || Clock::now() < until) continue;
        return std::unexpected(rows.error());
    }
}

Answer<Writer::Statuses> Writer::once(Call const& call) {
    if (fenced_) return std::unexpected(fence());
    for (int repeats = 0, losses = 0;;) {
        auto const connection = reconnect();
        if (!connection) return std::unexpected(connection.error());
        auto rows = (*connection)->run(call, options_.call_wait);
        // A wait for the standby that was cancelled is a warning, not an error.
        bool const warned = rows && (*connection)->warned();
        if (rows && !warned) return rows->size() == 0 ? Statuses() : integers_of(rows->text(0, 0));
        if (warned) session_.close();
        auto const state = rows ? std::string() : rows.error().state;
        if (state == "DM001") return std::unexpected(fence());
        if (warned || rows.error().lost || state == "DM002") {
            auto known = resolve();
            ++(!known ? lost_.unknown : *known ? lost_.committed : lost_.not_committed);
            if (!known) return std::unexpected(std::move(known.error()));
            if (*known) return std::move(**known);
            if (++losses <= repeats_max) continue;
        } else if (is_passing(state) && ++repeats <= repeats_max) {
            continue;
        }
        if (rows) return std::unexpected(Failure{.error = {Code::store_unavailable, "warning"}});
        return std::unexpected(std::move(rows.error()));
    }
}

Result<Epoch> Writer::join(NodeName const& node) {
    auto const connection = reconnect();
    if (!connection) return std::unexpected(connection.error().error);
    auto const shares = may_share(**connection, session_.address().schema);
    if (!shares) return std::unexpected(shares.error().error);
    if (!*shares)
        return fail(Code::wrong_state, "Another process uses the schema of the store alone.");
    auto made = register_node(**connection, catalogue_, node, options_.sole);
    if (!made) return std::unexpected(std::move(made.error().error));
    me_ = std::move(*made);
    slot_ = me_.slot;
    joined_ = me_.epoch;
    fenced_ = false;
    return joined_;
}

// A block that is lost with the connection stays unused.
Result<std::uint64_t> Writer::take_block() {
    Call call{sql(Write::take_block)};
    call.parameters.integer(catalogue_.lock);
    auto const rows = repeatable({&call, 1});
    if (!rows) return std::unexpected(rows.error());
    return static_cast<std::uint64_t>(rows->integer(0, 0));
}

Result<std::string> Writer::agree(std::string const& name, std::string const& proposed) {
    std::array calls{Call{sql(Write::propose)}, Call{sql(Write::agreed)}};
    calls[0].parameters.text(name).bytes(proposed);
    calls[1].parameters.text(name);
    auto const rows = repeatable(calls);
    if (!rows) return std::unexpected(rows.error());
    return std::string(rows->text(0, 0));
}

Result<bool> Writer::is_set(std::string const& name) {
    Call call{sql(Write::agreed)};
    call.parameters.text(name);
    auto const rows = repeatable({&call, 1});
    if (!rows) return std::unexpected(rows.error());
    return rows->size() > 0;
}

Result<std::vector<port::SharedValue>> Writer::values(std::string const& prefix) {
    Call call{sql(Write::values)};
    call.parameters.text(prefix);
    auto const rows = repeatable({&call, 1});
    if (!rows) return std::unexpected(rows.error());
    std::vector<port::SharedValue> out;
    for (int row = 0; row < rows->size(); ++row) {
        std::string const value(rows->text(row, 1));
        out.push_back({std::string(rows->text(row, 0)), value, value});
    }
    return out;
}

// Repeated after a lost answer it returns false, as the interface says.
Result<bool> Writer::exchange(port::SharedValue const& next) {
    Call call{sql(Write::exchange)};
    call.parameters.text(next.name).bytes(next.mark).bytes(next.value);
    auto const rows = repeatable({&call, 1});
    if (!rows) return std::unexpected(rows.error());
    return rows->integer(0, 0) == 1;
}

Result<void> Writer::drop_setting(std::string const& name) {
    Call call{sql(Write::drop_setting)};
    call.parameters.text(name);
    auto const done = repeatable({&call, 1});
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<void> Writer::announce_keys(Epoch node, std::string const& masters) {
    Call call{sql(Write::announce_keys)};
    call.parameters.integer(static_cast<std::int64_t>(node)).text(masters);
    auto const done = repeatable({&call, 1});
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<void> Writer::put_data_keys(std::span<port::DataKeyRow const> rows) {
    Call const call = data_keys_call(Write::put_data_keys, rows);
    auto const done = repeatable({&call, 1});
    if (!done) return std::unexpected(done.error());
    for (port::DataKeyRow const& row : rows) data_keys_.insert_or_assign(row.id, row);
    return {};
}

Result<bool> Writer::is_copy() {
    Call const call{sql(Write::is_copy)};
    auto const rows = repeatable({&call, 1});
    if (!rows) return std::unexpected(rows.error());
    return rows->integer(0, 0) != 0;
}

Result<void> Writer::settle() {
    Call const call{sql(Write::settle)};
    auto const done = repeatable({&call, 1});
    if (!done) return std::unexpected(done.error());
    return {};
}

namespace {

using Place = std::array<std::int64_t, 3>;

Place place_of(port::OutboxKey const& key) {
    return {signed_of(key.from.number()), signed_of(key.seq), key.n};
}

std::vector<port::OutboxKey> keys_of(Rows const& rows,
                                     std::map<Place, port::OutboxKey> const& by_place) {
    std::vector<port::OutboxKey> out;
    for (int row = 0; row < rows.size(); ++row)
        out.push_back(
            by_place.at({rows.integer(row, 0), rows.integer(row, 1), rows.integer(row, 2)}));
    return out;
}

}  // namespace

// After a lost answer the messages stay claimed: they are due again later.
Result<std::vector<port::OutboxKey>> Writer::claim(std::span<port::OutboxKey const> keys, Time now,
                                                   Time until) {
    std::map<Place, port::OutboxKey> by_place;
    for (auto const& key : keys) by_place.emplace(place_of(key), key);
    std::array<std::vector<std::int64_t>, 3> columns;
    for (auto const& [place, key] : by_place)
        for (std::size_t i = 0; i < place.size(); ++i) columns[i].push_back(place[i]);
    Call call{sql(Write::claim)};
    for (auto const& column : columns) call.parameters.integers(column);
    call.parameters.integer(to_ms(now)).integer(to_ms(until));
    auto const rows = repeatable({&call, 1});
    if (!rows) return std::unexpected(rows.error());
    return keys_of(*rows, by_place);
}

Result<std::vector<port::OutboxKey>> Writer::renew(std::span<port::OutboxClaim const> claims,
                                                   Time until) {
    std::array<std::vector<std::int64_t>, 5> columns;
    std::map<Place, port::OutboxKey> by_place;
    for (auto const& claim : claims) {
        Place const place = place_of(claim.key);
        by_place.emplace(place, claim.key);
        for (std::size_t i = 0; i < place.size(); ++i) columns[i].push_back(place[i]);
        columns[3].push_back(claim.attempt.attempts);
        columns[4].push_back(to_ms(claim.attempt.next_at));
    }
    Call call{sql(Write::renew)};
    for (auto const& column : columns) call.parameters.integers(column);
    call.parameters.integer(to_ms(until));
    auto const rows = repeatable({&call, 1});
    if (!rows) return std::unexpected(rows.error());
    return keys_of(*rows, by_place);
}

Result<Rows> Writer::repeatable(std::span<Call const> calls) {
    for (int repeats = 0;; ++repeats) {
        auto const connection = reconnect();
        if (!connection) return std::unexpected(connection.error().error);
        auto rows = (*connection)->run(calls, options_.call_wait);
        if (rows) return std::move(rows->back());
        bool const again = rows.error().lost || is_passing(rows.error().state);
        if (!again || repeats == repeats_max) return std::unexpected(rows.error().error);
    }
}

Result<std::int64_t> Writer::change(Call const& call) {
    auto const statuses = once(call);
    if (!statuses) return std::unexpected(statuses.error().error);
    if (statuses->size() != 1) return fail(Code::internal, "PostgreSQL: a call has no status");
    return statuses->front();
}

}  // namespace dormouse::store::postgres
