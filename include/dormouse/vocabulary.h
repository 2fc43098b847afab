#pragma once
// Words that the library, the journal and the HTTP interface share: each has one definition, and
// the names of its values are its texts.

#include <dormouse/id.h>
#include <dormouse/time.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

// The reason why a call waits for something outside.
enum class PauseReason : std::uint8_t {
    tool_result,
    user_input,
    approval,
    elicitation,
    handoff,
    budget
};

// The status of a settled call.
enum class CallStatus : std::uint8_t { completed, failed, expired, cancelled };

// The kind of submission that settled a call.
enum class SubmissionKind : std::uint8_t { result, error, decision, cancel, expiry };

// The treatment of a call that a crash interrupted: `retry` runs it again with the same key, `ask`
// asks a person, `never` reports to the model that the outcome is unknown.
enum class CrashPolicy : std::uint8_t { retry, ask, never };

// The current activity of a session. `waiting_async`: it sleeps until an outcome of a call comes.
enum class Activity : std::uint8_t { idle, busy, retry, waiting_async };

// The status of a child session. `resumed`: a later run is active. When it ends, the task is
// `completed` again, whatever the outcome.
enum class TaskStatus : std::uint8_t { running, completed, error, cancelled, resumed };

// The treatment of a message while a turn is open: `queue` starts the next turn with it, `steer`
// adds it to this turn, `interrupt` stops this turn's request and running tools (calls that wait
// continue), `reject` refuses it.
enum class PromptMode : std::uint8_t { queue, steer, interrupt, reject };

enum class ActorType : std::uint8_t { token, webhook, capability, session, agent, runtime };

[[nodiscard]] std::string_view text(PauseReason v);
[[nodiscard]] std::string_view text(CallStatus v);
[[nodiscard]] std::string_view text(SubmissionKind v);
[[nodiscard]] std::string_view text(CrashPolicy v);
[[nodiscard]] std::string_view text(Activity v);
[[nodiscard]] std::string_view text(TaskStatus v);
[[nodiscard]] std::string_view text(PromptMode v);
[[nodiscard]] std::string_view text(ActorType v);

// The originator of an operation.
struct Actor {
    ActorType type = ActorType::runtime;
    std::string name = {};
    friend bool operator==(Actor const&, Actor const&) = default;
};

using Sha256 = std::array<std::uint8_t, 32>;
// "sha256:" and 64 hex digits: the text form in every interface.
[[nodiscard]] std::string digest_text(Sha256 const& digest);

// The record of a settled call. It lives as long as its session.
struct Receipt {
    PendingId pending = {};
    SubmissionKind kind = SubmissionKind::result;
    CallStatus status = CallStatus::completed;
    Sha256 digest = {};  // of the outcome, in canonical form
    Time at = {};
    Actor by = {};
    std::string via = {};          // http, cli, webhook, runtime, …
    std::string delivery_id = {};  // id of the message that carried it
    Seq seq = 0;                   // of the settling event
    friend bool operator==(Receipt const&, Receipt const&) = default;
};

// The call failed; the model sees `message` and the turn continues.
struct Failed {
    std::string message;
    bool nothing_done = false;  // nothing was done: a retry repeats nothing and may help
};
// It is unknown what the attempt did: the tool's crash policy decides.
struct InDoubt {
    std::string message;
    std::optional<Duration> retry_after = {};  // as the service asks, for a policy that retries
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
