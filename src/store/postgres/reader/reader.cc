// Reads the rows of one session. reader_lists.cc has the lists.
#include "store/postgres/reader/reader.h"

#include "store/postgres/owner.h"
#include "store/postgres/reader/read_rows.h"
#include "store/postgres/schema/layout.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace dormouse::store::postgres {

using port::Frame;

Result<std::vector<Rows>> Reader::ask(std::span<Call const> calls) {
    for (bool again = !holds_view_;; again = false) {
        if (holds_view_ && session_.open() == nullptr)
            return fail(Code::store_unavailable, "The connection to PostgreSQL was lost.");
        auto const connection = session_.connection(call_wait_);
        if (!connection) return std::unexpected(connection.error().error);
        auto rows = (*connection)->run(calls, call_wait_);
        if (rows) return std::move(*rows);
        if (!again || !rows.error().lost) return std::unexpected(std::move(rows.error().error));
    }
}

Result<Rows> Reader::ask(Call const& call) {
    auto rows = ask(std::span(&call, 1));
    if (!rows) return std::unexpected(std::move(rows.error()));
    return std::move(rows->front());
}

Result<std::optional<std::vector<Rows>>> Reader::ask_of(SessionId session, std::vector<Call> rest) {
    Call known{sql(Read::session)};
    known.parameters.integer(number_of(session)).text(session.bare());
    rest.insert(rest.begin(), std::move(known));
    auto rows = ask(rest);
    if (!rows) return std::unexpected(std::move(rows.error()));
    if (rows->front().size() == 0) return std::nullopt;
    return std::move(*rows);
}

Result<std::uint64_t> Reader::number(Call const& call) {
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return rows->size() == 0 ? 0 : static_cast<std::uint64_t>(rows->integer(0, 0));
}

namespace {

// How many frames one query reads, because it reads the sizes of all of them first.
constexpr std::int64_t page_frames_max = 512;

// substring() takes 32 bits.
std::int64_t piece_bound(std::uint64_t value) {
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max() - 1;
    return static_cast<std::int64_t>(std::min(value, most));
}

Call of_session(Read name, SessionId session) {
    Call call{sql(name)};
    call.parameters.integer(number_of(session));
    return call;
}

Call of_pause(Read name, SessionId session, CallNo number, Generation generation) {
    auto call = of_session(name, session);
    call.parameters.integer(number).integer(generation);
    return call;
}

}  // namespace

Result<std::vector<port::NewestFrame>> Reader::newest(std::span<SessionId const> sessions) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> ids;
    for (auto const& session : sessions) {
        numbers.push_back(number_of(session));
        ids.push_back(session.bare());
    }
    Call call{sql(Read::newest)};
    call.parameters.integers(numbers).texts(ids);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) {
        return port::NewestFrame{static_cast<Seq>(rows->integer(row, 0)),
                                 port::Stamp{static_cast<std::uint64_t>(rows->integer(row, 1))}};
    });
}

Result<std::vector<Frame>> Reader::page(SessionId session, Seq from, std::size_t max_bytes) {
    constexpr std::size_t bytes_max = std::numeric_limits<std::int64_t>::max();
    auto left = std::clamp<std::size_t>(max_bytes, 1, bytes_max);
    std::vector<Frame> out;
    for (;;) {
        if (from >= seq_end) return out;
        auto call = of_session(Read::page, session);
        call.parameters.integer(static_cast<std::int64_t>(from));
        call.parameters.integer(static_cast<std::int64_t>(left)).integer(page_frames_max);
        auto const rows = ask_of(session, {std::move(call)});
        if (!rows) return std::unexpected(rows.error());
        if (!*rows) return out;
        auto const& found = (**rows)[1];
        auto frames = frames_of(session, found, {0, found.size(), 0});
        if (!frames) return std::unexpected(std::move(frames.error()));
        bool const whole = static_cast<std::int64_t>(frames->size()) < page_frames_max;
        // Only a cut journal begins with a later event.
        bool const cut = out.empty() && !frames->empty() && found.integer(0, 1) < 0;
        if (!frames->empty() && !cut && frames->front().first > std::max<Seq>(from, 1))
            return damaged(session.text() + ", event " + std::to_string(from) + " is missing");
        for (auto& frame : *frames) {
            from = frame.first + frame.count;
            left -= std::min(left, frame.bytes.size());
            out.push_back(std::move(frame));
        }
        if (whole || left == 0) return out;
    }
}

Result<std::vector<Seq>> Reader::lookup(SessionId session, std::span<std::string const> keys) {
    auto call = of_session(Read::lookup, session);
    call.parameters.byte_arrays(keys);
    auto const rows = ask_of(session, {std::move(call)});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows) return std::vector<Seq>(keys.size(), 0);
    auto const& found = (**rows)[1];
    return read_all(found, [&](int row) { return static_cast<Seq>(found.integer(row, 0)); });
}

Result<std::vector<std::int64_t>> Reader::day_sums(std::int64_t day,
                                                   std::span<std::string const> names) {
    Call call{sql(Read::day_sums)};
    call.parameters.integer(day).texts(names);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return rows->integer(row, 0); });
}

Result<std::int64_t> Reader::day_mark(std::int64_t day, std::string const& suffix) {
    Call call{sql(Read::day_mark)};
    call.parameters.integer(day).text(suffix).integer(port::mark_modulus);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return rows->integer(0, 0);
}

