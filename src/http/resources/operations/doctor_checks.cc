#include "http/resources/operations/doctor_checks.h"

#include "http/resources/operations/doctor/concerns.h"
#include "runner/lane/rows.h"
#include "runner/read/reading.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t projects_max = 200;

std::optional<Need> need_of(State const& state, Call const& call) {
    if (call.phase != CallPhase::waiting || !call.pause) return std::nullopt;
    if (call.pause->by_gate && call.gates_passed < call.spec.terms.gates.size())
        return Need{state.id, gate_of(call), {}};
    if (call.pause->terms.continuation != Continuation::reentry) return std::nullopt;
    return Need{state.id, {}, call.spec.tool};
}

void find_doubt(State const& state, Waiting& out) {
    for (auto const& [no, call] : state.calls) {
        if (!call.in_doubt || call.phase == CallPhase::running) continue;
        PendingId const asked = call.question ? call.question->pending : call.pending;
        out.in_doubt.push_back(
            {state.id, asked, "it is unknown what the tool '" + call.spec.tool + "' did",
             call.question
                 ? "say it: dormouse approve " + asked.text() +
                       " --content '{\"action\": \"run_again\"}', or succeeded, or give_up"
                 : "check whether it was done, and submit its result: dormouse result " +
                       asked.text() + " TEXT"});
    }
}

// When a parent ends, its children end soon; one that still runs long after was missed.
Result<void> find_orphan(port::JournalStore& store, State const& state, Time now, Waiting& out) {
    if (!state.parent) return {};
    auto const parent = store.load(state.parent->session);
    if (!parent)
        return parent.error().code == Code::internal ? Result<void>()
                                                     : std::unexpected(parent.error());
    auto const& row = parent->row;
    bool const there = row && row->status != "deleted" && row->status != "completed";
    if (there || (row && row->updated + overdue > now)) return {};
    out.orphaned.push_back({state.id,
                            {},
                            "its parent " + state.parent->session.text() + " has ended",
                            "end it: dormouse end " + state.id.text()});
    return {};
}

Finding unreadable(SessionId session, Error const& error) {
    return {session,
            {},
            "it cannot be read: " + error.detail,
            "restore a backup, or delete the session; dormouse doctor --check names what is "
            "damaged"};
}

// Returns true if the error is temporary and says nothing about the session.
bool is_passing(Error const& error) {
    return error.code == Code::store_unavailable || error.code == Code::overloaded;
}

bool waits(std::vector<port::PendingRow> const& calls) {
    return std::ranges::find(calls, port::PendingStatus::waiting, &port::PendingRow::status) !=
           calls.end();
}

// The largest number that a store takes.
SessionId last_session() { return SessionId::make((std::uint64_t{1} << 39) - 1, {}); }

// Drops unreadable sessions: check_effects() reports them, and they must not count twice.
Result<void> drop_unreadable(port::JournalStore& store, Time now, std::vector<port::Due>& due) {
    std::size_t read = 0;
    std::optional<Error> failed;
    std::erase_if(due, [&](port::Due const& one) {
        if (failed || one.at + overdue >= now || ++read > Findings::shown_max) return false;
        auto const loaded = runner::read_session(store, one.session);
        bool const busy = !loaded && is_passing(loaded.error());
        if (busy) failed = loaded.error();
        return !loaded && !busy;
    });
    if (failed) return std::unexpected(*failed);
    return {};
}

}  // namespace

Result<AtWork> check_effects(port::Store& store, std::optional<port::Due> const& after,
                             std::uint32_t times, Time now) {
    auto const due = store.due(Time::max(), after, times);
    if (!due) return std::unexpected(due.error());
    AtWork out;
    Waiting found;
    for (port::Due const& one : *due) {
        auto const calls = store.pending_rows(one.session);
        if (!calls) return std::unexpected(calls.error());
        out.last = one;
        if (waits(*calls)) continue;
        ++out.read;
        auto const loaded = runner::read_session(store, one.session);
        if (!loaded && is_passing(loaded.error())) return std::unexpected(loaded.error());
        if (!loaded) {
            out.unreadable.push_back(unreadable(one.session, loaded.error()));
        } else if (auto const done = find_orphan(store, loaded->state, now, found); !done) {
            return std::unexpected(done.error());
        } else if (!loaded->state.node.empty()) {
            out.placed.push_back({one.session, loaded->state.node});
        }
    }
    out.orphaned = std::move(found.orphaned);
    return out;
}

