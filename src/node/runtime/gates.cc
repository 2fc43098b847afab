#include "runtime/gates.h"

#include "session/limits.h"

namespace dormouse::runtime {

namespace {

Resumed resumed(session::Submission const& answer) {
    Resumed out;
    out.kind = SubmissionKind::decision;
    out.approved = answer.approved;
    out.reason = answer.reason;
    out.content = answer.content;
    out.metadata = answer.metadata;
    return out;
}

// The person's answer is the decision.
agent::GateDecision as_answered(session::Submission const& answer) {
    if (!answer.approved) {
        std::string const& reason = answer.reason;
        return agent::Deny{"denied: " + (reason.empty() ? "no reason given" : reason)};
    }
    agent::Allow allow;
    if (!answer.arguments.is_null()) allow.input = answer.arguments;
    return allow;
}

session::PauseTerms terms_of(Ask ask) {
    session::PauseTerms out;
    out.reason = session::PauseReason::approval;
    out.continuation = session::Continuation::reentry;
    out.message = std::move(ask.question);
    out.form = std::move(ask.options.form);
    out.external_ref = std::move(ask.options.ref);
    out.timeout = ask.options.without_end ? std::optional(Duration::max()) : ask.options.within;
    out.estimated = ask.options.estimated;
    out.on_deadline = session::OnDeadline::deny;
    out.answer = {std::move(ask.options.answerers), ask.options.need};
    return out;
}

agent::GateDecision decision_of(GateDecision decision, agent::GateCall const& call) {
    if (auto* deny = std::get_if<Deny>(&decision)) return agent::Deny{std::move(deny->message)};
    if (auto* ask = std::get_if<Ask>(&decision)) return terms_of(std::move(*ask));
    agent::Allow allow;
    auto& own = std::get<Allow>(decision);
    // Arguments that a person edited are used unless the gate replaces them.
    if (!own.input.is_null()) {
        allow.input = std::move(own.input);
    } else if (call.decision && !call.decision->arguments.is_null()) {
        allow.input = call.decision->arguments;
    }
    return allow;
}

Call call_of(agent::GateCall const& call) {
    Call::Facts facts;
    facts.pending.session = call.session;
    facts.pending.call = call.call;
    facts.tool = call.tool;
    facts.input = call.input;
    facts.agent = call.agent;
    facts.traceparent = call.trace.parent;
    facts.tracestate = call.trace.state;
    if (call.decision) facts.resumed = resumed(*call.decision);
    return Call(std::move(facts));
}

}  // namespace

agent::Gate adapt(Gate gate) {
    agent::Gate out;
    out.name = gate.name;
    out.tools = gate.tools;
    out.may_block = true;
    out.decide = [gate = std::move(gate)](agent::GateCall const& call) -> agent::GateDecision {
        if (!call.decision) return decision_of(gate.decide(call_of(call)), call);
        if (!gate.decided) return as_answered(*call.decision);
        return decision_of(gate.decided(call_of(call)), call);
    };
    return out;
}

}  // namespace dormouse::runtime
