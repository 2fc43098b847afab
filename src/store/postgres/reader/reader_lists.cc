// Queries over all sessions.
#include "store/postgres/reader/read_rows.h"
#include "store/postgres/reader/reader.h"
#include "store/postgres/schema/layout.h"

#include <algorithm>
#include <limits>

namespace dormouse::store::postgres {
namespace {

using port::PendingFilter;
using port::PendingListed;
using port::PendingStatus;
using port::statuses_of;

constexpr auto number_max = std::numeric_limits<std::int64_t>::max();

std::int64_t bounded(std::uint64_t number) {
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(number, static_cast<std::uint64_t>(number_max)));
}

// Adds parameters 1 to 6, which all lists of pending rows share.
void add_filter(Parameters& to, std::int64_t number, std::optional<PendingId> const& before,
                PendingFilter const& filter) {
    to.integer(number);
    to.integer(before ? std::int64_t{before->call} : number_max);
    to.integer(before ? std::int64_t{before->generation} : number_max);
    to.text(filter.tool).integer(statuses_of(filter)).integer(filter.limit);
}

}  // namespace

Result<std::vector<port::SessionRow>> Reader::session_rows(Call const& call) {
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return session_row(*rows, row); });
}

Result<std::vector<port::SessionRow>> Reader::sessions(std::string const& project,
                                                       std::uint64_t before, std::uint32_t limit) {
    Call call{sql(Read::sessions)};
    call.parameters.text(project).integer(before == 0 ? number_max : bounded(before));
    call.parameters.integer(limit);
    return session_rows(call);
}

Result<std::vector<port::SessionRow>> Reader::all_sessions(std::uint64_t after,
                                                           std::uint32_t limit) {
    Call call{sql(Read::all_sessions)};
    call.parameters.integer(bounded(after)).integer(limit);
    return session_rows(call);
}

Result<std::vector<port::SessionRow>> Reader::aliases(std::string const& project,
                                                      std::string const& alias,
                                                      std::uint32_t limit) {
    Call call{sql(alias.empty() ? Read::aliases : Read::alias)};
    call.parameters.text(project).integer(limit);
    if (!alias.empty()) call.parameters.text(alias);
    return session_rows(call);
}

Result<std::vector<std::string>> Reader::projects(std::string const& after, std::uint32_t limit) {
    Call call{sql(Read::projects)};
    call.parameters.text(after).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return std::string(rows->text(row, 0)); });
}

Result<port::SessionCounts> Reader::session_counts(std::string const& project,
                                                   std::uint32_t limit) {
    Call call{sql(Read::counts)};
    call.parameters.text(project).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    auto const count = [&](int column) {
        return static_cast<std::uint32_t>(rows->integer(0, column));
    };
    return port::SessionCounts{.all = count(0),
                               .waiting = count(1),
                               .paused = count(2),
                               .error = count(3),
                               .completed = count(4),
                               .running = count(5),
                               .failed = count(6)};
}

Result<port::OpenPending> Reader::open_pending(std::uint32_t limit) {
    Call call{sql(Read::open_pending)};
    call.parameters.integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return port::OpenPending{static_cast<std::uint64_t>(rows->integer(0, 0)),
                             maybe_time(*rows, 0, 1)};
}

Result<std::uint64_t> Reader::count_waiting(std::string const& project, std::uint32_t limit) {
    Call call{sql(Read::count_waiting)};
    call.parameters.integer(limit).text(project);
    return number(call);
}

Result<std::vector<SessionId>> Reader::sessions_in_error(std::string const& project,
                                                         std::uint32_t limit) {
    Call call{sql(Read::sessions_in_error)};
    call.parameters.text(project).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return session_id(rows->text(row, 0)); });
}

Result<std::vector<SessionId>> Reader::waiting_sessions(std::optional<SessionId> after,
                                                        std::uint32_t calls) {
    Call call{sql(Read::waiting_sessions)};
    call.parameters.integer(after ? number_of(*after) : 0).integer(calls);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    auto found = read_all(*rows, [&](int row) { return session_id(rows->text(row, 0)); });
    if (found) found->erase(std::ranges::unique(*found).begin(), found->end());
    return found;
}

