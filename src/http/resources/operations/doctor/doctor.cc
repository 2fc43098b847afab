#include "http/resources/operations/handlers.h"

#include "http/resources/mcp/sign_in.h"
#include "http/resources/operations/doctor/concerns.h"
#include "http/resources/operations/doctor/doctor_fields.h"
#include "http/resources/operations/doctor_checks.h"
#include "http/resources/operations/metrics/metrics.h"
#include "http/resources/placed.h"
#include "port/foreign_sign_in.h"
#include "wire/outbox_json.h"

#include <algorithm>
#include <charconv>
#include <set>

// GET /api/doctor: what does not continue by itself, and what to do about it. Reads sessions in
// which a call waits, then others with outstanding work, a few at a time, so that other reads run
// in between, and a limited number of them: what it costs does not depend on how many there are.
// Does not read sessions that only sleep: they lose nothing until they are used.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr Duration lately{24LL * 3'600'000};  // failed turns are shown for so long
constexpr std::size_t agents_max = 20;
constexpr std::uint32_t step = 64;        // calls, then times, in one read
constexpr std::uint64_t most = 100'000;   // and in one request
constexpr std::uint64_t unasked = 1'000;  // ... that does not say how many

struct Doctor {
    Api& api;
    ExchangePtr x;
    std::uint64_t left = 0;  // waiting calls and times that may still be read
    std::optional<SessionId> after = {};
    bool by_time = false;  // the waiting sessions are done; now those with outstanding work
    std::optional<port::Due> after_time = {};
    std::uint64_t looked_at = 0;
    FoundByKind found = {};
    ConcernFacts facts = {};
    bool first = false;  // this is the first answer, which has the concerns
    std::uint64_t outstanding = 0;
    std::optional<Time> next_wake = {};
    port::OpenPending waiting = {};
    OfGoneServers of_gone = {};
    std::set<std::string> cut = {};  // members of the answer for which not all was looked at
};
using DoctorPtr = std::shared_ptr<Doctor>;

constexpr std::string_view by_time_prefix = "due_";

// The position after which the next request continues: a session with a waiting call, or a time.
std::string cursor_of(Doctor const& d) {
    if (!d.by_time) return d.after->text();
    if (!d.after_time) return std::string(by_time_prefix);
    return std::string(by_time_prefix) + std::to_string(to_ms(d.after_time->at)) + "_" +
           d.after_time->session.text();
}

// Returns false if the cursor is invalid.
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

void add_quarantined_mail(Findings& blocked, port::OutboxRow const& row) {
    auto const what = wire::read_outbox_body(row.body);
    auto const* const mail = what ? std::get_if<Mail>(&*what) : nullptr;
    if (!mail) return;
    std::string const id = text(mail->id);
    blocked.add({row.key.from,
                 {},
                 "mail " + id + " is quarantined: its conversation is too long",
                 "release it: dormouse release " + id});
}

// Adds a finding if the gate or tool is missing, so that no person decides in vain.
void add_unmet(Findings& blocked, port::Catalogue const& catalogue, Need const& need) {
    if (!need.gate.empty() && !catalogue.has_gate(need.gate)) {
        blocked.add(
            {need.session,
             {},
             "a call waits for a decision of the gate '" + need.gate + "', which is not configured",
             std::string(bring_gate_back)});
    }
    if (!need.tool.empty() && !catalogue.tool_schema(need.tool)) {
        blocked.add(
            {need.session,
             {},
             "a call would continue in the tool '" + need.tool + "', which is not configured",
             "put the tool back into the configuration and reload it (dormouse reload); or "
             "cancel the call"});
    }
}

void add_waiting_for_nodes(Doctor& d, std::vector<Placed> const& placed) {
    for (Placed const& one : placed) {
        if (!waits_for_node(d.api, one.node)) continue;
        d.found.blocked.add(
            {one.session,
             {},
             "it continues only on the server \"" + one.node + "\", which does not run",
             "start that server, or: dormouse move " + one.session.text() + " --to " +
                 d.api.services().runner.node_name()});
    }
}

