#include "http/resources/operations/handlers.h"

#include "http/resources/operations/doctor/readiness.h"
#include "http/resources/operations/explain_fields.h"
#include "http/resources/operations/metrics/metrics.h"
#include "http/resources/operations/openapi.h"
#include "http/resources/operations/operation_fields.h"
#include "http/resources/placed.h"
#include "json/json.h"
#include "session/limits.h"
#include "wire/names.h"
#include "wire/outbox_json.h"

#include <algorithm>
#include <map>

// The server itself: health, agents, tools, explain.
namespace dormouse::http {

using namespace dormouse::session;

void get_health(Api&, ExchangePtr const& x) { x->json(200, R"({"ok":true})"); }

namespace {

// A failing index delays nobody.
bool indexes_settled(Services const& services) {
    if (!services.indexes) return true;
    return std::ranges::all_of(services.indexes(), &port::IndexStatus::settled);
}

}  // namespace

void get_ready(Api& api, ExchangePtr const& x) {
    runner::Runner const& runner = api.services().runner;
    if (runner.failed())
        return x->fail({Code::fail_stop, "A write to the disk failed; the server stops."});
    if (runner.draining()) return x->fail({Code::draining, "The server is stopping."});
    if (!runner.recovered())
        return x->fail({Code::recovering, "The server is still reading outstanding work."});
    if (!indexes_settled(api.services()))
        return x->fail({Code::recovering, "An index is still being written."});
    api.readiness().answer(x);
}

void get_agents(Api& api, ExchangePtr const& x) {
    x->json(200, list_text(api.services().catalogue.agents(), {}));
}

// Lists every tool that an agent may call, by name.
void get_tools(Api& api, ExchangePtr const& x) {
    port::Catalogue const& catalogue = api.services().catalogue;
    std::map<std::string, std::vector<std::string>> agents_of;
    for (port::AgentEntry const& agent : catalogue.agents()) {
        for (std::string const& tool : agent.tools) agents_of[tool].push_back(agent.id);
    }
    std::vector<ToolEntry> tools;
    for (auto const& [tool, agents] : agents_of) {
        tools.push_back({tool, agents, catalogue.tool_description(tool),
                         catalogue.tool_schema(tool).value_or(Json())});
    }
    x->json(200, list_text(tools, {}));
}

// Collects even if the store does not answer: that is when metrics are needed.
void collect_metrics(Services& services, port::Fn<void(std::vector<port::MeasureFamily>)> done) {
    auto question = [now = services.runner.now(), directory = services.facts.data](
                        port::Store& store) -> Result<Metrics::Asked> {
        auto stored = Metrics::ask(store, now);
        return Metrics::Asked{stored ? std::optional(*stored) : std::nullopt,
                              Metrics::disk_of(directory)};
    };
    port::ask(services.journal, std::move(question),
              [&metrics = services.metrics, &runner = services.runner,
               done = std::move(done)](Result<Metrics::Asked> asked) mutable {
                  if (asked && asked->disk.free)
                      metrics.disk_trend().note(runner.now(), *asked->disk.free);
                  done(metrics.collect(runner, asked ? *asked : Metrics::Asked{}));
              });
}

void answer_metrics(Services& services, std::shared_ptr<Responder> responder) {
    collect_metrics(services, [responder = std::move(responder)](auto const& families) {
        responder->reply(
            {200, "text/plain; version=0.0.4; charset=utf-8", {}, prometheus_text(families)});
    });
}

void get_metrics(Api& api, ExchangePtr const& x) { answer_metrics(api.services(), x->responder); }

void get_openapi(Api&, ExchangePtr const& x) { x->json(200, std::string(openapi_document())); }

namespace {

// By call: the missing gates that an open call needs to continue, asked or not.
std::map<CallNo, std::string> missing_gates(Api& api, State const& state) {
    std::map<CallNo, std::string> out;
    for (auto const& [no, call] : state.calls) {
        bool const asked = call.pause && call.pause->by_gate;
        if (!asked && !state.awaiting_gate.contains(no)) continue;
        std::string const& gate = gate_of(call);
        if (!api.services().catalogue.has_gate(gate)) out.emplace(no, gate);
    }
    return out;
}

// The calls that a standing rule allowed, in place of a person.
std::vector<AllowedByRule> allowed_by_rules(wire::History const& history,
                                            std::optional<PendingId> const& of) {
    std::vector<AllowedByRule> out;
    for (auto const& [no, call] : history.calls()) {
        if (of && of->call != no) continue;
        for (auto const& one : call.by_rules)
            out.push_back({wire::call_text(no), call.spec.tool, one});
    }
    return out;
}

Explanation explain(Api& api, Snapshot const& snapshot,
                    std::vector<wire::PauseView const*> const& pauses,
                    std::optional<PendingId> const& pending) {
    State const& state = snapshot.lane->state();
    Time const now = api.services().runner.now();
    Explanation out{.state = state};
    for (wire::PauseView const* pause : pauses) {
        wire::CallView const& call = snapshot.history.calls().at(pause->pending.call);
        auto const consumed =
            call.settled == 0 ? std::nullopt : snapshot.history.consumed(call.settled);
        out.calls.push_back(
            {{state, snapshot.history, *pause, call, now}, consumed_source(state.id, consumed)});
    }
    out.by_rules = allowed_by_rules(snapshot.history, pending);
    for (auto const& [no, gate] : missing_gates(api, state))
        out.missing_gates.push_back({wire::call_text(no), gate});
    if (waits_for_node(api, state.node)) out.waits_for = state.node;
    return out;
}

// A question of GET /api/explain/{id}.
struct Question {
    SessionId session;
    std::optional<PendingId> pending;
    std::optional<NumberedId> receipt, artifact;
};

void answer_question(Api& api, ExchangePtr const& x, Question const& question,
                     Result<Snapshot> const& snapshot) {
    if (!snapshot) return x->fail(snapshot.error());
    auto const& [session, wanted, receipt, artifact] = question;
    auto const& artifacts = snapshot->history.artifacts();
    State const& state = snapshot->lane->state();
    if (artifact && !artifacts.contains(artifact->number))
        return x->fail(missing(state, artifact->number));
    CallNo const brought_by = artifact ? artifacts.at(artifact->number).call : 0;
    std::vector<wire::PauseView const*> pauses;
    for (auto const& [no, call] : snapshot->history.calls()) {
        if (brought_by != 0 && no != brought_by) continue;
        for (wire::PauseView const& pause : call.pauses) {
            if (wanted && pause.pending != *wanted) continue;
            if (receipt && (!pause.receipt || pause.receipt->seq != receipt->number)) continue;
            pauses.push_back(&pause);
        }
    }
    if (wanted && pauses.empty()) return x->fail(missing(state, *wanted));
    if (receipt && pauses.empty()) return x->fail(missing(state, receipt->number));
    x->json(200, object_text(explain(api, *snapshot, pauses, wanted)));
}

// The event of the receipt names its call.
void explain_receipt(Api& api, ExchangePtr const& x, Question const& question) {
    Seq const seq = question.receipt->number;
    api.services().runner.read_event(
        question.session, seq, [&api, x, question, seq](Result<runner::Runner::Read> read) {
            if (!read) return x->fail(read.error());
            bool const found = !read->records.empty() && read->records.front()->event.seq == seq;
            auto const calls =
                found ? wire::touched(read->records.front()->event) : std::vector<PendingId>();
            if (calls.empty()) return x->fail(missing(read->lane->state(), seq));
            read_pending(api, calls.front(), [&api, x, question](Result<Snapshot> snapshot) {
                answer_question(api, x, question, snapshot);
            });
        });
}

}  // namespace

// For a pending call: who settled it, when, with which digest, and which step used it. For a
// session: all its calls.
void get_explain(Api& api, ExchangePtr const& x) {
    std::string const& id = x->params[0];
    auto const session = session_of(id);
    if (!session) return x->fail(not_found());
    Question const question{*session, PendingId::parse(id), parse_numbered("rcp_", id),
                            parse_numbered("art_", id)};
    if (question.receipt) return explain_receipt(api, x, question);
    auto answer = [&api, x, question](Result<Snapshot> snapshot) {
        answer_question(api, x, question, snapshot);
    };
    if (question.pending) return read_pending(api, *question.pending, std::move(answer));
    read_history(api, *session, std::move(answer));
}

}  // namespace dormouse::http
