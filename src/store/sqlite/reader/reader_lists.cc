// Queries over all sessions, and the pending rows of one session.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"
#include "store/sqlite/schema/layout.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dormouse::store::sqlite {
namespace {

using port::PendingFilter;
using port::PendingListed;
using port::PendingRow;
using port::PendingStatus;
using port::statuses_of;

constexpr auto number_max = std::numeric_limits<std::int64_t>::max();

// Binds parameters 1 to 6, which all lists of pending rows share.
void bind_filter(Query& query, std::int64_t number, std::optional<PendingId> const& before,
                 PendingFilter const& filter) {
    query.bind(number);
    query.bind(before ? std::int64_t{before->call} : number_max);
    query.bind(before ? std::int64_t{before->generation} : number_max);
    query.bind(filter.tool).bind(statuses_of(filter)).bind(std::int64_t{filter.limit});
}

}  // namespace

Result<std::vector<port::SessionRow>> Reader::session_rows(Query& query) const {
    return read_all<port::SessionRow>(query, [this](Query const& row) { return session_row(row); });
}

Result<std::vector<port::SessionRow>> Reader::sessions(std::string const& project,
                                                       std::uint64_t before, std::uint32_t limit) {
    auto rows = query(Read::sessions);
    rows.bind(project).bind(before == 0 ? number_max : static_cast<std::int64_t>(before));
    rows.bind(std::int64_t{limit});
    return session_rows(rows);
}

Result<std::vector<port::SessionRow>> Reader::all_sessions(std::uint64_t after,
                                                           std::uint32_t limit) {
    auto rows = query(Read::all_sessions);
    rows.bind(static_cast<std::int64_t>(after)).bind(std::int64_t{limit});
    return session_rows(rows);
}

Result<std::vector<port::SessionRow>> Reader::aliases(std::string const& project,
                                                      std::string const& alias,
                                                      std::uint32_t limit) {
    auto rows = query(alias.empty() ? Read::aliases : Read::alias);
    rows.bind(project).bind(std::int64_t{limit});
    if (!alias.empty()) rows.bind(alias);
    return session_rows(rows);
}

Result<std::uint64_t> Reader::session_bytes(SessionId session) {
    return bytes_of(session, Read::session_bytes);
}

Result<std::uint64_t> Reader::journal_bytes(SessionId session) {
    return bytes_of(session, Read::journal_bytes);
}

Result<std::uint64_t> Reader::bytes_of(SessionId session, Read of) {
    if (session.number() >= number_end) return 0;
    auto one = query(of);
    one.bind(static_cast<std::int64_t>(session.number()));
    auto const there = one.next();
    if (!there) return std::unexpected(there.error());
    return *there ? static_cast<std::uint64_t>(one.integer(0)) : 0;
}

Result<std::vector<port::SessionHead>> Reader::heads(std::uint64_t after, std::uint32_t limit) {
    auto rows = query(Read::heads);
    rows.bind(static_cast<std::int64_t>(std::min(after, number_end))).bind(std::int64_t{limit});
    return read_all<port::SessionHead>(rows, [this](Query const& row) -> Result<port::SessionHead> {
        auto const id = session_id(row.text(0));
        if (!id) return std::unexpected(id.error());
        return port::SessionHead{*id, static_cast<Seq>(row.integer(1))};
    });
}

Result<std::vector<SessionId>> Reader::completed_until(Time at, std::uint32_t limit) {
    auto rows = query(Read::completed_until);
    rows.bind(to_ms(at)).bind(std::int64_t{limit});
    return read_all<SessionId>(rows, [this](Query const& row) { return session_id(row.text(0)); });
}

Result<std::uint64_t> Reader::largest_number() {
    auto const largest = number(Read::largest_number);
    if (!largest) return largest;
    auto const made = number(Read::largest_made);
    if (!made) return made;
    auto const forgotten = number(Read::forgotten);
    if (!forgotten) return forgotten;
    return std::max({*largest, *made, *forgotten});
}

Result<void> Reader::add_due(Query& query, std::vector<port::Due>& found) const {
    for (;;) {
        auto const row = query.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
        auto const id = session_id(query.text(1));
        if (!id) return std::unexpected(id.error());
        found.push_back({from_ms(query.integer(0)), *id});
    }
}

