#pragma once
// Short builders for tests: events in one line, outcomes to submit, calls of a model.

#include "session/decide.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::session::testing {

[[nodiscard]] inline Json json(std::string text) { return Json::trusted(std::move(text)); }
[[nodiscard]] inline Json quoted(std::string const& text) { return json("\"" + text + "\""); }

// "input_received turn_started": the types of the events in one line.
[[nodiscard]] inline std::string types(std::vector<Event> const& events) {
    std::string out;
    for (Event const& event : events)
        out += (out.empty() ? "" : " ") + std::string(type_name(event.body));
    return out;
}
[[nodiscard]] inline std::string types(Decision const& decision) { return types(decision.events); }

// All events of one type.
template <class Kind> [[nodiscard]] std::vector<Kind> all(Decision const& decision) {
    std::vector<Kind> out;
    for (Event const& event : decision.events) {
        if (auto const* body = std::get_if<Kind>(&event.body)) out.push_back(*body);
    }
    return out;
}
// The first event of that type; a default one if there is none, which fails every expectation.
template <class Kind> [[nodiscard]] Kind first(Decision const& decision) {
    auto found = all<Kind>(decision);
    return found.empty() ? Kind{} : found.front();
}

// "applied", "duplicate", "counted", or the code of the error.
[[nodiscard]] inline std::string answer_of(Decision const& decision) {
    if (!decision.answer) return std::string(info(decision.answer.error().code).text);
    switch (decision.answer->outcome) {
        case Answer::Outcome::applied: return "applied";
        case Answer::Outcome::duplicate: return "duplicate";
        case Answer::Outcome::counted: return "counted";
    }
    return "";
}

[[nodiscard]] inline Submission result(std::string const& text) {
    Submission what;
    what.output = quoted(text);
    what.digest = sha256("{\"output\":\"" + text + "\"}");
    return what;
}
[[nodiscard]] inline Submission error(std::string const& text) {
    Submission what;
    what.kind = SubmissionKind::error;
    what.error = text;
    what.digest = sha256("{\"error\":\"" + text + "\"}");
    return what;
}
[[nodiscard]] inline Submission decision(bool approved, std::string const& reason = {}) {
    Submission what;
    what.kind = SubmissionKind::decision;
    what.approved = approved;
    what.reason = reason;  // outside the digest
    what.digest = sha256(approved ? R"({"decision":{"approved":true}})"
                                  : R"({"decision":{"approved":false}})");
    return what;
}
// An answer to an in-doubt question.
[[nodiscard]] inline Submission doubt_decision(std::string const& action,
                                               std::string const& output = "null") {
    Submission what = decision(true);
    what.action = action;
    what.output = json(output);
    what.digest = sha256("{\"decision\":{\"content\":{\"action\":\"" + action + "\"}}}");
    return what;
}

[[nodiscard]] inline PauseTerms pause_for(PauseReason reason) {
    PauseTerms terms;
    terms.reason = reason;
    terms.continuation = default_continuation(reason);
    return terms;
}

// A call of a tool that starts an external job and may wait for its result.
[[nodiscard]] inline CallSpec job(std::string tool = "deploy") {
    CallSpec spec;
    spec.tool = std::move(tool);
    spec.model_id = "call_0";  // models repeat ids
    spec.input = json(R"({"to":"production"})");
    spec.input_digest = sha256(spec.input.text());
    spec.terms.may_pause = {PauseReason::tool_result};
    return spec;
}
// A call of a tool that never waits.
[[nodiscard]] inline CallSpec plain(std::string tool = "read") {
    CallSpec spec = job(std::move(tool));
    spec.terms.may_pause.clear();
    return spec;
}
// A call of a tool that may pause only for this reason.
[[nodiscard]] inline CallSpec pausing(PauseReason reason) {
    CallSpec spec = plain("ask_human");
    spec.terms.may_pause = {reason};
    return spec;
}
[[nodiscard]] inline CallSpec with_policy(CallSpec spec, CrashPolicy policy) {
    spec.terms.crash = policy;
    return spec;
}
[[nodiscard]] inline CallSpec gated(CallSpec spec, std::vector<std::string> gates = {"approve"}) {
    spec.terms.gates = std::move(gates);
    return spec;
}

}  // namespace dormouse::session::testing
