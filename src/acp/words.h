#pragma once
// What is asked of a program that is an agent, and what it says: as plain values, the same in every
// version of its protocol. How they are spelt on the wire, a Dialect knows.

#include <dormouse/error.h>
#include <dormouse/json.h>
#include <dormouse/time.h>

#include "session/program.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dormouse::acp {

// Instead of an answer.
struct Refusal {
    enum class Why : std::uint8_t {
        gone,     // the program ended before it answered
        login,    // it wants one first
        unknown,  // it does not know the session
        other,
    };
    Why why = Why::other;
    std::string message = {};
    std::string data = {};  // what more it said of it, as JSON text; perhaps empty
};

struct Login {
    std::string id;
    std::string about;  // for people; perhaps empty
};

// What it can do with its sessions, and takes.
struct Abilities {
    bool load = false;    // take one up, and show its past
    bool resume = false;  // take one up without
    bool list = false;
    bool close = false;
    bool remove = false;
    bool images = false;
};

struct Hello {
    // Set: it does not speak the dialect's version but this one, and the rest says nothing.
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

// Where a session works, and with what.
struct Place {
    std::string folder;
    std::vector<McpServer> servers = {};
};

// A setting that a session has.
struct Option {
    std::string id;
    Json value;                            // null: not told
    std::vector<std::string> choice = {};  // what there is; perhaps not told
};

struct Opened {
    std::string session;  // as the program calls it
    std::string mode = {};
    std::vector<std::string> modes = {};
    std::vector<Option> options = {};
};

struct Listed {
    struct Entry {
        std::string session;
        std::string folder = {};           // empty: not told
        std::optional<Time> updated = {};  // nullopt: not told
    };
    std::vector<Entry> sessions = {};
    std::string next = {};  // the cursor of the next page; empty: that was the last
};

// A piece of a prompt: a text, or an image if there are `bytes`.
struct Block {
    std::string text = {};
    std::string mime = {};
    std::shared_ptr<std::string const> bytes = {};
};

struct TurnEnd {
    session::FinishReason finish = session::FinishReason::stop;
    session::Usage usage = {};
};

// While it works, or shows its past.
struct SaidText {
    std::string text;
    bool thought = false;
    std::string message = {};  // the program's id of it; perhaps empty
};
struct UserText {
    std::string text;
};
// A tool call that is new, or has changed. What is not set stays as it was.
struct ToolChange {
    std::string id;
    std::optional<session::AgentToolStatus> status = {};
    std::optional<std::string> title = {}, kind = {};
    std::optional<std::string> name = {};       // the program's own name of the tool: "bash"
    Json input = {}, output = {}, places = {};  // null: not set
};
struct Plan {
    Json entries;  // an array
};
struct Title {
    std::string text;
};
// The session is in another mode now, by the program's choice or a person's.
struct ModeChange {
    std::string mode;
};
struct SaidOther {};  // nothing that is kept
using Said = std::variant<SaidOther, SaidText, UserText, ToolChange, Plan, Title, ModeChange>;

// It asks whether it may do something. Answered by `number`, once.
struct Question {
    std::uint64_t number = 0;
    std::string call;                     // its tool call
    std::string kind;                     // empty: the request does not say
    std::string title;                    // perhaps empty too
    std::vector<std::string> names = {};  // how it calls the tool, in several spellings
    Json input = {};                      // null: the request says nothing at all
    bool vague = false;                   // `input` does not say what exactly it wants to do
    std::string own = {};  // its name of the tool, if that is surely one of a server in Place
    // An object: all that a yes to it is about, but for what is said of its tool call elsewhere.
    // null: the request does not say that.
    Json shown = {};
};
enum class Decision : std::uint8_t { allowed, denied, cancelled };

}  // namespace dormouse::acp
