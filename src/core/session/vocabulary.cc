#include "session/vocabulary.h"

#include "base/enum_words.h"
#include "session/external_agent.h"
#include "session/task.h"

#include <algorithm>
#include <limits>

namespace dormouse::session {

std::string_view text(Lifecycle v) { return word_of(v); }
std::string_view text(Continuation v) { return word_of(v); }
std::string_view text(OnDeadline v) { return word_of(v); }
std::string_view text(FinishReason v) { return word_of(v); }
std::string_view text(ErrorReason v) { return word_of(v); }
std::string_view text(OnRestart v) { return word_of(v); }
std::string_view text(RuleScope v) { return word_of(v); }
std::string_view text(BudgetPer v) { return word_of(v); }
std::string_view text(BudgetKind v) { return word_of(v); }
std::string_view text(AgentOutputKind v) { return word_of(v); }
std::string_view text(AgentToolStatus v) { return word_of(v); }

template <class E> std::optional<E> parse(std::string_view word) { return from_word<E>(word); }
template std::optional<Lifecycle> parse(std::string_view);
template std::optional<Activity> parse(std::string_view);
template std::optional<PromptMode> parse(std::string_view);
template std::optional<CrashPolicy> parse(std::string_view);
template std::optional<PauseReason> parse(std::string_view);
template std::optional<Continuation> parse(std::string_view);
template std::optional<FinishReason> parse(std::string_view);
template std::optional<SubmissionKind> parse(std::string_view);
template std::optional<CallStatus> parse(std::string_view);
template std::optional<ErrorReason> parse(std::string_view);
template std::optional<ActorType> parse(std::string_view);
template std::optional<OnRestart> parse(std::string_view);
template std::optional<RuleScope> parse(std::string_view);
template std::optional<BudgetPer> parse(std::string_view);
template std::optional<BudgetKind> parse(std::string_view);
template std::optional<AgentOutputKind> parse(std::string_view);
template std::optional<AgentToolStatus> parse(std::string_view);
template std::optional<TaskStatus> parse(std::string_view);
template std::optional<OnDeadline> parse(std::string_view);

bool allowed(PauseReason reason, Continuation continuation) {
    switch (reason) {
        case PauseReason::tool_result: return continuation != Continuation::message;
        case PauseReason::user_input: return continuation == Continuation::message;
        case PauseReason::approval:
        case PauseReason::elicitation: return continuation == Continuation::reentry;
        // A pause that the runtime answers (a child session, a timer) may also just end with its
        // outcome.
        case PauseReason::handoff: return continuation != Continuation::message;
        case PauseReason::budget: return continuation == Continuation::tool_response;
    }
    return false;
}

Continuation default_continuation(PauseReason reason) {
    switch (reason) {
        case PauseReason::tool_result:
        case PauseReason::budget: return Continuation::tool_response;
        case PauseReason::user_input: return Continuation::message;
        default: return Continuation::reentry;
    }
}

PauseTerms in_doubt_terms(ToolTerms const& tool) {
    PauseTerms terms;
    if (!tool.may_pause_for(PauseReason::tool_result)) terms.reason = PauseReason::handoff;
    return terms;
}

bool PauseTerms::valid() const {
    bool const polled = !poll_every || continuation == Continuation::tool_response;
    bool const answerable = files == 0 || continuation == Continuation::message;
    return allowed(reason, continuation) && polled && answerable && answer.need > 0;
}

namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) {
    using Limits = std::numeric_limits<std::int64_t>;
    std::int64_t out = 0;
    if (!__builtin_add_overflow(a, b, &out)) return out;
    return a < 0 ? Limits::min() : Limits::max();
}

}  // namespace

Usage sum(Usage const& a, Usage const& b) {
    Usage out{sum(a.input_tokens, b.input_tokens),
              sum(a.output_tokens, b.output_tokens),
              sum(a.cached_tokens, b.cached_tokens),
              sum(a.reasoning_tokens, b.reasoning_tokens),
              sum(a.cache_written_tokens, b.cache_written_tokens),
              a.cost};
    for (auto const& [currency, micros] : b.cost) {
        std::int64_t& total = out.cost[currency];
        total = sum(total, micros);
    }
    return out;
}

bool ToolTerms::may_pause_for(PauseReason reason) const {
    return std::ranges::find(may_pause, reason) != may_pause.end();
}

}  // namespace dormouse::session
