#include "http/resources/operations/handlers.h"

#include "http/resources/operations/metrics.h"
#include "json/json.h"
#include "runner/reading.h"
#include "runner/rows.h"
#include "wire/post_json.h"

#include <algorithm>
#include <charconv>

// GET /api/doctor: what does not go on by itself, and what to do about it. Sessions in which a call
// waits, and then the others that will owe something, are read a few at a time, so that others have
// their turn in between. Those that only rest are not read: nothing is lost before they are asked.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

// What is overdue by more than this and moves nobody is stuck (P5).
constexpr Duration overdue{10'000};
constexpr std::size_t held_max = 1'000;
constexpr std::uint32_t due_max = 100'000;
constexpr std::uint32_t step = 64;          // so many calls, then times, are looked at in one go
constexpr std::uint64_t most = 100'000;     // and so many by one request
constexpr std::uint32_t page_rows = 2'000;  // of sessions, in one go
constexpr std::uint32_t pages_max = 50;
constexpr std::size_t shown_max = 200;  // of each kind; all are counted

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
    std::vector<SessionId> sessions = {};  // that were looked at
    std::vector<Need> needs = {};
    std::vector<Finding> in_doubt = {};
    std::vector<Finding> orphaned = {};  // whoever started it is gone and will never read it
    std::vector<Finding> bricked = {};   // it cannot be read, and so never goes on
};

// The first ones are kept, all are counted.
struct Findings {
    std::vector<Finding> shown = {};
    std::uint64_t count = 0;

    void add(Finding one) {
        ++count;
        if (shown.size() < shown_max) shown.push_back(std::move(one));
    }
};

struct Doctor {
    Api& api;
    ExchangePtr x;
    std::uint64_t left = 0;  // so many waiting calls and times may still be looked at
    std::optional<SessionId> after = {};
    bool by_time = false;  // all that wait were looked at; now those that owe
    std::optional<port::Due> after_time = {};
    std::uint64_t looked_at = 0;
    Findings stuck = {};
    Findings held = {};
    Findings in_doubt = {};
    Findings orphaned = {};
    Findings bricked = {};
    Findings unasked = {};
    std::uint64_t owed = 0;
    std::optional<Time> next_wake = {};
};
using DoctorPtr = std::shared_ptr<Doctor>;

// What is not found through the calls that wait.
struct Overdue {
    std::vector<port::Due> due;
    std::optional<Time> next;
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

constexpr std::string_view by_time_prefix = "owed_";

// Where the next request goes on: behind a session in which a call waits, or behind a time.
std::string cursor_of(Doctor const& d) {
    if (!d.by_time) return d.after->text();
    if (!d.after_time) return std::string(by_time_prefix);
    return std::string(by_time_prefix) + std::to_string(to_ms(d.after_time->at)) + "_" +
           d.after_time->session.text();
}

// False: it is none of ours.
bool read_cursor(std::string_view text, Doctor& d) {
    if (!text.starts_with(by_time_prefix)) {
        d.after = SessionId::parse(text);
        return d.after.has_value();
    }
    d.by_time = true;
    text.remove_prefix(by_time_prefix.size());
    if (text.empty()) return true;
    auto const end = std::min(text.find('_'), text.size());
    std::int64_t ms = 0;
    auto const [stop, error] = std::from_chars(text.data(), text.data() + end, ms);
    auto const session = SessionId::parse(text.substr(std::min(end + 1, text.size())));
    if (error != std::errc() || stop != text.data() + end || !session) return false;
    d.after_time = port::Due{from_ms(ms), *session};
    return true;
}

Finding bricked(SessionId session, Error const& error) {
    return {session,
            {},
            "it cannot be read: " + error.detail,
            "restore a backup, or delete the session; dormouse doctor --check names what is "
            "damaged"};
}

// It says nothing of the session.
bool is_passing(Error const& error) {
    return error.code == Code::store_unavailable || error.code == Code::overloaded;
}

// Of sessions that will owe something, also in time to come.
struct Owing {
    std::optional<port::Due> last = {};  // of those that were looked at; nullopt: there were none
    std::uint64_t read = 0;
    std::vector<Finding> bricked = {};
    std::vector<Finding> orphaned = {};
};

bool waits(std::vector<port::PendingRow> const& calls) {
    return std::ranges::find(calls, port::PendingStatus::waiting, &port::PendingRow::status) !=
           calls.end();
}

// Where reading may block. Those in which a call waits have been read already.
Result<Owing> look_at_owing(port::JournalStore& store, std::optional<port::Due> const& after,
                            std::uint32_t times, Time now) {
    auto const due = store.due(Time::max(), after, times);
    if (!due) return std::unexpected(due.error());
    Owing out;
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
            out.bricked.push_back(bricked(one.session, loaded.error()));
        } else if (auto const done = find_orphan(store, loaded->state, now, found); !done) {
            return std::unexpected(done.error());
        }
    }
    out.orphaned = std::move(found.orphaned);
    return out;
}

