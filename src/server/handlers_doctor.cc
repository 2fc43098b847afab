#include "server/handlers.h"

#include "json/json.h"
#include "runner/reading.h"
#include "runner/rows.h"
#include "server/metrics.h"
#include "wire/post_json.h"

#include <algorithm>

// GET /api/doctor: what does not go on by itself, and what to do about it.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

// What is overdue by more than this and moves nobody is stuck (P5).
constexpr Duration overdue{10'000};
constexpr std::size_t held_max = 1'000;
// Of so many waiting calls doctor looks whether what they need is there.
constexpr std::uint32_t waiting_max = 1'000;

void write_models(json::Writer& out, std::vector<Metrics::ModelLoad> const& models) {
    out.begin_array();
    for (Metrics::ModelLoad const& load : models) {
        out.begin_object().member("model", load.model);
        out.member("running", static_cast<std::uint64_t>(load.running))
            .member("waiting", static_cast<std::uint64_t>(load.waiting))
            .end_object();
    }
    out.end_array();
}

// What an open call of a session that sleeps needs to go on: a gate, or its own tool.
struct Need {
    SessionId session;
    std::string gate;
    std::string tool;
};

// A session that people should look at.
struct Finding {
    SessionId session;
    std::optional<PendingId> pending = {};
    std::string why = {};
    std::string next = {};
};

// Of sessions in which a call waits.
struct Waiting {
    std::vector<Need> needs = {};
    std::vector<Finding> in_doubt = {};
    std::vector<Finding> orphaned = {};  // whoever started it is gone and will never read it
    std::vector<Finding> bricked = {};   // it can not be read, and so never goes on
};

struct Report {
    std::vector<port::Due> due;
    std::optional<Time> next;
    Waiting waiting;
    std::vector<port::PostRow> mail;  // that only a person lets go on
};

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
            {state.id, asked, "nobody knows what the tool '" + call.spec.tool + "' did",
             call.question
                 ? "say it: dormouse approve " + asked.text() +
                       " --content '{\"action\": \"run_again\"}', or succeeded, or give_up"
                 : "look whether it was done, and say what it gave: dormouse result " +
                       asked.text() + " TEXT"});
    }
}

