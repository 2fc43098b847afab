#pragma once
// Small words that commands, events and state share. Text forms are those of the wire (snake_case).

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/json.h>
#include <dormouse/time.h>

#include "base/sha256.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::session {

// Requirement C7. `none`: before session_created.
enum class Lifecycle : std::uint8_t { none, active, paused, completed, error, deleted };

// Requirement A12, derived from the state (activity() in state.h).
enum class Activity : std::uint8_t { idle, busy, retry, waiting_async };

enum class PromptMode : std::uint8_t { queue, steer, interrupt, reject };

// Whose task a session is.
struct Parent {
    SessionId session;
    TaskNo task = 0;
    std::uint32_t depth = 1;  // how many sessions are above it
    friend bool operator==(Parent const&, Parent const&) = default;
};

// How a crash in mid-run is met (P4).
enum class CrashPolicy : std::uint8_t { retry, ask, never };

// Why a call waits. It decides which outcomes settle the call, and how the session continues
// (docs/design/rules.md, "Pauses").
enum class PauseReason : std::uint8_t { tool_result, user_input, approval, elicitation, handoff };
enum class Continuation : std::uint8_t { tool_response, message, reentry };

// The await table: which continuations a reason allows, and its default.
[[nodiscard]] bool allowed(PauseReason reason, Continuation continuation);
[[nodiscard]] Continuation default_continuation(PauseReason reason);

// What happens at a pause's deadline. `done`: the deadline is the outcome that was waited for (a
// timer).
enum class OnDeadline : std::uint8_t { tell, deny, done };

enum class FinishReason : std::uint8_t { stop, length, refusal, step_limit, cancelled, error };

enum class SubmissionKind : std::uint8_t { result, error, decision, cancel, expiry };

// How a settled call ended, as PendingCall.status says it.
enum class CallStatus : std::uint8_t { completed, failed, expired, cancelled };

// Why a tool part is in error.
enum class ErrorReason : std::uint8_t { failed, denied, expired, cancelled, unknown };

enum class ActorType : std::uint8_t { token, webhook, capability, session, agent, runtime };

struct Actor {
    ActorType type = ActorType::runtime;
    std::string name = {};
    friend bool operator==(Actor const&, Actor const&) = default;
};

struct Usage {
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    std::int64_t cached_tokens = 0;     // among the input
    std::int64_t reasoning_tokens = 0;  // among the output
    friend bool operator==(Usage const&, Usage const&) = default;
};
[[nodiscard]] Usage sum(Usage const& a, Usage const& b);

// {code, message} of turns, requests and tools; not an HTTP problem.
struct Trouble {
    std::string code;
    std::string message;
    friend bool operator==(Trouble const&, Trouble const&) = default;
};

// When the model is asked again after a step with calls: once `n` of them have settled (0: all);
// the rest are kept open or cancelled. all = {0, keep}, each = {1, keep}, any = {1, cancel}, quorum
// n = {n, keep}.
struct Join {
    std::uint32_t n = 0;
    bool cancel_rest = false;
    friend bool operator==(Join const&, Join const&) = default;
};

// Of an agent that is a program (ACP): what becomes of a turn in whose middle it died. `resume`: it
// is started again and goes on; `ask`: the session is paused until a person says so.
enum class OnRestart : std::uint8_t { resume, ask };

// What an agent's configuration says of its turns; written into turn_started, so that replay needs
// no configuration.
struct TurnTerms {
    Join join = {};
    std::uint32_t tool_concurrency = 8;
    std::uint32_t step_limit = 50;
    std::string digest = {};  // of model, instructions and tools
    // Asked before the first request of the turn, told when it has ended; outermost first.
    std::vector<std::string> before = {};
    std::vector<std::string> after = {};
    std::optional<OnRestart> program = {};  // set: a program is prompted, and no model asked
    friend bool operator==(TurnTerms const&, TurnTerms const&) = default;
};

// Who may answer a pause, and how many must agree.
struct AnswerTerms {
    std::vector<std::string> from =
        {};  // names or "role:…"; empty: whoever has the right to answer
    std::uint32_t need = 1;
    bool forbid_requester = false;  // not whoever asked for the turn
    friend bool operator==(AnswerTerms const&, AnswerTerms const&) = default;
};

// What a call waits for. REQUIRES: allowed(reason, continuation).
struct PauseTerms {
    PauseReason reason = PauseReason::tool_result;
    Continuation continuation = Continuation::tool_response;
    Json placeholder = {};     // null: {"status":"pending"}
    std::string message = {};  // what a person sees
    Json form = {};            // JSON Schema of the answer's content, for people
    Json schema = {};          // JSON Schema of the outcome
    std::string external_ref = {};
    std::optional<Duration> timeout =
        {};  // nullopt: the default of the reason; Duration::max(): none
    std::optional<Duration> estimated = {};
    OnDeadline on_deadline = OnDeadline::tell;
    // Who is asked at the deadline, for as long again; only then on_deadline holds.
    std::vector<std::string> escalate_to = {};
    // The tool is asked (PollTool) each such time until it has the result. REQUIRES: continuation
    // tool_response.
    std::optional<Duration> poll_every = {};
    AnswerTerms answer = {};
    Json state = {};     // the tool's own, given back when it goes on; the model never sees it
    Json metadata = {};  // for audits; nobody acts on it
    std::string webhook_url = {};  // told when the pause ends; empty: nobody is
    // A deadline_near event comes so long before the deadline.
    std::optional<Duration> warn_before = {};
    // A reminded event comes so long after the pause began, and each such time again.
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
    // Signs webhooks about this pause, both ways. The lane takes it out before deciding and keeps
    // it beside the journal: it is in no event and no state.
    std::string webhook_secret = {};
    TaskNo task = 0;  // set: the call waits for the end of this task's run
    friend bool operator==(PauseTerms const&, PauseTerms const&) = default;
};