Result<Waiting> check_waiting(port::Store& store, std::optional<SessionId> const& after,
                              std::uint32_t calls, Time now) {
    auto sessions = store.waiting_sessions(after, calls);
    if (!sessions) return std::unexpected(std::move(sessions.error()));
    Waiting out;
    for (SessionId const& session : *sessions) {
        auto const loaded = runner::read_session(store, session);
        if (!loaded && is_passing(loaded.error())) return std::unexpected(loaded.error());
        if (!loaded) {
            out.unreadable.push_back(unreadable(session, loaded.error()));
            continue;
        }
        for (auto const& [no, call] : loaded->state.calls) {
            if (auto need = need_of(loaded->state, call)) out.needs.push_back(*std::move(need));
        }
        find_doubt(loaded->state, out);
        if (!loaded->state.node.empty()) out.placed.push_back({session, loaded->state.node});
        if (auto const done = find_orphan(store, loaded->state, now, out); !done)
            return std::unexpected(done.error());
    }
    out.sessions = *std::move(sessions);
    return out;
}

Result<Overdue> check_times(port::Store& store, Places const& places, Time now) {
    auto at_work = store.due(from_ms(0), std::nullopt, counted_max);
    if (!at_work) return std::unexpected(at_work.error());
    auto due = store.due(now, port::Due{from_ms(0), last_session()}, overdue_max);
    if (!due) return std::unexpected(std::move(due.error()));
    auto const waiting = store.open_pending(counted_max);
    if (!waiting) return std::unexpected(waiting.error());
    if (auto done = drop_unreadable(store, now, *due); !done)
        return std::unexpected(std::move(done.error()));
    auto next = store.next_due();
    if (!next) return std::unexpected(std::move(next.error()));
    auto mail = store.due_messages(std::string(runner::quarantined_kind), Time::max(), parked_max);
    if (!mail) return std::unexpected(std::move(mail.error()));
    auto given_up = store.count_given_up(now + Duration(1), parked_max);
    if (!given_up) return std::unexpected(std::move(given_up.error()));
    Overdue out{at_work->size(),
                std::move(*due),
                *waiting,
                *next,
                std::move(*mail),
                *given_up,
                Metrics::disk_of(places.directory),
                last_backup(places.directory)};
    std::erase_if(*at_work, [](port::Due const& one) { return one.driver == 0; });
    out.driven = std::move(*at_work);
    if (places.removed) {
        auto const remain = places.removed->removed_contents_remain();
        if (!remain) return std::unexpected(remain.error());
        out.removed_remain = *remain;
    }
    if (!places.database) return out;
    auto status = places.database->database_status();
    if (!status) return std::unexpected(std::move(status.error()));
    out.database = *std::move(status);
    return out;
}

Result<ByProject> check_projects(port::ListStore& store) {
    auto const projects = store.projects({}, projects_max + 1);
    if (!projects) return std::unexpected(projects.error());
    ByProject out;
    out.errors_cut = out.newest_cut = projects->size() > projects_max;
    for (std::string const& project : *projects) {
        auto const errors_left = errors_max - static_cast<std::uint32_t>(out.in_error.size());
        auto in_error = store.sessions_in_error(project, errors_left);
        if (!in_error) return std::unexpected(in_error.error());
        std::ranges::move(*in_error, std::back_inserter(out.in_error));
        auto const rows_left = newest_max - static_cast<std::uint32_t>(out.newest.size());
        auto newest = store.sessions(project, 0, rows_left);
        if (!newest) return std::unexpected(newest.error());
        std::ranges::move(*newest, std::back_inserter(out.newest));
    }
    out.errors_cut = out.errors_cut || out.in_error.size() == errors_max;
    out.newest_cut = out.newest_cut || out.newest.size() == newest_max;
    return out;
}

}  // namespace dormouse::http
