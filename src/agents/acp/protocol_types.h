#pragma once
// Requests to an ACP agent and its reports, as plain values that are the same in every version of
// the protocol. A Dialect knows their form in the protocol. Example: ToolChange{.id = "t1", .status
// = AgentToolStatus::completed} is in version 1
// {"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}.

#include <dormouse/error.h>
#include <dormouse/json.h>
#include <dormouse/time.h>

#include "session/external_agent.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dormouse::acp {

// Ends a text of the agent that was cut.
inline constexpr std::string_view cut_note = " … [cut: it was longer]";

// An error in place of an answer.
struct Refusal {
    enum class Why : std::uint8_t {
        gone,     // the agent ended before it answered
        login,    // the agent requires a login first
        unknown,  // the agent does not know the session
        other,
    };
    Why why = Why::other;
    std::string message = {};
    std::string data = {};  // details as JSON text; may be empty
};

struct Login {
    std::string id;
    std::string about;  // for people; may be empty
};

// The capabilities of an agent: operations on its sessions, and content that it accepts in prompts.
struct Abilities {
    bool load = false;    // continue a session, and replay its past
    bool resume = false;  // continue a session without a replay
    bool list = false;
    bool close = false;
    bool remove = false;
    bool images = false;
};

struct Hello {
    // If set, the agent speaks this version, not the dialect's; the other members are empty.
    std::string other_version = {};
    std::string name = {}, version = {};
    Abilities can = {};
    std::vector<Login> logins = {};
};

struct McpServer {
    std::string name;
    std::string command;
    std::vector<std::string> args = {};
    std::vector<std::pair<std::string, std::string>> env = {};
};

// The folder of a session, and the MCP servers that it gets.
struct Place {
    std::string folder;
    std::vector<McpServer> servers = {};
};

// A setting of a session, as the agent reports it.
struct Option {
    std::string id;
    Json value;                            // null: not reported
    std::vector<std::string> choice = {};  // possible values; empty: not reported
};

struct Opened {
    std::string session;  // the agent's id of it
    std::string mode = {};
    std::vector<std::string> modes = {};
    std::vector<Option> options = {};
};

struct Listed {
    struct Entry {
        std::string session;
        std::string folder = {};           // empty: not reported
        std::optional<Time> updated = {};  // nullopt: not reported
    };
    std::vector<Entry> sessions = {};
    std::string next = {};  // the cursor of the next page; empty: this is the last page
};

// A piece of a prompt: an image if `bytes` is set, else text.
struct Block {
    std::string text = {};
    std::string mime = {};
    std::shared_ptr<std::string const> bytes = {};
};

struct TurnEnd {
    session::FinishReason finish = session::FinishReason::stop;
    session::Usage usage = {};
};

// The alternatives of Update: what the agent reports while it works or replays its past.
struct AgentText {
    std::string text;
    bool thought = false;
    std::string message = {};  // the agent's id of the message; may be empty
};
struct UserText {
    std::string text;
};
// A new or changed tool call. A member that is not set keeps its value.
struct ToolChange {
    std::string id;
    std::optional<session::AgentToolStatus> status = {};
    std::optional<std::string> title = {}, kind = {};
    std::optional<std::string> name = {};       // the agent's own name of the tool: "bash"
    Json input = {}, output = {}, places = {};  // null: not set
};
struct Plan {
    Json entries;  // an array
};
struct Title {
    std::string text;
};
// The session's new mode, chosen by the agent or by a person.
struct ModeChange {
    std::string mode;
};
// The cost of the session until now.
struct Spent {
    session::Cost cost;
};
struct OtherUpdate {};  // not kept
using Update =
    std::variant<OtherUpdate, AgentText, UserText, ToolChange, Plan, Title, ModeChange, Spent>;

// A request for permission. Its `number` is answered once.
struct Question {
    std::uint64_t number = 0;
    std::string call;                     // the agent's id of the tool call
    std::string kind;                     // empty: not reported
    std::string title;                    // may be empty
    std::vector<std::string> names = {};  // the agent's names of the tool
    Json input = {};                      // null: the request does not show it
    bool vague = false;                   // `input` does not show exactly what the call does
    std::string own = {};  // the tool's name, if it certainly belongs to a server of Place
    // An object with everything that an approval covers, except what updates of its tool call
    // reported. null: the request does not show it.
    Json shown = {};
};
enum class Decision : std::uint8_t { allowed, denied, cancelled };

}  // namespace dormouse::acp