void add_overdue(Doctor& d, Overdue const& found) {
    runner::Runner const& runner = d.api.services().runner;
    Time const now = runner.now();
    d.outstanding = found.at_work;
    d.waiting = found.waiting;
    if (found.at_work == counted_max) d.cut.insert("outstanding");
    if (found.waiting.count == counted_max) d.cut.insert("waiting");
    if (found.due.size() == overdue_max) d.cut.insert("stuck");
    if (found.mail.size() == parked_max) d.cut.insert("blocked");
    for (port::Due const& one : found.due) {
        // In a copy that holds, nothing moves on purpose.
        bool const is_late = !runner.held() && one.at + overdue < now;
        if (!is_late || runner.attends(one.session, now - overdue)) {
            ++d.outstanding;
            continue;
        }
        d.found.stuck.add({one.session,
                           {},
                           "a time has passed and nothing moved",
                           "restart the server; if it stays, report it with `dormouse show " +
                               one.session.text() + "`"});
    }
    for (auto const& [session, gate] : runner.awaiting_gate(parked_max)) {
        d.found.blocked.add({session,
                             {},
                             "a call waits for the gate '" + gate + "', which is not configured",
                             std::string(bring_gate_back)});
    }
    for (port::Due const& one : found.driven) {
        if (!runner.has_lost_driver(one)) continue;
        ++d.of_gone.count;
        if (d.of_gone.shown.size() < OfGoneServers::shown_max)
            d.of_gone.shown.push_back(one.session);
    }
    if (d.of_gone.count > 0 && found.at_work == counted_max) d.cut.insert("ofGoneServers");
    for (port::OutboxRow const& row : found.mail) add_quarantined_mail(d.found.blocked, row);
    d.next_wake = found.next;
}

// Returns true if the effective configuration sends links to people.
bool notifies_people(Json const& config) {
    bool found = false;
    json::View(config)["sections"].elements([&](json::View section) {
        found = found || section["heading"].string_or("") == "[[notify]]";
    });
    return found;
}

std::optional<Upgrade> upgrade_of(Api const& api) {
    auto const format = api.store_format();
    if (format.written >= format.newest) return std::nullopt;
    Upgrade out{.written = format.written, .newest = format.newest};
    for (port::NodeRow const& other : api.others())
        if (other.format < format.newest)
            out.older.push_back(other.name + " (" + other.release + ")");
    out.self_older = api.known_format() < format.newest;
    return out;
}

// Adds the facts that are known without reading sessions.
void add_facts(Doctor& d, Overdue const& found) {
    Services& services = d.api.services();
    Time const now = services.runner.now();
    ConcernFacts& facts = d.facts;
    d.first = true;
    facts.rejected_keys = services.metrics.troubles().rejected_keys();
    facts.failed_turns = services.metrics.troubles().failed_since(now - lately);
    facts.given_up = found.given_up;
    facts.receivers = services.metrics.receivers().failing(now);
    facts.notifies = notifies_people(services.facts.config);
    facts.public_url = services.gate.base_url();
    facts.disk_free = found.disk.free;
    facts.disk_size = found.disk.size;
    if (found.disk.free) {
        services.metrics.disk_trend().note(now, *found.disk.free);
        facts.until_full = services.metrics.disk_trend().until_full(now, *found.disk.free);
    }
    facts.clock_jumped = services.runner.clock().holding();
    OpenFiles const files = open_files();
    facts.files_open = files.open;
    facts.files_max = files.max;
    facts.backed_up_here = found.disk.database.has_value();
    facts.backup = found.backup;
    facts.upgrade = upgrade_of(d.api);
    facts.database = found.database;
    facts.removed_remain = found.removed_remain;
    auto const refusal = services.unwritable ? services.unwritable() : std::nullopt;
    if (refusal) facts.unwritable = refusal->detail;
    auto const archive = services.archive ? services.archive() : std::nullopt;
    if (archive) facts.archive_failure = archive->why;
    if (services.signal_failure) facts.signal_failure = services.signal_failure();
    facts.first_start = services.facts.starts.empty() ? now : services.facts.starts.front().started;
}

