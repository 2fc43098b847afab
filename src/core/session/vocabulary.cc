#include "session/program.h"
#include "session/task.h"

#include <algorithm>
#include <array>

namespace dormouse::session {

namespace {

// The words of each enumeration, in its order.
constexpr std::array lifecycle_words{"none", "active", "paused", "completed", "error", "deleted"};
constexpr std::array activity_words{"idle", "busy", "retry", "waiting_async"};
constexpr std::array prompt_mode_words{"queue", "steer", "interrupt", "reject"};
constexpr std::array crash_policy_words{"retry", "ask", "never"};
constexpr std::array pause_reason_words{"tool_result", "user_input", "approval", "elicitation",
                                        "handoff"};
constexpr std::array continuation_words{"tool_response", "message", "reentry"};
constexpr std::array on_deadline_words{"tell", "deny", "done"};
constexpr std::array finish_reason_words{"stop",       "length",    "refusal",
                                         "step_limit", "cancelled", "error"};
constexpr std::array submission_kind_words{"result", "error", "decision", "cancel", "expiry"};
constexpr std::array call_status_words{"completed", "failed", "expired", "cancelled"};
constexpr std::array error_reason_words{"failed", "denied", "expired", "cancelled", "unknown"};
constexpr std::array actor_type_words{"token",   "webhook", "capability",
                                      "session", "agent",   "runtime"};
constexpr std::array on_restart_words{"resume", "ask"};
constexpr std::array news_kind_words{"message", "tool", "plan"};
constexpr std::array agent_tool_status_words{"pending", "in_progress", "completed", "failed"};
constexpr std::array task_status_words{"running", "completed", "error", "cancelled", "resumed"};

template <class Words, class E> std::string_view word(Words const& words, E value) {
    return words.at(static_cast<std::size_t>(value));
}

template <class E, class Words> std::optional<E> find(Words const& words, std::string_view word) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (word == words[i]) return static_cast<E>(i);
    }
    return std::nullopt;
}

}  // namespace

std::string_view text(Lifecycle v) { return word(lifecycle_words, v); }
std::string_view text(Activity v) { return word(activity_words, v); }
std::string_view text(PromptMode v) { return word(prompt_mode_words, v); }
std::string_view text(CrashPolicy v) { return word(crash_policy_words, v); }
std::string_view text(PauseReason v) { return word(pause_reason_words, v); }
std::string_view text(Continuation v) { return word(continuation_words, v); }
std::string_view text(OnDeadline v) { return word(on_deadline_words, v); }
std::string_view text(FinishReason v) { return word(finish_reason_words, v); }
std::string_view text(SubmissionKind v) { return word(submission_kind_words, v); }
std::string_view text(CallStatus v) { return word(call_status_words, v); }
std::string_view text(ErrorReason v) { return word(error_reason_words, v); }
std::string_view text(ActorType v) { return word(actor_type_words, v); }
std::string_view text(OnRestart v) { return word(on_restart_words, v); }
std::string_view text(NewsKind v) { return word(news_kind_words, v); }
std::string_view text(AgentToolStatus v) { return word(agent_tool_status_words, v); }
std::string_view text(TaskStatus v) { return word(task_status_words, v); }

template <> std::optional<Lifecycle> parse(std::string_view w) {
    return find<Lifecycle>(lifecycle_words, w);
}
template <> std::optional<OnRestart> parse(std::string_view w) {
    return find<OnRestart>(on_restart_words, w);
}
template <> std::optional<NewsKind> parse(std::string_view w) {
    return find<NewsKind>(news_kind_words, w);
}
template <> std::optional<AgentToolStatus> parse(std::string_view w) {
    return find<AgentToolStatus>(agent_tool_status_words, w);
}
template <> std::optional<TaskStatus> parse(std::string_view w) {
    return find<TaskStatus>(task_status_words, w);
}
template <> std::optional<Activity> parse(std::string_view w) {
    return find<Activity>(activity_words, w);
}
template <> std::optional<PromptMode> parse(std::string_view w) {
    return find<PromptMode>(prompt_mode_words, w);
}
template <> std::optional<CrashPolicy> parse(std::string_view w) {
    return find<CrashPolicy>(crash_policy_words, w);
}
template <> std::optional<PauseReason> parse(std::string_view w) {
    return find<PauseReason>(pause_reason_words, w);
}
template <> std::optional<Continuation> parse(std::string_view w) {
    return find<Continuation>(continuation_words, w);
}
template <> std::optional<OnDeadline> parse(std::string_view w) {
    return find<OnDeadline>(on_deadline_words, w);
}
template <> std::optional<FinishReason> parse(std::string_view w) {
    return find<FinishReason>(finish_reason_words, w);
}
template <> std::optional<SubmissionKind> parse(std::string_view w) {
    return find<SubmissionKind>(submission_kind_words, w);
}
template <> std::optional<CallStatus> parse(std::string_view w) {
    return find<CallStatus>(call_status_words, w);
}
template <> std::optional<ErrorReason> parse(std::string_view w) {
    return find<ErrorReason>(error_reason_words, w);
}
template <> std::optional<ActorType> parse(std::string_view w) {
    return find<ActorType>(actor_type_words, w);
}

bool allowed(PauseReason reason, Continuation continuation) {
    switch (reason) {
        case PauseReason::tool_result: return continuation != Continuation::message;
        case PauseReason::user_input: return continuation == Continuation::message;
        case PauseReason::approval:
        case PauseReason::elicitation: return continuation == Continuation::reentry;
        // A pause that the runtime itself answers (a child session, a timer) may also just end with
        // its outcome.
        case PauseReason::handoff: return continuation != Continuation::message;
    }
    return false;
}

Continuation default_continuation(PauseReason reason) {
    switch (reason) {
        case PauseReason::tool_result: return Continuation::tool_response;
        case PauseReason::user_input: return Continuation::message;
        default: return Continuation::reentry;
    }
}

Usage sum(Usage const& a, Usage const& b) {
    return {a.input_tokens + b.input_tokens, a.output_tokens + b.output_tokens,
            a.cached_tokens + b.cached_tokens, a.reasoning_tokens + b.reasoning_tokens};
}

bool ToolTerms::may_pause_for(PauseReason reason) const {
    return std::ranges::find(may_pause, reason) != may_pause.end();
}

}  // namespace dormouse::session