Result<std::vector<port::KeyRow>> Reader::key_rows(SessionId session) {
    auto const rows = ask_of(session, {of_session(Read::key_rows, session)});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows) return std::vector<port::KeyRow>();
    auto const& found = (**rows)[1];
    return read_all(found, [&](int row) {
        return port::KeyRow{std::string(found.text(row, 0)),
                            static_cast<Seq>(found.integer(row, 1))};
    });
}

Result<std::optional<port::PendingRow>> Reader::pending(SessionId session, CallNo call,
                                                        Generation generation) {
    auto const rows = ask_of(session, {of_pause(Read::pending, session, call, generation)});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows || (**rows)[1].size() == 0) return std::nullopt;
    return pending_row((**rows)[1], 0);
}

Result<std::vector<port::PendingRow>> Reader::pending_rows(SessionId session) {
    auto const rows = ask_of(session, {of_session(Read::pending_rows, session)});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows) return std::vector<port::PendingRow>();
    auto const& found = (**rows)[1];
    return read_all(found, [&](int row) { return pending_row(found, row); });
}

Result<std::optional<std::string>> Reader::artifact(SessionId session, Seq seq) {
    if (seq >= seq_end) return std::nullopt;
    auto call = of_session(Read::artifact, session);
    call.parameters.integer(static_cast<std::int64_t>(seq));
    auto const rows = ask_of(session, {std::move(call)});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows || (**rows)[1].size() == 0) return std::nullopt;
    auto const& found = (**rows)[1];
    std::string bytes(found.text(0, 1));
    auto const place = key_of(session.number(), seq);
    if (checksum(place, static_cast<std::int64_t>(bytes.size()), bytes) != found.integer(0, 0))
        return damaged("artifact of " + session.text() + ", event " + std::to_string(seq));
    return bytes;
}

Result<std::optional<std::string>> Reader::artifact_piece(SessionId session, Seq seq,
                                                          std::uint64_t offset, std::size_t count) {
    if (seq >= seq_end) return std::nullopt;
    auto call = of_session(Read::artifact_piece, session);
    call.parameters.integer(static_cast<std::int64_t>(seq));
    call.parameters.integer(piece_bound(offset)).integer(piece_bound(count));
    auto const rows = ask_of(session, {std::move(call)});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows || (**rows)[1].size() == 0) return std::nullopt;
    return std::string((**rows)[1].text(0, 0));
}

Result<std::optional<SessionId>> Reader::find_created(Bits128 const& create_key) {
    Call call{sql(Read::created)};
    call.parameters.bytes(
        std::string_view(reinterpret_cast<char const*>(create_key.data()), create_key.size()));
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    if (rows->size() == 0) return std::nullopt;
    auto const id = session_id(rows->text(0, 0));
    if (!id) return std::unexpected(id.error());
    return *id;
}

Result<std::uint64_t> Reader::journal_bytes(SessionId session) {
    return number(of_session(Read::journal_bytes, session));
}

Result<std::uint64_t> Reader::session_bytes(SessionId session) {
    return number(of_session(Read::session_bytes, session));
}

Result<std::optional<std::string>> Reader::project_of(SessionId session) {
    auto const rows = ask_of(session, {});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows) return std::nullopt;
    return std::string((**rows)[0].text(0, 1));
}

Result<std::optional<std::string>> Reader::secret(SessionId session, CallNo call,
                                                  Generation generation) {
    auto const rows = ask_of(session, {of_pause(Read::secret, session, call, generation)});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows || (**rows)[1].size() == 0) return std::nullopt;
    return std::string((**rows)[1].text(0, 0));
}

Result<std::vector<port::SentRow>> Reader::sent(SessionId session, CallNo call,
                                                Generation generation, std::string const& target) {
    auto asked = of_pause(Read::sent, session, call, generation);
    asked.parameters.text(target);
    auto const rows = ask(asked);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) {
        return port::SentRow{.call = call,
                             .generation = generation,
                             .target = target,
                             .reference = std::string(rows->text(row, 0)),
                             .body = std::string(rows->text(row, 1))};
    });
}

Result<void> Reader::hold_view() {
    auto const connection = session_.connection(call_wait_);
    if (!connection) return std::unexpected(connection.error().error);
    auto const begun =
        (*connection)
            ->script(
                "SET statement_timeout TO 0; SET enable_seqscan TO on; SET enable_hashjoin TO on;"
                "SET enable_mergejoin TO on;"
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT FROM meta",
                call_wait_);
    if (!begun) return std::unexpected(begun.error().error);
    call_wait_ = std::chrono::hours(1);
    holds_view_ = true;
    return {};
}

Result<void> Reader::ping(Epoch epoch) {
    std::array calls{Call{sql(Read::ping)}, Call{sql(Read::node)}};
    calls[1].parameters.integer(static_cast<std::int64_t>(epoch));
    auto const rows = ask(calls);
    if (!rows) return std::unexpected(rows.error());
    if ((*rows)[0].size() == 0) return damaged("the format is missing");
    if ((*rows)[0].integer(0, 1) != 0)
        return fail(Code::store_unavailable,
                    "The database takes no writes: it is a standby, or "
                    "default_transaction_read_only is on.");
    if ((*rows)[1].size() == 0)
        return fail(Code::wrong_state, "Another process has taken over the store.");
    if (!sole_ || owned_ == session_.made() || session_.open() == nullptr) return {};
    // Perhaps the lost connection still holds it: then the next time.
    auto const taken = retake_ownership(*session_.open(), session_.address().schema, Use::sole);
    if (taken && *taken) owned_ = session_.made();
    return {};
}

}  // namespace dormouse::store::postgres
