// Appends: which of them are written together, and what became of each.
#include "base/check.h"
#include "store/postgres/schema/layout.h"
#include "store/postgres/statements.h"
#include "store/postgres/writer/rows.h"
#include "store/postgres/writer/writer.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace dormouse::store::postgres {
namespace {

using port::Append;
using port::AppendResult;

enum class AppendStatus : std::int64_t { written, moved, alias_taken, created, key_taken };

// Returns the error of an append that does not depend on the stored rows.
std::optional<Error> fault_of(Append const& append) {
    auto const& frame = append.frame;
    CHECK(append.session.number() > 0);
    CHECK(frame.first == append.after + 1);
    CHECK(frame.count > 0 || append.drive != port::Drive::none);
    CHECK(!append.row || append.row->id == append.session);
    if (frame.first + frame.count > seq_end)
        return Error{Code::too_large, "the session's journal is full"};
    if (append.after == 0 && !append.row && !append.erase)
        return Error{Code::internal, "a session's first append needs its row"};
    std::set<std::string_view> keys;
    for (auto const& row : append.keys) {
        CHECK(row.key.size() <= key_size_max);
        if (!keys.insert(row.key).second)
            return Error{Code::conflict, "a key of " + append.session.text() + " is taken"};
    }
    return std::nullopt;
}

// Sorts appends into rounds, in the order of their sessions: no round has two with the same
// session, alias or create key.
class Rounds {
public:
    void add(Append const& append, std::size_t index) {
        std::size_t round = 0;
        auto const after = [&](auto& rounds, auto const& key) {
            auto const found = rounds.find(key);
            if (found != rounds.end()) round = std::max(round, found->second + 1);
        };
        std::pair<std::string, std::string> alias;
        if (append.claims_alias) alias = {append.row->project, append.row->alias};
        after(sessions_, append.session.number());
        if (append.claims_alias) after(aliases_, alias);
        if (append.create_key) after(keys_, *append.create_key);
        sessions_[append.session.number()] = round;
        if (append.claims_alias) aliases_[alias] = round;
        if (append.create_key) keys_[*append.create_key] = round;
        if (round == rounds_.size()) rounds_.emplace_back();
        rounds_[round].push_back(index);
    }
    [[nodiscard]] std::vector<std::vector<std::size_t>> const& all() const { return rounds_; }

private:
    std::map<std::uint64_t, std::size_t> sessions_;
    std::map<std::pair<std::string, std::string>, std::size_t> aliases_;
    std::map<Bits128, std::size_t> keys_;
    std::vector<std::vector<std::size_t>> rounds_;
};

AppendResult result_of(Append const& append, std::int64_t status) {
    switch (static_cast<AppendStatus>(status)) {
        case AppendStatus::written:
            return append.erase ? port::Stamp::none : port::stamp_of(append.session, append.frame);
        case AppendStatus::moved: return port::moved(append.session);
        case AppendStatus::alias_taken:
            return fail(Code::alias_taken,
                        "Another session holds the alias '" + append.row->alias + "'.");
        case AppendStatus::created:
            return fail(Code::conflict, "a session with this create key exists");
        case AppendStatus::key_taken:
            return fail(Code::conflict, "a key of " + append.session.text() + " is taken");
    }
    return fail(Code::internal, "PostgreSQL: an append has no status");
}

// The status of an append that restore_12() refused. It is an error, which undoes its deletions.
std::optional<std::int64_t> refused_status(std::string_view state) {
    constexpr std::string_view refused = "DM05";
    if (state.size() != refused.size() + 1 || !state.starts_with(refused)) return std::nullopt;
    return state.back() - '0';
}

// Returns true if one append of a batch may be the cause: a value, a constraint or a limit.
bool is_of_one(std::string_view state) {
    auto const kind = state.substr(0, 2);
    return kind == "21" || kind == "22" || kind == "23" || kind == "54";
}

}  // namespace

