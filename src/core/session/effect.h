#pragma once
// Owed effects: work outside whose outcome the session needs. Derived from state, never stored.

#include "session/vocabulary.h"

#include <compare>
#include <variant>

namespace dormouse::session {

// What made it owed: the event, and which of several calls it concerns (0: the model).
struct EffectId {
    Seq since = 0;
    CallNo call = 0;
    friend auto operator<=>(EffectId const&, EffectId const&) = default;
};

// Outcome: ModelReply or ModelFailure.
struct AskModel {
    TurnNo turn = 0;
    std::uint32_t step = 0;
    std::uint32_t attempt = 0;
    Seq view_seq = 0;
    std::uint32_t failures = 0;  // of this step, in a row; what a crash cut off is none
    bool program = false;  // outcomes: AgentAttach, AgentNews, AgentAsk; AgentReply or AgentFailure
    friend bool operator==(AskModel const&, AskModel const&) = default;
};

// Outcome: ToolOutcome. The pendingID is the idempotency key, the same on every attempt.
struct RunTool {
    PendingId pending;
    std::uint32_t attempt = 0;
    std::string tool;
    Json input;
    std::optional<Submission> decision;  // re-entry: what the tool's own pause was answered with
    TurnNo turn = 0;
    Json state = {};  // re-entry: what that pause kept for the tool
    friend bool operator==(RunTool const&, RunTool const&) = default;
};

// Outcome: GateOutcome. Asked again after a crash, so it must have no effects of its own.
struct AskGate {
    CallNo call = 0;
    std::string gate;
    std::string tool;
    Json input;
    std::optional<Submission> decision;  // what the gate's pause was answered with
    friend bool operator==(AskGate const&, AskGate const&) = default;
};

// Outcome: PollOutcome. A question without effects of its own: asked again after a crash. It is due
// by the clock and not owed: see due_polls().
struct PollTool {
    PendingId pending;
    std::string tool;
    Json input;
    std::string external_ref;
    friend bool operator==(PollTool const&, PollTool const&) = default;
};

// Outcome: TurnOutcome. Whoever is named is asked whether the turn may begin or, when it has ended,
// told so. Asked again after a crash. Whoever asks keeps its time limit.
struct AskTurn {
    TurnNo turn = 0;
    std::vector<std::string> names;  // outermost first
    bool ended = false;
    FinishReason finish = FinishReason::stop;  // of one that has ended, as the others
    std::optional<Trouble> error = {};
    Usage usage = {};
    friend bool operator==(AskTurn const&, AskTurn const&) = default;
};

// The program is told what was decided on a permission that it asked for. No outcome: it is owed
// until the prompt ends, and a program that dies is told by the next prompt.
struct TellAgent {
    std::uint32_t attempt = 0;
    std::uint32_t ask = 0;
    bool approved = false;
    bool cancelled = false;
    friend bool operator==(TellAgent const&, TellAgent const&) = default;
};

struct Effect {
    EffectId id;
    std::variant<AskModel, RunTool, AskGate, PollTool, AskTurn, TellAgent> what;
    friend bool operator==(Effect const&, Effect const&) = default;
};

}  // namespace dormouse::session