// Where reading may block.
Result<Waiting> look_at_waiting(port::Store& store, std::optional<SessionId> const& after,
                                std::uint32_t calls, Time now) {
    auto sessions = store.waiting_sessions(after, calls);
    if (!sessions) return std::unexpected(std::move(sessions.error()));
    Waiting out;
    for (SessionId const& session : *sessions) {
        auto const loaded = runner::read_session(store, session);
        if (!loaded && is_passing(loaded.error())) return std::unexpected(loaded.error());
        if (!loaded) {
            out.bricked.push_back(bricked(session, loaded.error()));
            continue;
        }
        for (auto const& [no, call] : loaded->state.calls) {
            if (auto need = need_of(loaded->state, call)) out.needs.push_back(*std::move(need));
        }
        find_doubt(loaded->state, out);
        if (auto const done = find_orphan(store, loaded->state, now, out); !done)
            return std::unexpected(done.error());
    }
    out.sessions = *std::move(sessions);
    return out;
}

// One that cannot be read is found by the look at those that owe; it is no second finding.
Result<void> drop_bricked(port::JournalStore& store, Time now, std::vector<port::Due>& due) {
    std::size_t read = 0;
    std::optional<Error> failed;
    std::erase_if(due, [&](port::Due const& one) {
        bool const stuck = to_ms(one.at) != 0 && one.at + overdue < now;
        if (failed || !stuck || ++read > shown_max) return false;
        auto const loaded = runner::read_session(store, one.session);
        bool const busy = !loaded && is_passing(loaded.error());
        if (busy) failed = loaded.error();
        return !loaded && !busy;
    });
    if (failed) return std::unexpected(*failed);
    return {};
}

Result<Overdue> look_at_times(port::Store& store, Time now) {
    auto due = store.due(now, std::nullopt, due_max);
    if (!due) return std::unexpected(std::move(due.error()));
    if (auto done = drop_bricked(store, now, *due); !done)
        return std::unexpected(std::move(done.error()));
    auto next = store.next_due();
    if (!next) return std::unexpected(std::move(next.error()));
    auto mail = store.due_posts(std::string(runner::held_kind), Time::max(), held_max);
    if (!mail) return std::unexpected(std::move(mail.error()));
    return Overdue{std::move(*due), *next, std::move(*mail)};
}

void add_held_mail(Findings& held, port::PostRow const& row) {
    auto const what = wire::read_post(row.body);
    auto const* const mail = what ? std::get_if<Mail>(&*what) : nullptr;
    if (!mail) return;
    std::string const id = text(mail->id);
    held.add({row.key.from,
              {},
              "mail " + id + " is held: its conversation has gone on for long",
              "release it: dormouse release " + id});
}

