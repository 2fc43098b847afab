#pragma once
// Agents that are programs (ACP): what the core knows of one that is prompted. It observes; the
// program's requests to its model, its tools and its own memory are the program's.

#include "session/vocabulary.h"

#include <map>

namespace dormouse::session {

// What a program tells while it works: a piece of a message, a tool call of its own, its plan.
enum class NewsKind : std::uint8_t { message, tool, plan };
enum class AgentToolStatus : std::uint8_t { pending, in_progress, completed, failed };
[[nodiscard]] std::string_view text(NewsKind v);
[[nodiscard]] std::string_view text(AgentToolStatus v);
[[nodiscard]] constexpr bool is_open(AgentToolStatus status) {
    return status == AgentToolStatus::pending || status == AgentToolStatus::in_progress;
}

struct News {
    NewsKind kind = NewsKind::message;
    // Of a message, an array of text and reasoning parts; else an object
    // (docs/reference/events.md).
    Json body = {};
    bool begins = false;  // of a message: not the rest of the one before
    std::string tool_call = {};
    std::string title = {};
    AgentToolStatus status = AgentToolStatus::pending;
    friend bool operator==(News const&, News const&) = default;
};

// What was decided on a permission that the program asked for.
struct Verdict {
    CallNo call = 0;  // 0: nobody was asked, because the tool is one of Dormouse's own
    Seq seq = 0;      // the event that settled it, or granted it again
    std::uint32_t attempt = 0;
    std::uint32_t ask = 0;
    std::string tool_call = {};
    std::string tool = {};
    Sha256 input_digest = {};
    bool approved = false;
    bool cancelled = false;  // nobody said anything
    bool granted = false;  // an approval that was asked for again, and given without asking: spent
    bool told = false;     // the program that had asked was there: it may have done it
    std::optional<Sha256> shown = {};  // CallSpec::shown
    friend bool operator==(Verdict const&, Verdict const&) = default;
};

// Of the open turn of a session whose agent is a program.
struct ProgramTurn {
    Seq seen = 0;               // what it was told before this step goes up to there
    std::uint32_t updates = 0;  // of this attempt, that were taken
    Seq message = 0;            // to which what it says next belongs; 0: none yet
    bool heard = false;         // it had the prompt of this step: something came back
    bool go_on = false;         // a person said that it is to go on
    std::map<std::string, std::string> tools = {};  // open ones: its id → title
    std::vector<std::string> lost = {};             // titles of those whose outcome nobody knows
    std::vector<Verdict> verdicts = {};             // oldest first
    friend bool operator==(ProgramTurn const&, ProgramTurn const&) = default;
};

// What whoever drives the program must know beside what the session has said.
struct AgentContext {
    std::string acp_session;  // the program's own id of it; empty: none yet
    std::string cwd;
    Seq seen = 0;        // the program was told all up to this event
    bool again = false;  // an attempt before this one may have reached the program
    ProgramTurn turn = {};
    std::string project = {};
    bool titled = false;  // its title is a person's, or was given before
    Time began{};         // its turn
};

// In each prompt, so that one that was delivered is known again in a replay: this, and the number
// of the attempt.
[[nodiscard]] std::string marker_of(SessionId const& session, TurnNo turn, std::uint32_t step);

}  // namespace dormouse::session
