#pragma once
// External agents (ACP): the state of an agent that is prompted. The core only observes: the agent
// makes its own model requests, runs its own tools and keeps its own memory.

#include "session/vocabulary.h"

#include <map>

namespace dormouse::session {

// The kind of a report of an external agent that works: part of a message, a tool call, a plan.
enum class AgentOutputKind : std::uint8_t { message, tool, plan };
enum class AgentToolStatus : std::uint8_t { pending, in_progress, completed, failed };
[[nodiscard]] std::string_view text(AgentOutputKind v);
[[nodiscard]] std::string_view text(AgentToolStatus v);
[[nodiscard]] constexpr bool is_open(AgentToolStatus status) {
    return status == AgentToolStatus::pending || status == AgentToolStatus::in_progress;
}

struct AgentOutput {
    AgentOutputKind kind = AgentOutputKind::message;
    // Messages: an array of text and reasoning parts; others: an object (docs/reference/events.md).
    Json body = {};
    bool begins = false;  // of a message: begins a new one
    std::string tool_call = {};
    std::string title = {};
    AgentToolStatus status = AgentToolStatus::pending;
    friend bool operator==(AgentOutput const&, AgentOutput const&) = default;
};

// The decision on a permission that the external agent asked for.
struct PermissionAnswer {
    CallNo call = 0;  // 0: no person was asked, because the tool is Dormouse's own
    Seq seq = 0;      // the event that settled it, or granted it again
    std::uint32_t attempt = 0;
    std::uint32_t ask = 0;
    std::string tool_call = {};
    std::string tool = {};
    Sha256 input_digest = {};
    bool approved = false;
    bool cancelled = false;  // nobody decided
    // The agent asked again for an approved request, and got it without asking a person; used up.
    bool granted = false;
    bool may_be_used = false;          // the agent that asked was still running
    std::optional<Sha256> shown = {};  // CallSpec::shown
    friend bool operator==(PermissionAnswer const&, PermissionAnswer const&) = default;
};

// The open turn of a session whose agent is an external agent.
struct ExternalTurn {
    Seq seen = 0;               // the agent received everything up to this event before this step
    std::uint32_t updates = 0;  // updates of this attempt that were stored
    Seq message = 0;            // the message that its next update belongs to; 0: none yet
    bool prompt_received = false;  // the agent has answered something to the prompt of this step
    bool continues = false;        // a person asked the session to continue
    std::map<std::string, std::string> tools = {};  // open tool calls: the agent's id → title
    std::vector<std::string> lost = {};             // titles of tool calls whose outcome is unknown
    std::vector<PermissionAnswer> permissions = {};  // oldest first
    friend bool operator==(ExternalTurn const&, ExternalTurn const&) = default;
};

// The state that the driver of an external agent needs besides the transcript.
struct AgentContext {
    std::string acp_session;  // the agent's own id of the session; empty: none yet
    std::string cwd;
    Seq seen = 0;        // the agent received everything up to this event
    bool again = false;  // an earlier attempt may have reached the agent
    ExternalTurn turn = {};
    std::string project = {};
    bool titled = false;  // the title was set by a person, or earlier
    Time began{};         // start of the turn
};

// Part of each prompt, followed by the attempt, so that a delivered prompt is recognised when the
// agent replays its session.
[[nodiscard]] std::string marker_of(SessionId const& session, TurnNo turn, std::uint32_t step);

}  // namespace dormouse::session
