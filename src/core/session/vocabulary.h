#pragma once
// Types that commands, events and state share. Their text forms are those of the wire (snake_case).
// The types that are part of the library's API are defined in <dormouse/vocabulary.h>.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/json.h>
#include <dormouse/time.h>
#include <dormouse/vocabulary.h>

#include "base/crypto/sha256.h"
#include "base/indirect.h"
#include "session/budget/budget_use.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::session {

using dormouse::Activity;  // requirement A12; derived from the state by activity() in state.h
using dormouse::Actor;
using dormouse::ActorType;
using dormouse::CallStatus;   // the values of PendingCall.status
using dormouse::CrashPolicy;  // P4
using dormouse::Failed;
using dormouse::InDoubt;
using dormouse::PauseReason;  // docs/design/rules.md, "Pauses"
using dormouse::PromptMode;
using dormouse::Receipt;
using dormouse::SubmissionKind;
using dormouse::TaskStatus;  // requirement D2
using dormouse::text;

// Requirement C7. `none`: before session_created.
enum class Lifecycle : std::uint8_t { none, active, paused, completed, error, deleted };

// The agent of a session that has none: a client asked people, and no agent works in the session.
// No agent may have this name.
inline constexpr std::string_view no_agent = "none";

// The trace headers of a request or message (W3C Trace Context).
struct TraceHeaders {
    std::string parent = {};  // a valid traceparent; empty: none
    std::string state = {};   // a valid tracestate; empty: none
    friend bool operator==(TraceHeaders const&, TraceHeaders const&) = default;
};

// The parent of a session that is a task.
struct Parent {
    SessionId session;
    TaskNo task = 0;
    std::uint32_t depth = 1;  // how many sessions are above it
    friend bool operator==(Parent const&, Parent const&) = default;
};

// The way in which the session continues when a pause has its outcome (docs/design/rules.md,
// "Pauses").
enum class Continuation : std::uint8_t { tool_response, message, reentry };

// The table of pauses: which continuations a reason allows, and its default.
[[nodiscard]] bool allowed(PauseReason reason, Continuation continuation);
[[nodiscard]] Continuation default_continuation(PauseReason reason);

// The action at a pause's deadline. `expire`: the call expires. `deny`: it is denied. `done`: the
// deadline is the awaited outcome (a timer).
enum class OnDeadline : std::uint8_t { expire, deny, done };

enum class FinishReason : std::uint8_t {
    stop,
    length,
    refusal,
    step_limit,
    cancelled,
    error,
    budget
};

// Why a tool part is in error.
enum class ErrorReason : std::uint8_t { failed, denied, expired, cancelled, unknown };

// Millionths of each currency, by its code ("USD"). Empty: unknown, because no price was known.
using Cost = std::map<std::string, std::int64_t>;

struct Usage {
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    std::int64_t cached_tokens = 0;         // part of input_tokens
    std::int64_t reasoning_tokens = 0;      // part of output_tokens
    std::int64_t cache_written_tokens = 0;  // part of input_tokens
    Cost cost = {};
    friend bool operator==(Usage const&, Usage const&) = default;
};
// Sums that are too large stay at the largest number.
[[nodiscard]] Usage sum(Usage const& a, Usage const& b);

// {code, message} of a failed turn, request or tool; not an HTTP problem.
struct Trouble {
    std::string code;
    std::string message;
    friend bool operator==(Trouble const&, Trouble const&) = default;
};

// When the model is asked again after a step with calls: once `n` of them have settled (0: all).
// The rest stay open or are cancelled. all = {0, keep}, each = {1, keep}, any = {1, cancel}, quorum
// n = {n, keep}.
struct Join {
    std::uint32_t n = 0;
    bool cancel_rest = false;
    friend bool operator==(Join const&, Join const&) = default;
};

// The action when an external agent (ACP) exits during a turn. `resume`: the agent is started again
// and continues; `ask`: the session is paused until a person resumes it.
enum class OnRestart : std::uint8_t { resume, ask };