// What a tool declared, as far as the core needs it; written with the call, so that replay needs no
// registry.
struct ToolTerms {
    CrashPolicy crash = CrashPolicy::never;
    std::vector<PauseReason> may_pause = {};  // empty: never pauses
    std::vector<std::string> gates = {};      // asked in this order before it runs
    std::optional<Duration> pause_timeout =
        {};  // default deadline of its pauses; nullopt: that of the reason
    Duration time_limit = Duration(600'000);  // of one attempt
    // Told of an outcome that came before the tool could pause; empty: nobody is.
    std::string webhook_url = {};
    friend bool operator==(ToolTerms const&, ToolTerms const&) = default;

    [[nodiscard]] bool may_pause_for(PauseReason reason) const;
};

// A tool call that a reply asks for, as the door prepared it: checked, digested, with the tool's
// terms.
struct CallSpec {
    std::string model_id = {};  // the model's own id; data only, models repeat ids
    std::string tool = {};
    Json input = {};
    Sha256 input_digest = {};  // of the canonical input
    ToolTerms terms = {};
    // Set when the call cannot run (unknown tool, arguments that do not fit): its error for the
    // model.
    std::optional<std::string> refused = {};
    // Set when starting the tool is nothing but this registration: the pause rides with the start.
    std::optional<PauseTerms> at_once = {};
    // Set for a permission that the agent's program asks for: its how many-th of that attempt.
    // `model_id` is then the program's own id of its tool call.
    std::uint32_t ask = 0;
    std::uint32_t ask_attempt = 0;
    // Of all that an approval of it is about: what the program showed and how it was asked for.
    // nullopt: that says too little, or nobody wrote it down; then the approval fits nothing else.
    std::optional<Sha256> shown = {};
    std::vector<PauseTerms> then = {};  // asked one after the other, once this one has allowed it
    friend bool operator==(CallSpec const&, CallSpec const&) = default;
};

// Bytes that come with an outcome and are kept beside the journal, as the door prepared them.
struct Artifact {
    std::string name = {};
    std::string mime = {};
    std::shared_ptr<std::string const> bytes = {};  // REQUIRES: not null
    Sha256 digest = {};                             // of the bytes
};

// The artifacts of one outcome.
struct Attached {
    std::vector<Artifact> list = {};
    // The outcome's output is an object that tells of the last one: it gets the member artifactID.
    bool told = false;
};

// What is offered for a pending call. `digest` is that of docs/design/rules.md, "Digest".
struct Submission {
    SubmissionKind kind = SubmissionKind::result;  // result, error or decision
    Json output = {};                              // result: any value
    std::string title = {};
    Json metadata = {};
    std::string error = {};  // error: its text
    bool approved = false;   // decision
    std::string reason = {};
    Json arguments = {};           // decision: edited arguments, null if unchanged
    Sha256 arguments_digest = {};  // of them in canonical form; they fit the tool
    Json content = {};             // decision: what a form was filled in with
    std::string action =
        {};  // content's member `action`, for in-doubt questions: run_again, succeeded, give_up
    Sha256 digest = {};
    friend bool operator==(Submission const&, Submission const&) = default;
};

// What a settled pause left behind. Lives as long as the session (as its settling event).
struct Receipt {
    PendingId pending = {};
    SubmissionKind kind = SubmissionKind::result;
    CallStatus status = CallStatus::completed;
    Sha256 digest = {};
    Time at = {};
    Actor by = {};
    std::string via = {};  // http, cli, webhook, runtime …
    std::string delivery_id = {};
    Seq seq = 0;  // the settling event
    friend bool operator==(Receipt const&, Receipt const&) = default;
};

// Text forms, and back (nullopt for an unknown word).
[[nodiscard]] std::string_view text(Lifecycle v);
[[nodiscard]] std::string_view text(Activity v);
[[nodiscard]] std::string_view text(PromptMode v);
[[nodiscard]] std::string_view text(CrashPolicy v);
[[nodiscard]] std::string_view text(PauseReason v);
[[nodiscard]] std::string_view text(Continuation v);
[[nodiscard]] std::string_view text(OnDeadline v);
[[nodiscard]] std::string_view text(FinishReason v);
[[nodiscard]] std::string_view text(SubmissionKind v);
[[nodiscard]] std::string_view text(CallStatus v);
[[nodiscard]] std::string_view text(ErrorReason v);
[[nodiscard]] std::string_view text(ActorType v);
[[nodiscard]] std::string_view text(OnRestart v);
template <class E> [[nodiscard]] std::optional<E> parse(std::string_view word);

}  // namespace dormouse::session