Result<std::vector<port::Due>> Reader::due(Time until, std::optional<port::Due> after,
                                           std::uint32_t limit) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<port::Due> found;
    if (after && after->at > until) return found;
    if (after) {
        auto same = query(Read::due_at);
        same.bind(to_ms(after->at)).bind(static_cast<std::int64_t>(after->session.number()));
        same.bind(std::int64_t{limit});
        if (auto const added = add_due(same, found); !added) return std::unexpected(added.error());
    }
    auto later = query(Read::due_after);
    later.bind(after ? to_ms(after->at) : std::numeric_limits<std::int64_t>::min())
        .bind(to_ms(until));
    later.bind(static_cast<std::int64_t>(limit - found.size()));
    if (auto const added = add_due(later, found); !added) return std::unexpected(added.error());
    return found;
}

Result<std::optional<Time>> Reader::next_due() {
    auto next = query(Read::next_due);
    if (auto const row = next.next(); !row) return std::unexpected(row.error());
    auto const at = next.maybe_integer(0);
    if (!at) return std::nullopt;
    return from_ms(*at);
}

Result<port::OpenPending> Reader::open_pending(std::uint32_t limit) {
    auto rows = query(Read::pending_count);
    rows.bind(std::int64_t{limit});
    port::OpenPending found;
    for (;;) {
        auto const row = rows.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return found;
        Time const created = from_ms(rows.integer(0));
        ++found.count;
        if (!found.oldest || created < *found.oldest) found.oldest = created;
    }
}

Result<std::uint64_t> Reader::count_waiting(std::string const& project, std::uint32_t limit) {
    auto rows = query(Read::pending_count_of);
    rows.bind(std::int64_t{limit}).bind(project);
    for (std::uint64_t count = 0;; ++count) {
        auto const row = rows.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return count;
    }
}

Result<std::vector<SessionId>> Reader::waiting_sessions(std::optional<SessionId> after,
                                                        std::uint32_t calls) {
    auto rows = query(Read::pending_sessions);
    auto const number = after ? static_cast<std::int64_t>(after->number()) : 0;
    rows.bind(number).bind(std::int64_t{calls});
    std::vector<SessionId> found;
    for (;;) {
        auto const row = rows.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return found;
        auto const id = session_id(rows.text(0));
        if (!id) return std::unexpected(id.error());
        if (found.empty() || found.back() != *id) found.push_back(*id);
    }
}

Result<std::vector<SessionId>> Reader::sessions_in_error(std::string const& project,
                                                         std::uint32_t limit) {
    auto rows = query(Read::sessions_in_error);
    rows.bind(project).bind(std::int64_t{limit});
    return read_all<SessionId>(rows, [this](Query const& row) { return session_id(row.text(0)); });
}

Result<std::vector<PendingListed>> Reader::list_pending(PendingFilter const& filter) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    if (filter.session) return list_of_session(filter);
    if (auto const* const one = filter.project.single()) return list_of_project(filter, *one);
    if (filter.project.names) return list_of_projects(filter, *filter.project.names);
    auto const names = projects({}, std::numeric_limits<std::uint32_t>::max());
    if (!names) return std::unexpected(names.error());
    return list_of_projects(filter, *names);
}

// Merges the lists: one row of each project is at hand, and the one that is taken is replaced. So
// it reads as many rows as there are projects and rows in the answer.
Result<std::vector<PendingListed>> Reader::list_of_projects(PendingFilter const& filter,
                                                            std::vector<std::string> const& names) {
    using Place = std::tuple<std::uint64_t, CallNo, Generation>;
    struct Head {
        PendingListed row;
        std::string const* project;
    };
    std::map<Place, Head, std::greater<>> heads;
    auto one = filter;
    one.limit = 1;
    auto const read = [&](std::string const& project) -> Result<void> {
        auto rows = list_of_project(one, project);
        if (!rows) return std::unexpected(std::move(rows.error()));
        for (PendingListed& row : *rows) {
            Place const place{row.session.number(), row.row.call, row.row.generation};
            heads.emplace(place, Head{std::move(row), &project});
        }
        return {};
    };
    for (std::string const& name : names) {
        if (auto const done = read(name); !done) return std::unexpected(done.error());
    }
    std::vector<PendingListed> found;
    while (found.size() < filter.limit && !heads.empty()) {
        Head head = std::move(heads.extract(heads.begin()).mapped());
        one.before = PendingId{head.row.session, head.row.row.call, head.row.row.generation, {}};
        found.push_back(std::move(head.row));
        if (auto const done = read(*head.project); !done) return std::unexpected(done.error());
    }
    return found;
}

Result<std::vector<std::string>> Reader::projects(std::string const& after, std::uint32_t limit) {
    std::vector<std::string> found;
    std::string last = after;
    while (found.size() < limit) {
        auto next = query(Read::next_project);
        next.bind(last);
        auto const row = next.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        last = next.text(0);
        found.push_back(last);
    }
    return found;
}