// The end of a parent ends its children soon; one that goes on long after was forgotten.
Result<void> find_orphan(port::Store& store, State const& state, Time now, Waiting& out) {
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

// Where reading may block.
Result<Waiting> look_at_waiting(port::Store& store, Time now) {
    auto sessions = store.waiting_sessions(waiting_max);
    if (!sessions) return std::unexpected(std::move(sessions.error()));
    Waiting out;
    for (SessionId const& session : *sessions) {
        auto const loaded = runner::read_session(store, session);
        if (!loaded && loaded.error().code == Code::store_unavailable)
            return std::unexpected(loaded.error());
        if (!loaded) {
            out.bricked.push_back({session,
                                   {},
                                   "it can not be read: " + loaded.error().detail,
                                   "restore a backup, or delete the session; dormouse doctor "
                                   "--check names what is damaged"});
            continue;
        }
        for (auto const& [no, call] : loaded->state.calls) {
            if (auto need = need_of(loaded->state, call)) out.needs.push_back(*std::move(need));
        }
        find_doubt(loaded->state, out);
        if (auto const done = find_orphan(store, loaded->state, now, out); !done)
            return std::unexpected(done.error());
    }
    return out;
}

void write_findings(json::Writer& out, std::string_view name,
                    std::vector<Finding> const& findings) {
    out.key(name).begin_array();
    for (Finding const& one : findings) {
        out.begin_object().member("sessionID", one.session.text());
        if (one.pending) out.member("pendingID", one.pending->text());
        out.member("why", one.why).member("next", one.next).end_object();
    }
    out.end_array();
}

void write_held(json::Writer& out, SessionId const& session, std::string_view why,
                std::string_view next) {
    out.begin_object().member("sessionID", session.text());
    out.member("why", why).member("next", next).end_object();
}

void write_held_mail(json::Writer& out, port::PostRow const& row) {
    auto const what = wire::read_post(row.body);
    auto const* const mail = what ? std::get_if<Mail>(&*what) : nullptr;
    if (!mail) return;
    std::string const id = text(mail->id);
    write_held(out, row.key.from, "mail " + id + " is held: its conversation has gone on for long",
               "release it: dormouse release " + id);
}

// Nothing when it is there: else it is named before somebody decides in vain.
void write_unmet(json::Writer& out, port::Catalogue const& catalogue, Need const& need) {
    if (!need.gate.empty() && !catalogue.has_gate(need.gate)) {
        write_held(
            out, need.session,
            "a call waits for a decision of the gate '" + need.gate + "', which is not configured",
            bring_gate_back);
    }
    if (!need.tool.empty() && !catalogue.tool_schema(need.tool)) {
        write_held(out, need.session,
                   "a call would go on in the tool '" + need.tool + "', which is not configured",
                   "put the tool back into the configuration and restart the server; or cancel "
                   "the call");
    }
}

void answer_doctor(Api& api, ExchangePtr const& x, Report const& found) {
    auto const& due = found.due;
    runner::Runner const& runner = api.services().runner;
    Time const now = runner.now();
    json::Writer out;
    std::vector<port::Due> stuck;
    for (port::Due const& one : due) {
        if (to_ms(one.at) != 0 && one.at + overdue < now) stuck.push_back(one);
    }
    Waiting const& waiting = found.waiting;
    bool const ok = stuck.empty() && waiting.orphaned.empty() && waiting.bricked.empty();
    out.begin_object().member("ok", ok).key("stuck").begin_array();
    for (port::Due const& one : stuck) {
        out.begin_object()
            .member("sessionID", one.session.text())
            .member("why", "a time has passed and nothing moved");
        out.member("next", "restart the server; if it stays, report it with `dormouse show " +
                               one.session.text() + "`");
        out.end_object();
    }
    out.end_array().key("held").begin_array();
    for (auto const& [session, gate] : runner.held(held_max)) {
        write_held(out, session,
                   "a call waits for the gate '" + gate + "', which is not configured",
                   bring_gate_back);
    }
    for (Need const& need : waiting.needs) write_unmet(out, api.services().catalogue, need);
    for (port::PostRow const& row : found.mail) write_held_mail(out, row);
    out.end_array();
    write_findings(out, "inDoubt", waiting.in_doubt);
    write_findings(out, "orphaned", waiting.orphaned);
    write_findings(out, "bricked", waiting.bricked);
    out.key("nodes").begin_array().begin_object().member(
        "resident", static_cast<std::uint64_t>(runner.resident()));
    out.member("clockHeld", runner.clock().holding()).end_object().end_array();
    out.key("queues").begin_object().member("owed",
                                            static_cast<std::uint64_t>(due.size() - stuck.size()));
    out.member("nextWakeAt", found.next ? std::optional(to_ms(*found.next)) : std::nullopt);
    write_models(out.key("models"), api.services().metrics.models());
    out.end_object();
    x->json(200, out.end_object().take());
}

}  // namespace

void get_doctor(Api& api, ExchangePtr const& x) {
    auto question = [now = api.services().runner.now()](port::Store& store) -> Result<Report> {
        auto due = store.due(now, std::nullopt, 10'000);
        if (!due) return std::unexpected(std::move(due.error()));
        auto next = store.next_due();
        if (!next) return std::unexpected(std::move(next.error()));
        auto waiting = look_at_waiting(store, now);
        if (!waiting) return std::unexpected(std::move(waiting.error()));
        auto mail = store.due_posts(std::string(runner::held_kind), Time::max(), held_max);
        if (!mail) return std::unexpected(std::move(mail.error()));
        return Report{std::move(*due), *next, std::move(*waiting), std::move(*mail)};
    };
    port::ask(api.services().journal, std::move(question), [&api, x](Result<Report> found) {
        if (!found) return x->fail(found.error());
        answer_doctor(api, x, *found);
    });
}

}  // namespace dormouse::server
