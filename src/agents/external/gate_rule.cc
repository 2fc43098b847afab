#include "external/gate_rule.h"

#include "external/declared.h"
#include "json/json.h"

namespace dormouse::external {

using namespace dormouse::session;

namespace {

constexpr std::size_t question_max = 4'096;
constexpr std::string_view input_prefix = "input.";

std::string shown(json::View value) {
    if (!value.exists()) return "(none)";
    if (auto text = value.string()) return *text;
    return std::string(json::compact(value.copy()).text());
}

// Returns nullopt if the word in braces is unknown.
std::optional<std::string> value_of(std::string_view word, std::string_view tool,
                                    json::View input) {
    if (word == "tool") return std::string(tool);
    if (word == "input") return shown(input);
    if (!word.starts_with(input_prefix)) return std::nullopt;
    return shown(input[word.substr(input_prefix.size())]);
}

void write_condition(json::Writer& out, Condition const& one) {
    out.begin_object().member("pointer", one.pointer).member("equals", one.equals);
    out.member("pattern", one.pattern).member("min", one.min).member("max", one.max);
    out.end_object();
}

PauseTerms question(GateRule const& rule, agent::GateCall const& call) {
    PauseTerms pause;
    pause.reason = PauseReason::approval;
    pause.continuation = Continuation::reentry;
    std::string const text = rule.ask.empty() ? "Allow {tool} {input}?" : rule.ask;
    pause.message = head(fill_question(text, call.tool, call.input), question_max);
    pause.answer = rule.answer;
    pause.timeout = rule.timeout;
    pause.on_deadline = rule.on_expiry;
    pause.escalate_to = rule.escalate_to;
    pause.warn_before = rule.warn_before;
    pause.remind_after = rule.remind_after;
    pause.remind_every = rule.remind_every;
    pause.always_ask = rule.always_ask;
    pause.definition = definition_of(rule);
    return pause;
}

// The person's answer is the decision.
agent::GateDecision decide(GateRule const& rule, Conditions const& when,
                           agent::GateCall const& call) {
    if (!call.decision && !when.may_hold(call.input)) return agent::Allow{};
    if (!call.decision) return question(rule, call);
    if (!call.decision->approved) {
        std::string const& reason = call.decision->reason;
        return agent::Deny{"denied: " + (reason.empty() ? "no reason given" : reason)};
    }
    agent::Allow allow;
    if (!call.decision->arguments.is_null()) allow.input = call.decision->arguments;
    return allow;
}

}  // namespace

std::string fill_question(std::string_view text, std::string_view tool, Json const& input) {
    std::string out;
    while (!text.empty()) {
        auto const first = text.find('{');
        auto const close = text.find('}', first == text.npos ? 0 : first);
        if (first == text.npos || close == text.npos) break;
        auto const open = text.rfind('{', close);  // an earlier brace stays as it is
        out += text.substr(0, open);
        auto const value =
            value_of(text.substr(open + 1, close - open - 1), tool, json::View(input));
        out += value ? std::string_view(*value) : text.substr(open, close + 1 - open);
        text.remove_prefix(close + 1);
    }
    return out += text;
}

std::optional<Sha256> definition_of(GateRule const& rule) {
    if (rule.always_ask || rule.answer.need != 1) return std::nullopt;
    json::Writer out;
    auto const names = [&](std::string_view name, std::vector<std::string> const& of) {
        out.key(name).begin_array();
        for (std::string const& one : of) out.value(one);
        out.end_array();
    };
    out.begin_object().member("id", rule.name).member("ask", rule.ask);
    names("tools", rule.tools);
    out.key("when").begin_array();
    for (Condition const& one : rule.when) write_condition(out, one);
    out.end_array().member("forbids", rule.answer.forbid_requester);
    names("from", rule.answer.from);
    names("escalateTo", rule.escalate_to);
    return sha256(json::canonical(out.end_object().json()));
}

agent::Gate make_gate(GateRule rule) {
    agent::Gate gate;
    gate.name = rule.name;
    gate.tools = rule.tools;
    Conditions when(rule.when);
    gate.decide = [when = std::move(when), rule = std::move(rule)](agent::GateCall const& call) {
        return decide(rule, when, call);
    };
    return gate;
}

}  // namespace dormouse::external