Result<std::uint32_t> Reader::rows_of(Query& query) {
    for (std::uint32_t count = 0;; ++count) {
        auto const row = query.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return count;
    }
}

Result<std::uint32_t> Reader::waiting_in(std::string const& project, std::uint32_t limit) {
    std::int64_t last = 0;
    for (std::uint32_t count = 0;; ++count) {
        if (count == limit) return count;
        auto next = query(Read::next_waiting);
        next.bind(project).bind(last);
        auto const row = next.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return count;
        last = next.integer(0);
    }
}

Result<port::SessionCounts> Reader::session_counts(std::string const& project,
                                                   std::uint32_t limit) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    port::SessionCounts out;
    auto const take = [](Result<std::uint32_t> const& from, std::uint32_t& to) -> Result<void> {
        if (!from) return std::unexpected(from.error());
        to = *from;
        return {};
    };
    auto all = query(Read::count_sessions);
    all.bind(project).bind(std::int64_t{limit});
    if (auto const done = take(rows_of(all), out.all); !done) return std::unexpected(done.error());
    if (auto const done = take(waiting_in(project, limit), out.waiting); !done)
        return std::unexpected(done.error());
    for (auto const& [status, to] :
         {std::pair("paused", &out.paused), std::pair("error", &out.error),
          std::pair("completed", &out.completed)}) {
        auto some = query(Read::count_by_status);
        some.bind(project).bind(std::int64_t{limit}).bind(std::string_view(status));
        if (auto const done = take(rows_of(some), *to); !done) return std::unexpected(done.error());
    }
    for (auto const& [turn, to] : {std::pair(port::TurnState::running, &out.running),
                                   std::pair(port::TurnState::failed, &out.failed)}) {
        auto some = query(Read::count_by_turn);
        some.bind(project).bind(std::int64_t{limit}).bind(static_cast<std::int64_t>(turn));
        if (auto const done = take(rows_of(some), *to); !done) return std::unexpected(done.error());
    }
    auto works = query(Read::count_at_work);
    works.bind(project).bind(std::int64_t{limit});
    std::uint32_t at_work = 0;
    if (auto const done = take(rows_of(works), at_work); !done)
        return std::unexpected(done.error());
    out.running = std::min(out.running + at_work, limit);
    return out;
}

// Waiting calls have an index. Settled calls are found by walking the project's sessions.
Result<std::vector<PendingListed>> Reader::list_of_project(PendingFilter const& filter,
                                                           std::string const& project) {
    auto const open = statuses_of(filter) == 1 << static_cast<int>(PendingStatus::waiting);
    bool const named = !filter.external_ref.empty();
    auto rows = query(named ? Read::pending_by_ref : open ? Read::pending_open : Read::pending_any);
    auto const number =
        filter.before ? static_cast<std::int64_t>(filter.before->session.number()) : number_max;
    bind_filter(rows, number, filter.before, filter);
    rows.bind(project);
    if (named) rows.bind(filter.external_ref);
    std::vector<PendingListed> found;
    for (;;) {
        auto const row = rows.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return found;
        auto const id = session_id(rows.text(9));
        if (!id) return std::unexpected(id.error());
        found.push_back({*id, port::read_pending(rows)});
    }
}

Result<std::vector<PendingListed>> Reader::list_of_session(PendingFilter const& filter) {
    std::vector<PendingListed> found;
    auto const& session = *filter.session;
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known || !filter.project.has((*known)->project) || (*known)->status == "deleted")
        return found;
    auto before = filter.before;
    if (before && before->session.number() < session.number()) return found;
    if (before && before->session.number() > session.number()) before.reset();
    auto rows = query(Read::pending_of_session);
    bind_filter(rows, static_cast<std::int64_t>(session.number()), before, filter);
    for (;;) {
        auto const row = rows.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return found;
        found.push_back({session, port::read_pending(rows)});
    }
}

Result<std::optional<PendingRow>> Reader::pending(SessionId session, CallNo call,
                                                  Generation generation) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known) return std::nullopt;
    auto one = query(Read::pending);
    one.bind(static_cast<std::int64_t>(session.number()))
        .bind(std::int64_t{call})
        .bind(std::int64_t{generation});
    auto const row = one.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    return port::read_pending(one);
}

Result<std::vector<PendingRow>> Reader::pending_rows(SessionId session) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known) return std::vector<PendingRow>();
    auto rows = query(Read::pending_rows);
    rows.bind(static_cast<std::int64_t>(session.number()));
    return read_all<PendingRow>(rows, [](Query& row) { return port::read_pending(row); });
}

}  // namespace dormouse::store::sqlite
