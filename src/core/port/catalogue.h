#pragma once
// What the server may know of the configured agents, tools and gates.

#include <dormouse/error.h>

#include "port/effects.h"
#include "port/world.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::port {

struct AgentEntry {
    std::string id;
    std::string kind;  // model or acp
    std::string description;
    std::string model;
    std::vector<std::string> tools;
    std::string unavailable = {};  // why it can not be started; empty: it can
    // Of a program; what it says of itself is known once it was started.
    std::string path = {};
    std::string version = {};
    bool can_load = false, can_resume = false;
};

// Who makes the calls that come from outside the model, in sessions of an agent.
struct CallsEntry {
    std::string agent;
    std::vector<std::string> tools;
};

// The way to the own screen of the program that is a session's agent: `command` with `variable` set
// to `password`.
struct DoorEntry {
    std::string url;
    std::string session;  // as the program calls it
    std::string folder;
    std::vector<std::string> command;
    std::string variable;
    std::string password;
    Duration lease{};  // the program stays awake so long; asked for again it is longer
};

// Whoever asks for it: the session as its agent's program must know it.
struct DoorAsk {
    SessionId session;
    std::string agent;
    std::string acp_session;  // empty: it has none yet
    std::string cwd;
    std::string project;
    bool has_past = false;  // something was said in it that its program must be told
    // What happens without a prompt; called as long as the program runs.
    std::function<void(session::Command::Body)> told;
};

// A result that came from outside, as a validator gets it.
struct OfferedResult {
    PendingId pending;
    std::string tool;
    Json arguments;
    Json output;
};
// Why the result is refused; nullopt: it is accepted. Error: the validator gave no answer, and may
// give one another time.
using ValidationResult = Result<std::optional<std::string>>;

// A session whose program does without asking what gates are there for.
struct UnaskedEntry {
    SessionId session;
    std::string why;
};

// The configured agents.
class AgentCatalogue {
public:
    virtual ~AgentCatalogue() = default;
    [[nodiscard]] virtual std::vector<AgentEntry> agents() const = 0;
    [[nodiscard]] virtual bool has_agent(std::string const& id) const = 0;
    // For sessions of `agent`; nullopt: there is none.
    [[nodiscard]] virtual std::optional<CallsEntry> calls(std::string const& agent) const = 0;
    // The folder that `cwd` (empty: none is named) stands for in sessions of `agent`; "" for agents
    // that work in none. Error: it may not work there.
    [[nodiscard]] virtual Result<std::string> folder(std::string const& agent,
                                                     std::string const& cwd) const = 0;
    // Wakes the program without a prompt when it sleeps, and holds it awake for the lease. `then`
    // may be called before this returns. Error: it has no screen, or cannot be woken.
    virtual void open_door(DoorAsk ask, Fn<void(Result<DoorEntry>)> then) = 0;
    // Of programs that run now.
    [[nodiscard]] virtual std::vector<UnaskedEntry> unasked() const = 0;
};

// What the configured tools and gates declare.
class ToolCatalogue {
public:
    virtual ~ToolCatalogue() = default;
    // Empty: it has none.
    [[nodiscard]] virtual std::string tool_description(std::string const& tool) const = 0;
    // JSON Schema of the tool's input; nullopt: there is no such tool (any more).
    [[nodiscard]] virtual std::optional<Json> tool_schema(std::string const& tool) const = 0;
    // JSON Schema of its results; nullopt: it declares none, or there is no such tool.
    [[nodiscard]] virtual std::optional<Json> result_schema(std::string const& tool) const = 0;
    // Some code of the tool's judges results besides its schema.
    [[nodiscard]] virtual bool has_validator(std::string const& tool) const = 0;
    // Asks it where it may block; `then` comes on the loop. REQUIRES: has_validator(what.tool).
    virtual void validate(OfferedResult what, Fn<void(ValidationResult)> then) = 0;
    [[nodiscard]] virtual bool has_gate(std::string const& gate) const = 0;
};

class Catalogue : public AgentCatalogue, public ToolCatalogue {};

}  // namespace dormouse::port