// Nothing when it is there: else it is named before somebody decides in vain.
void add_unmet(Findings& held, port::Catalogue const& catalogue, Need const& need) {
    if (!need.gate.empty() && !catalogue.has_gate(need.gate)) {
        held.add(
            {need.session,
             {},
             "a call waits for a decision of the gate '" + need.gate + "', which is not configured",
             std::string(bring_gate_back)});
    }
    if (!need.tool.empty() && !catalogue.tool_schema(need.tool)) {
        held.add({need.session,
                  {},
                  "a call would go on in the tool '" + need.tool + "', which is not configured",
                  "put the tool back into the configuration and restart the server; or cancel "
                  "the call"});
    }
}

void add_overdue(Doctor& d, Overdue const& found) {
    runner::Runner const& runner = d.api.services().runner;
    Time const now = runner.now();
    for (port::Due const& one : found.due) {
        if (to_ms(one.at) == 0 || one.at + overdue >= now) {
            ++d.owed;
            continue;
        }
        d.stuck.add({one.session,
                     {},
                     "a time has passed and nothing moved",
                     "restart the server; if it stays, report it with `dormouse show " +
                         one.session.text() + "`"});
    }
    for (auto const& [session, gate] : runner.held(held_max)) {
        d.held.add({session,
                    {},
                    "a call waits for the gate '" + gate + "', which is not configured",
                    std::string(bring_gate_back)});
    }
    for (port::PostRow const& row : found.mail) add_held_mail(d.held, row);
    d.next_wake = found.next;
}

void write_findings(json::Writer& out, std::string_view name, Findings const& findings) {
    out.key(name).begin_array();
    for (Finding const& one : findings.shown) {
        out.begin_object().member("sessionID", one.session.text());
        if (one.pending) out.member("pendingID", one.pending->text());
        out.member("why", one.why).member("next", one.next).end_object();
    }
    out.end_array();
}

// Of what runs now: said with the first answer.
Findings find_unasked(port::Catalogue const& catalogue) {
    Findings out;
    for (port::UnaskedEntry& one : catalogue.unasked()) {
        out.add(
            {one.session,
             {},
             std::move(one.why),
             "if that is not wanted, set session_mode in its [[agent]] to a mode that asks, and "
             "restart the server: its programs then begin in that mode again"});
    }
    return out;
}

void answer_doctor(Doctor const& d, bool at_end) {
    runner::Runner const& runner = d.api.services().runner;
    bool const ok = d.stuck.count + d.orphaned.count + d.bricked.count == 0;
    std::pair<char const*, Findings const&> const all[] = {
        {"stuck", d.stuck},       {"held", d.held},       {"inDoubt", d.in_doubt},
        {"orphaned", d.orphaned}, {"bricked", d.bricked}, {"unasked", d.unasked}};
    json::Writer out;
    out.begin_object().member("ok", ok);
    for (auto const& [name, findings] : all) write_findings(out, name, findings);
    out.key("counts").begin_object();
    for (auto const& [name, findings] : all) out.member(name, findings.count);
    out.end_object().member("lookedAt", d.looked_at);
    out.member("next", at_end ? std::nullopt : std::optional(cursor_of(d)));
    out.key("nodes").begin_array().begin_object().member(
        "resident", static_cast<std::uint64_t>(runner.resident()));
    out.member("residentBytes", static_cast<std::uint64_t>(runner.resident_bytes()));
    out.member("clockHeld", runner.clock().holding()).end_object().end_array();
    out.key("queues").begin_object().member("owed", d.owed);
    out.member("nextWakeAt", d.next_wake ? std::optional(to_ms(*d.next_wake)) : std::nullopt);
    write_models(out.key("models"), d.api.services().metrics.models());
    out.end_object();
    d.x->json(200, out.end_object().take());
}

std::uint32_t next_step(Doctor& d) {
    auto const calls = static_cast<std::uint32_t>(std::min<std::uint64_t>(d.left, step));
    d.left -= calls;
    return calls;
}