void add_missing_agent(Doctor& d, port::SessionRow const& row) {
    bool const open = row.status != "completed" && row.status != "deleted";
    bool const room =
        d.facts.missing_agents.size() < agents_max || d.facts.missing_agents.contains(row.agent);
    if (open && room && row.agent != no_agent && !d.api.services().catalogue.has_agent(row.agent))
        ++d.facts.missing_agents[row.agent];
}

// About running agents: part of the first answer.
Findings find_not_asking(port::Catalogue const& catalogue) {
    Findings out;
    for (port::NotAskingEntry& one : catalogue.not_asking()) {
        out.add(
            {one.session,
             {},
             std::move(one.why),
             "if that is not wanted, set session_mode in its [[agent]] to a mode that asks, and "
             "restart the server: its programs then begin in that mode again"});
    }
    return out;
}

std::vector<NeededSignIn> needed_sign_ins(Services const& services) {
    std::vector<NeededSignIn> out;
    if (!services.foreign_sign_ins) return out;
    for (std::string const& server : services.foreign_sign_ins->needed())
        out.push_back(
            {server, "sign in: open " + mcp_sign_in_url(services.gate.base_url(), server)});
    return out;
}

std::vector<port::ForeignServer> mcp_servers_of(Services const& services) {
    return services.foreign_sign_ins ? services.foreign_sign_ins->servers()
                                     : std::vector<port::ForeignServer>();
}

std::vector<port::IndexStatus> indexes_of(Services const& services) {
    return services.indexes ? services.indexes() : std::vector<port::IndexStatus>();
}

std::optional<port::ExportStatus> exports_of(Services const& services) {
    return services.exports ? services.exports() : std::nullopt;
}

std::optional<port::CopyStatus> copy_of(Services const& services) {
    return services.copy ? services.copy() : std::nullopt;
}

std::optional<FormatFacts> format_of(Api const& api) {
    if (api.known_format() == 0) return std::nullopt;
    return FormatFacts{api.store_format(), api.known_format()};
}

std::vector<std::string> cut_of(Doctor const& d, bool at_end) {
    std::set<std::string> cut = d.cut;
    if (!at_end) cut.insert({"blocked", "inDoubt", "orphaned", "unreadable"});
    return {cut.begin(), cut.end()};
}

void answer_doctor(Doctor const& d, bool at_end) {
    runner::Runner const& runner = d.api.services().runner;
    std::string const& store = d.api.services().metrics.store_name();
    NodeFacts const node{runner.resident(), runner.resident_bytes(), runner.clock().holding()};
    d.x->json(200,
              object_text(DoctorAnswer{
                  .found = d.found,
                  .looked_at = d.looked_at,
                  .next = at_end ? std::nullopt : std::optional(cursor_of(d)),
                  .store = store.empty() ? std::nullopt : std::optional(store),
                  .nodes = {node},
                  .others = d.api.others(),
                  .format = format_of(d.api),
                  .held = runner.held(),
                  .cut = cut_of(d, at_end),
                  .outstanding = d.outstanding,
                  .waiting = d.waiting,
                  .next_wake = d.next_wake,
                  .concerns = d.first ? concerns_of(d.facts, runner.now()) : std::vector<Concern>(),
                  .models = d.api.services().metrics.models(),
                  .sign_ins = needed_sign_ins(d.api.services()),
                  .mcp_servers = mcp_servers_of(d.api.services()),
                  .indexes = indexes_of(d.api.services()),
                  .traces = exports_of(d.api.services()),
                  .metrics = d.api.services().metrics.metric_exports(),
                  .copy = copy_of(d.api.services()),
                  .database = d.facts.database,
                  .of_gone_servers = d.of_gone,
              }));
}