Result<std::vector<port::SessionHead>> Reader::heads(std::uint64_t after, std::uint32_t limit) {
    Call call{sql(Read::heads)};
    call.parameters.integer(bounded(after)).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) -> Result<port::SessionHead> {
        auto const id = session_id(rows->text(row, 0));
        if (!id) return std::unexpected(id.error());
        return port::SessionHead{*id, static_cast<Seq>(rows->integer(row, 1))};
    });
}

Result<std::vector<SessionId>> Reader::completed_until(Time at, std::uint32_t limit) {
    Call call{sql(Read::completed_until)};
    call.parameters.integer(to_ms(at)).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return session_id(rows->text(row, 0)); });
}

Result<std::uint64_t> Reader::largest_number() { return number(Call{sql(Read::largest_number)}); }

Result<std::vector<port::Due>> Reader::due(Time until, std::optional<port::Due> after,
                                           std::uint32_t limit) {
    Call call{sql(Read::due)};
    call.parameters.integer(after ? to_ms(after->at) : std::numeric_limits<std::int64_t>::min());
    call.parameters.integer(after ? number_of(after->session) : 0);
    call.parameters.integer(to_ms(until)).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) -> Result<port::Due> {
        auto const id = session_id(rows->text(row, 1));
        if (!id) return std::unexpected(id.error());
        return port::Due{.at = from_ms(rows->integer(row, 0)),
                         .session = *id,
                         .driver = static_cast<Epoch>(rows->integer(row, 2)),
                         .head = static_cast<Seq>(rows->integer(row, 3))};
    });
}

Result<std::optional<Time>> Reader::next_due() {
    auto const rows = ask(Call{sql(Read::next_due)});
    if (!rows) return std::unexpected(rows.error());
    return maybe_time(*rows, 0, 0);
}

Result<std::vector<PendingListed>> Reader::list_pending(PendingFilter const& filter) {
    if (filter.session) return list_of_session(filter);
    if (filter.project.names) return list_of_projects(filter, *filter.project.names);
    auto const names = projects({}, std::numeric_limits<std::uint32_t>::max());
    if (!names) return std::unexpected(names.error());
    return list_of_projects(filter, *names);
}

// Waiting calls have an index. Settled calls are found by walking the project's sessions.
Result<std::vector<PendingListed>> Reader::list_of_projects(PendingFilter const& filter,
                                                            std::vector<std::string> const& names) {
    bool const open = statuses_of(filter) == 1 << static_cast<int>(PendingStatus::waiting);
    bool const named = !filter.external_ref.empty();
    Call call{sql(named ? Read::pending_by_ref : open ? Read::pending_open : Read::pending_any)};
    auto& to = call.parameters;
    auto const number = filter.before ? number_of(filter.before->session) : number_max;
    add_filter(to, number, filter.before, filter);
    to.texts(names);
    if (named) to.text(filter.external_ref);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) -> Result<PendingListed> {
        auto const id = session_id(rows->text(row, 9));
        if (!id) return std::unexpected(id.error());
        return PendingListed{*id, pending_row(*rows, row)};
    });
}

Result<std::vector<PendingListed>> Reader::list_of_session(PendingFilter const& filter) {
    auto const& session = *filter.session;
    auto before = filter.before;
    if (before && before->session.number() < session.number()) return std::vector<PendingListed>();
    if (before && before->session.number() > session.number()) before.reset();
    Call call{sql(Read::pending_of_session)};
    add_filter(call.parameters, number_of(session), before, filter);
    auto const rows = ask_of(session, {std::move(call)});
    if (!rows) return std::unexpected(rows.error());
    if (!*rows) return std::vector<PendingListed>();
    auto const& known = (**rows)[0];
    if (!filter.project.has(known.text(0, 1)) || known.text(0, 5) == "deleted")
        return std::vector<PendingListed>();
    auto const& found = (**rows)[1];
    return read_all(found,
                    [&](int row) { return PendingListed{session, pending_row(found, row)}; });
}

}  // namespace dormouse::store::postgres
