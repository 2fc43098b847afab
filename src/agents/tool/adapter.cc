#include "tool/adapter.h"

#include "tool/names.h"
#include "tool/run.h"

#include <memory>

namespace dormouse::tools {

namespace {

using session::Continuation;

Continuation continuation(Await const& await) {
    if (std::holds_alternative<await::Input>(await)) return Continuation::message;
    return reenters(await) ? Continuation::reentry : Continuation::tool_response;
}

session::PauseTerms terms_of(Declaration const& declared, Paused paused) {
    session::PauseTerms terms = pause_terms(std::move(paused.options));
    terms.reason = reason(paused.await);
    terms.continuation = continuation(paused.await);
    terms.placeholder = std::move(paused.placeholder);
    // A schema applies only if the result is the call's output. If the tool re-enters, it checks
    // the result itself.
    if (terms.continuation == Continuation::tool_response) terms.schema = declared.result_schema;
    if (!terms.estimated) terms.estimated = declared.estimated;
    return terms;
}

Resumed resumed(session::Submission const& what, Json const& state) {
    Resumed out;
    out.kind = what.kind;
    out.output = what.output;
    out.error = what.error;
    out.approved = what.approved;
    out.reason = what.reason;
    out.content = what.content;
    out.metadata = what.metadata;
    out.state = state;
    return out;
}

Call call_of(agent::ToolCall const& call, std::stop_token stop) {
    Call::Facts facts;
    facts.pending = call.pending;
    facts.tool = call.tool;
    facts.input = call.input;
    facts.attempt = call.attempt;
    facts.agent = call.agent;
    facts.turn = call.turn;
    facts.callback_url = call.callback_url;
    facts.deadline = call.deadline;
    if (call.decision) facts.resumed = resumed(*call.decision, call.state);
    facts.stop = std::move(stop);
    facts.traceparent = call.trace.parent;
    facts.tracestate = call.trace.state;
    return Call(std::move(facts));
}

session::Attached attached(std::vector<Artifact> artifacts) {
    session::Attached out;
    for (Artifact& one : artifacts) {
        Sha256 const digest = sha256(one.bytes);
        std::string mime = one.mime.empty() ? "application/octet-stream" : std::move(one.mime);
        out.list.push_back({std::move(one.name), std::move(mime),
                            std::make_shared<std::string const>(std::move(one.bytes)), digest});
    }
    return out;
}

agent::ToolResult result_of(Declaration const& declared, RawOutcome outcome) {
    if (auto* done = std::get_if<Done<Json>>(&outcome))
        return agent::Done{std::move(done->value), std::move(done->title),
                           std::move(done->metadata), attached(std::move(done->artifacts))};
    if (auto* paused = std::get_if<Paused>(&outcome)) return terms_of(declared, std::move(*paused));
    if (auto* doubt = std::get_if<InDoubt>(&outcome)) return std::move(*doubt);
    return std::get<Failed>(std::move(outcome));
}

}  // namespace

session::PauseTerms pause_terms(PauseOptions options) {
    session::PauseTerms terms;
    terms.message = std::move(options.message);
    terms.form = std::move(options.form);
    terms.external_ref = std::move(options.ref);
    terms.timeout = options.without_end ? Duration::max() : options.within;
    terms.estimated = options.estimated;
    terms.answer.from = std::move(options.answerers);
    terms.answer.need = options.need;
    terms.state = std::move(options.state);
    terms.metadata = std::move(options.metadata);
    terms.webhook_url = std::move(options.webhook_url);
    terms.webhook_secret = std::move(options.webhook_secret);
    return terms;
}

Result<agent::Tool> make_agent_tool(ToolPtr tool) {
    if (!tool) return fail(Code::bad_value, "the tool must not be empty");
    Declaration const& declared = tool->declaration();
    if (auto why = wrong(declared); !why.empty()) return fail(Code::bad_value, std::move(why));
    agent::Tool out;
    out.name = declared.name;
    out.description = described(declared);
    out.schema = declared.input_schema;
    out.result_schema = declared.result_schema;
    out.terms.crash = declared.crash;
    out.terms.may_pause = declared.may_pause.reasons();
    out.terms.gates = declared.gates;
    out.terms.pause_timeout = declared.within;
    out.terms.time_limit = declared.time_limit;
    out.validate = declared.validate;
    out.run = [prepared = std::make_shared<Prepared const>(std::move(tool))](
                  agent::ToolCall const& call, std::stop_token stop) {
        return result_of(prepared->tool->declaration(),
                         run(*prepared, call_of(call, std::move(stop))));
    };
    return out;
}

}  // namespace dormouse::tools