std::vector<AppendResult> Writer::commit(std::span<Append const> appends) {
    Results results(appends.size());
    std::vector<std::size_t> order(appends.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::pair(appends[i].session.number(), i); });
    Rounds rounds;
    std::vector<std::size_t> copies;
    for (std::size_t const i : order) {
        if (appends[i].epoch < joined_)  // decided before join()
            results[i] = port::moved(appends[i].session);
        else if (auto fault = fault_of(appends[i]))
            results[i] = std::unexpected(std::move(*fault));
        else if (appends[i].source)
            copies.push_back(i);
        else
            rounds.add(appends[i], i);
    }
    for (auto const& round : rounds.all()) {
        std::vector<std::size_t> others;
        for (std::size_t const i : round)
            appends[i].restores ? write_restored(appends, i, results) : others.push_back(i);
        if (!others.empty()) write_round(appends, others, results);
    }
    for (std::size_t const i : copies) write_copy(appends, i, results);
    for (std::size_t i = 0; i < appends.size(); ++i)
        if (results[i] && (appends[i].erase || appends[i].rewrite))
            unnamed_.push_back(number_of(appends[i].session));
    drop_aliases();
    return results;
}

// After an error the next commit tries again.
void Writer::drop_aliases() {
    if (unnamed_.empty()) return;
    std::array calls{Call{"SELECT set_config('lock_timeout', '1s', true)"},
                     Call{sql(Write::drop_aliases)}};
    calls[1].parameters.integers(unnamed_);
    auto const connection = reconnect();
    if (connection && (*connection)->run(calls, options_.call_wait)) unnamed_.clear();
}

// Alone in its transaction: it may wait for the row of the session from which it copies.
void Writer::write_copy(std::span<Append const> appends, std::size_t i, Results& results) {
    port::SourceFrame const& source = *appends[i].source;
    Call call{sql(Write::append_copy), encode(appends, {i})};
    call.parameters.integer(number_of(source.session)).text(source.session.bare());
    call.parameters.integer(signed_of(source.newest.head)).integer(stored(source.newest.stamp));
    take_statuses(appends, {i}, once(call), results);
}

void Writer::write_restored(std::span<Append const> appends, std::size_t i, Results& results) {
    Call call{sql(Write::append_restored), encode(appends, {i})};
    call.parameters.integer(number_of(appends[i].session)).text(appends[i].session.bare());
    take_statuses(appends, {i}, once(call), results);
}

void Writer::write_round(std::span<Append const> appends, std::vector<std::size_t> const& round,
                         Results& results) {
    Call const call{sql(Write::append), encode(appends, round)};
    take_statuses(appends, round, once(call), results);
}

void Writer::take_statuses(std::span<Append const> appends, std::vector<std::size_t> const& round,
                           Answer<Statuses> const& statuses, Results& results) {
    if (statuses && statuses->empty()) {
        for (std::size_t const i : round) {
            if (appends[i].restores)
                results[i] = std::unexpected(port::undelivered().error());
            else
                results[i] = std::unexpected(port::source_changed(appends[i].source.value()));
        }
        return;
    }
    if (statuses) {
        bool const stamps = statuses->size() == 2 * round.size();
        CHECK(stamps || statuses->size() == round.size());
        for (std::size_t i = 0; i < round.size(); ++i) {
            auto& result = results[round[i]];
            result = result_of(appends[round[i]], (*statuses)[i]);
            if (!result || appends[round[i]].frame.count > 0) continue;
            result = port::Stamp{static_cast<std::uint64_t>(statuses->at(round.size() + i))};
        }
        return;
    }
    auto const& failure = statuses.error();
    if (auto const status = refused_status(failure.state); status && round.size() == 1) {
        results[round[0]] = result_of(appends[round[0]], *status);
        return;
    }
    if (fenced_) {
        for (std::size_t const i : round) results[i] = port::fenced();
        return;
    }
    if (round.size() > 1 && is_of_one(failure.state)) {
        for (std::size_t const i : round) write_round(appends, {i}, results);
        return;
    }
    for (std::size_t const i : round) results[i] = std::unexpected(failure.error);
}

}  // namespace dormouse::store::postgres