void look_on_by_time(DoctorPtr const& d) {
    if (d->x->responder->gone()) return;
    if (d->left == 0) return answer_doctor(*d, false);
    auto question = [after = d->after_time, times = next_step(*d),
                     now = d->api.services().runner.now()](port::JournalStore& store) {
        return look_at_owing(store, after, times, now);
    };
    port::ask(d->api.services().journal, std::move(question), [d](Result<Owing> found) {
        if (!found) return d->x->fail(found.error());
        if (!found->last) return answer_doctor(*d, true);
        d->after_time = found->last;
        d->looked_at += found->read;
        for (Finding& one : found->orphaned) d->orphaned.add(std::move(one));
        for (Finding& one : found->bricked) d->bricked.add(std::move(one));
        look_on_by_time(d);
    });
}

void look_on(DoctorPtr const& d) {
    if (d->by_time) return look_on_by_time(d);
    if (d->x->responder->gone()) return;
    if (d->left == 0) return answer_doctor(*d, false);
    auto question = [after = d->after, calls = next_step(*d), now = d->api.services().runner.now()](
                        port::Store& store) { return look_at_waiting(store, after, calls, now); };
    port::ask(d->api.services().journal, std::move(question), [d](Result<Waiting> found) {
        if (!found) return d->x->fail(found.error());
        if (found->sessions.empty()) {
            d->by_time = true;
            return look_on_by_time(d);
        }
        d->after = found->sessions.back();
        d->looked_at += found->sessions.size();
        for (Need const& need : found->needs) add_unmet(d->held, d->api.services().catalogue, need);
        for (Finding& one : found->in_doubt) d->in_doubt.add(std::move(one));
        for (Finding& one : found->orphaned) d->orphaned.add(std::move(one));
        for (Finding& one : found->bricked) d->bricked.add(std::move(one));
        look_on(d);
    });
}

// Those that gave up, and that a person must let go on. Of rows alone: no journal is read.
void look_for_errors(DoctorPtr const& d, std::uint64_t after, std::uint32_t pages) {
    if (d->x->responder->gone()) return;
    if (pages == 0) return look_on(d);
    auto question = [after](port::MaintenanceStore& store) {
        return store.all_sessions(after, page_rows);
    };
    port::ask(d->api.services().journal, std::move(question),
              [d, pages](Result<std::vector<port::SessionRow>> rows) {
                  if (!rows) return d->x->fail(rows.error());
                  for (port::SessionRow const& row : *rows) {
                      if (row.status != "error") continue;
                      std::string next = "read why: dormouse show " + row.id.text();
                      next += "; try again: dormouse retry " + row.id.text();
                      d->held.add({row.id, {}, "its status is error", std::move(next)});
                  }
                  if (rows->size() < page_rows) return look_on(d);
                  look_for_errors(d, rows->back().id.number(), pages - 1);
              });
}

}  // namespace

void get_doctor(Api& api, ExchangePtr const& x) {
    Query query{x->request};
    auto const d = std::make_shared<Doctor>(Doctor{api, x, query.number("calls", most, 1, most)});
    if (auto const cursor = x->request.query_value("cursor")) {
        if (!read_cursor(*cursor, *d) && !query.error)
            query.error = Error{Code::bad_cursor, "This cursor is not one of ours; begin without."};
    }
    if (query.error) return x->fail(*query.error);
    if (d->after || d->by_time) return look_on(d);  // the first answer told the rest
    d->unasked = find_unasked(api.services().catalogue);
    auto question = [now = api.services().runner.now()](port::Store& store) {
        return look_at_times(store, now);
    };
    port::ask(api.services().journal, std::move(question), [d](Result<Overdue> found) {
        if (!found) return d->x->fail(found.error());
        add_overdue(*d, *found);
        look_for_errors(d, 0, pages_max);
    });
}

}  // namespace dormouse::server