// The agent's configuration for one turn. Written into turn_started, so that replay needs no
// configuration.
struct TurnTerms {
    Join join = {};
    std::uint32_t tool_concurrency = 8;
    std::uint32_t step_limit = 50;
    std::string digest = {};  // of model, instructions and tools
    // Interceptors: asked before the first request of the turn; notified after its end. Outermost
    // first.
    std::vector<std::string> before = {};
    std::vector<std::string> after = {};
    // Set: the agent is an external agent, and no model is asked.
    std::optional<OnRestart> on_restart = {};
    // The turn's working time is counted, because a budget limits it.
    bool timed = false;
    friend bool operator==(TurnTerms const&, TurnTerms const&) = default;
};

// The people who may answer a pause, and how many of them must agree.
struct AnswerTerms {
    // Names or "role:…"; empty: anyone with the right to answer.
    std::vector<std::string> from = {};
    std::uint32_t need = 1;
    bool forbid_requester = false;  // refuses the requester of the turn
    friend bool operator==(AnswerTerms const&, AnswerTerms const&) = default;
};

// The outcome that a call waits for. A decision refuses terms that are not valid().
struct PauseTerms {
    PauseReason reason = PauseReason::tool_result;
    Continuation continuation = Continuation::tool_response;
    Json placeholder = {};     // null: {"status":"pending"}
    std::string message = {};  // text for people
    Json form = {};            // JSON Schema of the answer's content, for people
    Json schema = {};          // JSON Schema of the outcome
    std::string external_ref = {};
    // nullopt: the default of the reason; Duration::max(): none.
    std::optional<Duration> timeout = {};
    std::optional<Duration> estimated = {};
    OnDeadline on_deadline = OnDeadline::expire;
    // The people who are asked at the deadline, for the same time again; on_deadline applies after
    // that.
    std::vector<std::string> escalate_to = {};
    // Interval at which the tool is polled (PollTool) for the result, with continuation
    // tool_response only.
    std::optional<Duration> poll_every = {};
    AnswerTerms answer = {};
    Json state = {};  // The tool's own; returned to it when it continues. The model never sees it.
    Json metadata = {};            // for audits; has no effect
    std::string webhook_url = {};  // called when the pause ends; empty: none
    // A deadline_near event is written this long before the deadline.
    std::optional<Duration> warn_before = {};
    // A reminded event is written this long after the pause began, then at every remind_every.
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
    // Signs webhooks about this pause in both directions. The lane removes it before deciding and
    // stores it outside the journal: no event and no state holds it.
    std::string webhook_secret = {};
    TaskNo task = 0;  // set: the call waits for the end of this task's run
    // Maximum number of files of an answer; 0 unless the continuation is `message`.
    std::uint32_t files = 0;
    bool always_ask = false;  // no standing rule ever answers it
    // Digest of the question's gate and tool as they are configured. A standing rule answers only
    // questions with its own digest; nullopt: none can be made.
    std::optional<Sha256> definition = {};
    friend bool operator==(PauseTerms const&, PauseTerms const&) = default;

    [[nodiscard]] bool valid() const;
};

