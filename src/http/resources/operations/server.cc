#include "http/resources/operations/handlers.h"

#include "http/objects/objects.h"
#include "http/resources/operations/metrics.h"
#include "http/resources/operations/openapi.h"
#include "http/resources/operations/readiness.h"
#include "json/json.h"
#include "session/limits.h"
#include "wire/names.h"
#include "wire/post_json.h"

#include <map>

// The server itself: health, agents, explain.
namespace dormouse::server {

using namespace dormouse::session;

void get_health(Api&, ExchangePtr const& x) { x->json(200, R"({"ok":true})"); }

void get_ready(Api& api, ExchangePtr const& x) {
    runner::Runner const& runner = api.services().runner;
    if (runner.failed())
        return x->fail({Code::fail_stop, "A write to the disk failed; the server stops."});
    if (runner.draining()) return x->fail({Code::draining, "The server is stopping."});
    if (!runner.recovered())
        return x->fail({Code::recovering, "The server is still looking for what is owed."});
    api.readiness().answer(x);
}

void get_agents(Api& api, ExchangePtr const& x) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (port::AgentEntry const& agent : api.services().catalogue.agents()) {
        out.begin_object()
            .member("id", agent.id)
            .member("kind", agent.kind)
            .member("available", agent.unavailable.empty());
        out.member("reason", text_or_null(agent.unavailable));
        out.member("model", text_or_null(agent.model)).key("tools").begin_array();
        for (std::string const& tool : agent.tools) out.value(tool);
        out.end_array()
            .key("can")
            .begin_object()
            .member("load", agent.can_load)
            .member("resume", agent.can_resume)
            .end_object();
        out.member("path", text_or_null(agent.path));
        out.member("version", text_or_null(agent.version)).end_object();
    }
    x->json(200, out.end_array().member_null("next").end_object().take());
}

// Every tool that an agent may call, by name.
void get_tools(Api& api, ExchangePtr const& x) {
    port::Catalogue const& catalogue = api.services().catalogue;
    std::map<std::string, std::vector<std::string>> agents_of;
    for (port::AgentEntry const& agent : catalogue.agents()) {
        for (std::string const& tool : agent.tools) agents_of[tool].push_back(agent.id);
    }
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (auto const& [tool, agents] : agents_of) {
        auto const schema = catalogue.tool_schema(tool);
        out.begin_object().member("name", tool).key("agents").begin_array();
        for (std::string const& agent : agents) out.value(agent);
        out.end_array().member("description", catalogue.tool_description(tool));
        out.member_raw("inputSchema", schema ? schema->text() : "null").end_object();
    }
    x->json(200, out.end_array().member_null("next").end_object().take());
}

// Answers while the store does not: that is when it is looked at.
void answer_metrics(Services& services, std::shared_ptr<Responder> responder) {
    auto question = [now = services.runner.now()](port::Store& store) {
        return Metrics::ask(store, now);
    };
    port::ask(
        services.journal, std::move(question),
        [&metrics = services.metrics, &runner = services.runner,
         responder = std::move(responder)](Result<Metrics::Stored> stored) {
            auto const known = stored ? std::optional(*stored) : std::nullopt;
            responder->reply(
                {200, "text/plain; version=0.0.4; charset=utf-8", {}, metrics.text(runner, known)});
        });
}

void get_metrics(Api& api, ExchangePtr const& x) { answer_metrics(api.services(), x->responder); }

void get_openapi(Api&, ExchangePtr const& x) { x->json(200, std::string(openapi_document())); }

namespace {

// By call: gates that are not there and that an open call needs to go on, asked or not.
std::map<CallNo, std::string> missing_gates(Api& api, State const& state) {
    std::map<CallNo, std::string> out;
    for (auto const& [no, call] : state.calls) {
        bool const asked = call.pause && call.pause->by_gate;
        if (!asked && !state.held.contains(no)) continue;
        std::string const& gate = gate_of(call);
        if (!api.services().catalogue.has_gate(gate)) out.emplace(no, gate);
    }
    return out;
}

void write_missing_gates(json::Writer& out, std::map<CallNo, std::string> const& gates) {
    out.key("missingGates").begin_array();
    for (auto const& [no, gate] : gates) {
        out.begin_object().member("callID", wire::call_text(no)).member("gate", gate);
        out.member("next", bring_gate_back).end_object();
    }
    out.end_array();
}

std::string explain_object(Api& api, Snapshot const& snapshot,
                           std::vector<wire::PauseView const*> const& pauses) {
    State const& state = snapshot.lane->state();
    json::Writer out;
    out.begin_object()
        .member("sessionID", state.id.text())
        .key("session")
        .raw(session_object(state));
    out.key("calls").begin_array();
    for (wire::PauseView const* pause : pauses) {
        wire::CallView const& call = snapshot.history.calls().at(pause->pending.call);
        out.begin_object().member("pendingID", pause->pending.text());
        out.key("pending").raw(
            pending_object(state, snapshot.history, *pause, api.services().runner.now()));
        out.member("attempts", call.attempts)
            .member("settledSeq", call.settled == 0 ? std::nullopt : std::optional(call.settled));
        out.key("consumed");
        auto const consumed =
            call.settled == 0 ? std::nullopt : snapshot.history.consumed(call.settled);
        if (consumed) {
            out.begin_object().member("turnID", numbered_id("trn_", state.id, consumed->turn));
            out.member("step", consumed->step == 0 ? std::nullopt : std::optional(consumed->step));
            out.member("seq", consumed->seq).member("at", to_ms(consumed->at)).end_object();
        } else {
            out.null();
        }
        out.end_object();
    }
    out.end_array();
    write_missing_gates(out, missing_gates(api, state));
    return out.end_object().take();
}

// What GET /api/explain/{id} is asked about.
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
    x->json(200, explain_object(api, *snapshot, pauses));
}

// The event of the receipt names its call.
void explain_receipt(Api& api, ExchangePtr const& x, Question const& question) {
    Seq const seq = question.receipt->number;
    api.services().runner.read_page(
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

// Of a pending call: who settled it, when, with which digest, and which step used it. Of a session:
// all its calls.
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

}  // namespace dormouse::server
