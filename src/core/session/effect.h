#pragma once
// Outstanding effects: outside work whose outcome the session needs. Derived from state, never
// stored.

#include "session/vocabulary.h"

#include <compare>
#include <variant>

namespace dormouse::session {

// The event that made the effect outstanding, and the call that it serves (0: none).
struct EffectId {
    Seq since = 0;
    CallNo call = 0;
    friend auto operator<=>(EffectId const&, EffectId const&) = default;
};

// Asks the model, or prompts the external agent. Outcome: ModelReply or ModelFailure.
struct AskModel {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Seq view_seq = 0;
    std::uint32_t failures = 0;  // of this step in a row; attempts cut off by a crash do not count
    // The agent is an external agent. Outcomes: AgentAttach, AgentReport, AgentAsk; last AgentReply
    // or AgentFailure.
    bool external = false;
    TraceHeaders trace = {};  // of the turn's input
    friend bool operator==(AskModel const&, AskModel const&) = default;
};

// Runs a tool. Outcome: ToolOutcome. The pendingID is the idempotency key, equal on every attempt.
struct RunTool {
    PendingId pending;
    std::uint32_t attempt = 0;
    std::string tool;
    Json input;
    std::optional<Submission> decision;  // re-entry: the answer to the tool's own pause
    TurnNo turn = 0;
    Json state = {};          // re-entry: PauseTerms::state of that pause
    TraceHeaders trace = {};  // of the turn's input
    friend bool operator==(RunTool const&, RunTool const&) = default;
};

// Asks a gate. Outcome: GateOutcome. Repeated after a crash, so a gate must have no side effects.
struct AskGate {
    CallNo call = 0;
    std::string gate;
    std::string tool;
    Json input;
    std::optional<Submission> decision;  // the answer to the gate's pause
    TurnNo turn = 0;
    TraceHeaders trace = {};  // of the turn's input
    friend bool operator==(AskGate const&, AskGate const&) = default;
};

// Polls a tool for the result of a paused call. Outcome: PollOutcome. Repeated after a crash, so it
// must have no side effects. Due by time, not outstanding: see due_polls().
struct PollTool {
    PendingId pending;
    std::string tool;
    Json input;
    std::string external_ref;
    Json state = {};  // what the pause stored
    friend bool operator==(PollTool const&, PollTool const&) = default;
};

// Asks interceptors whether a turn may begin, or notifies them that it has ended. Outcome:
// TurnOutcome. Repeated after a crash. The implementation enforces the time limit.
struct AskTurn {
    TurnNo turn = 0;
    std::vector<std::string> names;  // outermost first
    bool ended = false;
    FinishReason finish = FinishReason::stop;  // set with `ended`, as the members below
    std::optional<Trouble> error = {};
    Usage usage = {};
    friend bool operator==(AskTurn const&, AskTurn const&) = default;
};

// Notifies the external agent of the decision on a permission that it asked for. No outcome:
// outstanding until the prompt ends. An agent that died learns of it from the next prompt.
struct NotifyAgent {
    std::uint32_t attempt = 0;
    std::uint32_t ask = 0;
    bool approved = false;
    bool cancelled = false;
    friend bool operator==(NotifyAgent const&, NotifyAgent const&) = default;
};

struct Effect {
    EffectId id;
    std::variant<AskModel, RunTool, AskGate, PollTool, AskTurn, NotifyAgent> what;
    friend bool operator==(Effect const&, Effect const&) = default;
};

}  // namespace dormouse::session