// The part of a tool's declaration that the core needs. Written with the call, so that replay needs
// no tool registry.
struct ToolTerms {
    CrashPolicy crash = CrashPolicy::never;
    std::vector<PauseReason> may_pause = {};  // empty: the tool never pauses
    std::vector<std::string> gates = {};      // asked in this order before the tool runs
    // Default deadline of its pauses; nullopt: that of the reason.
    std::optional<Duration> pause_timeout = {};
    Duration time_limit = Duration(600'000);  // of one attempt
    // Called when an outcome comes before the tool has paused; empty: none.
    std::string webhook_url = {};
    friend bool operator==(ToolTerms const&, ToolTerms const&) = default;

    [[nodiscard]] bool may_pause_for(PauseReason reason) const;
};

// The terms on which a call in doubt waits: for its result, if the tool may have started a job
// outside.
[[nodiscard]] PauseTerms in_doubt_terms(ToolTerms const& tool);

// A tool call of a reply, with the tool's terms. Its arguments are checked and digested.
struct CallSpec {
    std::string model_id = {};  // The model's own id. Not unique: models repeat ids.
    std::string tool = {};
    Json input = {};
    Sha256 input_digest = {};  // of the canonical input
    ToolTerms terms = {};
    // Set when the call cannot run (unknown tool, invalid arguments): the error for the model.
    std::optional<std::string> refused = {};
    // Set when starting the tool does nothing but pause: the pause is written with the start.
    OptionalIndirect<PauseTerms> at_once = {};
    // Set for a permission that the external agent asks for: its number in that attempt, from 1.
    // `model_id` is then the agent's own id of its tool call.
    std::uint32_t ask = 0;
    std::uint32_t ask_attempt = 0;
    // Digest of everything that an approval covers: what the agent showed, and how it asked.
    // nullopt: unknown; the approval then covers no later request.
    std::optional<Sha256> shown = {};
    // Further pauses, asked one after the other once this one is approved.
    std::vector<PauseTerms> then = {};
    // Set: no tool is called. People decide whether this budget is raised.
    OptionalIndirect<BudgetUse> budget = {};
    friend bool operator==(CallSpec const&, CallSpec const&) = default;
};

// Bytes of an outcome or input that are stored outside the journal.
struct Artifact {
    std::string name = {};
    std::string mime = {};
    std::shared_ptr<std::string const> bytes = {};  // REQUIRES: not null
    Sha256 digest = {};                             // of the bytes
};

// The artifacts of one outcome.
struct Attached {
    std::vector<Artifact> list = {};
    // The outcome's output is an object that describes the last artifact: it gets the member
    // artifactID.
    bool described = false;
};

// For which later calls a standing rule answers: those of its session, or of its project.
enum class RuleScope : std::uint8_t { session, project };

// The standing rule that a person makes with an approval.
struct RuleTerms {
    RuleScope scope = RuleScope::session;
    // Arguments that must be equal to those that the person saw; empty: all of them.
    std::vector<std::string> match = {};
    // The rule answers for this time; nullopt: as long as its session exists. REQUIRED with scope
    // project.
    std::optional<Duration> lifetime = {};
    friend bool operator==(RuleTerms const&, RuleTerms const&) = default;
};

// An outcome offered for a pending call. `digest` is defined in docs/design/rules.md, "Digest".
struct Submission {
    SubmissionKind kind = SubmissionKind::result;  // result, error or decision
    Json output = {};                              // result: any value
    std::string title = {};
    Json metadata = {};
    std::string error = {};  // error: its text
    bool approved = false;   // decision
    std::string reason = {};
    Json arguments = {};           // decision: edited arguments; null: unchanged
    Sha256 arguments_digest = {};  // of `arguments` in canonical form; they are valid for the tool
    Json content = {};             // decision: the filled-in form
    // Member `action` of content, for in-doubt questions: run_again, succeeded or give_up.
    std::string action = {};
    std::optional<RuleTerms> rule = {};  // decision: answers later calls, too
    Sha256 digest = {};
    friend bool operator==(Submission const&, Submission const&) = default;
};

// Text forms, and their parser (nullopt: unknown word).
[[nodiscard]] std::string_view text(Lifecycle v);
[[nodiscard]] std::string_view text(Continuation v);
[[nodiscard]] std::string_view text(OnDeadline v);
[[nodiscard]] std::string_view text(FinishReason v);
[[nodiscard]] std::string_view text(ErrorReason v);
[[nodiscard]] std::string_view text(OnRestart v);
[[nodiscard]] std::string_view text(RuleScope v);
template <class E> [[nodiscard]] std::optional<E> parse(std::string_view word);

}  // namespace dormouse::session