std::uint32_t next_step(Doctor& d) {
    auto const calls = static_cast<std::uint32_t>(std::min<std::uint64_t>(d.left, step));
    d.left -= calls;
    return calls;
}

void check_next_due(DoctorPtr const& d) {
    if (d->x->responder->gone()) return;
    if (d->left == 0) return answer_doctor(*d, false);
    auto question = [after = d->after_time, times = next_step(*d),
                     now = d->api.services().runner.now()](port::Store& store) {
        return check_effects(store, after, times, now);
    };
    port::ask(d->api.services().journal, std::move(question), [d](Result<AtWork> found) {
        if (!found) return d->x->fail(found.error());
        if (!found->last) return answer_doctor(*d, true);
        d->after_time = found->last;
        d->looked_at += found->read;
        d->found.orphaned.add(std::move(found->orphaned));
        d->found.unreadable.add(std::move(found->unreadable));
        add_waiting_for_nodes(*d, found->placed);
        check_next_due(d);
    });
}

void check_next_waiting(DoctorPtr const& d) {
    if (d->by_time) return check_next_due(d);
    if (d->x->responder->gone()) return;
    if (d->left == 0) return answer_doctor(*d, false);
    auto question = [after = d->after, calls = next_step(*d), now = d->api.services().runner.now()](
                        port::Store& store) { return check_waiting(store, after, calls, now); };
    port::ask(d->api.services().journal, std::move(question), [d](Result<Waiting> found) {
        if (!found) return d->x->fail(found.error());
        if (found->sessions.empty()) {
            d->by_time = true;
            return check_next_due(d);
        }
        d->after = found->sessions.back();
        d->looked_at += found->sessions.size();
        for (Need const& need : found->needs)
            add_unmet(d->found.blocked, d->api.services().catalogue, need);
        d->found.in_doubt.add(std::move(found->in_doubt));
        d->found.orphaned.add(std::move(found->orphaned));
        d->found.unreadable.add(std::move(found->unreadable));
        add_waiting_for_nodes(*d, found->placed);
        check_next_waiting(d);
    });
}

// Finds sessions in error, which a person must let continue, and missing agents. Reads rows only,
// no journal.
void find_by_project(DoctorPtr const& d) {
    port::ask(d->api.services().journal, check_projects, [d](Result<ByProject> found) {
        if (!found) return d->x->fail(found.error());
        for (port::SessionRow const& row : found->newest) add_missing_agent(*d, row);
        for (SessionId const& session : found->in_error) {
            std::string next = "read why: dormouse show " + session.text();
            next += "; try again: dormouse retry " + session.text();
            d->found.blocked.add({session, {}, "its status is error", std::move(next)});
        }
        if (found->errors_cut) d->cut.insert("blocked");
        if (found->newest_cut) d->cut.insert("concerns");
        check_next_waiting(d);
    });
}

}  // namespace

void get_doctor(Api& api, ExchangePtr const& x) {
    Query query{x->request};
    auto const d =
        std::make_shared<Doctor>(Doctor{api, x, query.number("calls", unasked, 1, most)});
    if (auto const cursor = x->request.query_value("cursor")) {
        if (!read_cursor(*cursor, *d) && !query.error)
            query.error = Error{Code::bad_cursor, "The cursor is invalid; begin without one."};
    }
    if (query.error) return x->fail(*query.error);
    if (d->after || d->by_time) return check_next_waiting(d);  // the first answer had the rest
    d->found.not_asking = find_not_asking(api.services().catalogue);
    Services const& services = api.services();
    auto question = [now = services.runner.now(),
                     places = Places{services.facts.data, services.database, services.removed}](
                        port::Store& store) { return check_times(store, places, now); };
    port::ask(api.services().journal, std::move(question), [d](Result<Overdue> found) {
        if (!found) return d->x->fail(found.error());
        add_overdue(*d, *found);
        add_facts(*d, *found);
        find_by_project(d);
    });
}

}  // namespace dormouse::http
