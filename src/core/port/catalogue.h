#pragma once
// The requests of the server about the configured agents, tools and gates.

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
    std::string unavailable = {};  // why it cannot be started; empty: it can
    // External agents only. The agent reports these values when it has been started.
    std::string path = {};
    std::string version = {};
    bool can_load = false, can_resume = false;
};

// The tools that clients may call, without the model, in sessions of `agent`.
struct CallsEntry {
    std::string agent;
    std::vector<std::string> tools;
};

// Opens the external agent's own terminal for a session: run `command` with `variable` set to
// `password`.
struct AttachInfo {
    std::string url;
    std::string session;  // the agent's own id of the session
    std::string folder;
    std::vector<std::string> command;
    std::string variable;
    std::string password;
    Duration lease{};  // how long the agent stays awake; another request extends it
};

// A request for that terminal, with what the agent must know of the session.
struct TerminalRequest {
    SessionId session;
    std::string agent;
    std::string acp_session;  // empty: it has none yet
    std::string cwd;
    std::string project;
    bool has_past = false;  // the session has history that the agent must be given
    // Called for what happens without a prompt, while the agent runs.
    std::function<void(session::Command::Body)> on_event;
};

// A result from outside, as a validator receives it.
struct OfferedResult {
    PendingId pending;
    std::string tool;
    Json arguments;
    Json output;
};
// The reason why the result is refused; nullopt: it is accepted. Error: the validator gave no
// answer; a retry may succeed.
using ValidationResult = Result<std::optional<std::string>>;

// A session whose external agent runs tools without asking for the permissions that gates require.
struct NotAskingEntry {
    SessionId session;
    std::string why;
};

// The configured agents.
class AgentCatalogue {
public:
    virtual ~AgentCatalogue() = default;
    [[nodiscard]] virtual std::vector<AgentEntry> agents() const = 0;
    [[nodiscard]] virtual bool has_agent(std::string const& id) const = 0;
    // Returns the entry for sessions of `agent`; nullopt: none.
    [[nodiscard]] virtual std::optional<CallsEntry> calls(std::string const& agent) const = 0;
    // The folder that `cwd` means in sessions of `agent` (empty `cwd`: the default folder); "" for
    // agents without a folder. Error: the agent must not work there.
    [[nodiscard]] virtual Result<std::string> folder(std::string const& agent,
                                                     std::string const& cwd) const = 0;
    // Wakes the external agent without a prompt and keeps it awake for the lease. `then` may be
    // called before this returns. Error: it has no terminal, or cannot be woken.
    virtual void open_terminal(TerminalRequest ask, Fn<void(Result<AttachInfo>)> then) = 0;
    // Returns the sessions of running external agents that do not ask for permissions.
    [[nodiscard]] virtual std::vector<NotAskingEntry> not_asking() const = 0;
};

// The declarations of the configured tools and gates.
class ToolCatalogue {
public:
    virtual ~ToolCatalogue() = default;
    // Empty: none.
    [[nodiscard]] virtual std::string tool_description(std::string const& tool) const = 0;
    // JSON Schema of the tool's input; nullopt: the tool is not configured.
    [[nodiscard]] virtual std::optional<Json> tool_schema(std::string const& tool) const = 0;
    // JSON Schema of its results; nullopt: none declared, or the tool is not configured.
    [[nodiscard]] virtual std::optional<Json> result_schema(std::string const& tool) const = 0;
    // The tool has code that checks results in addition to its schema.
    [[nodiscard]] virtual bool has_validator(std::string const& tool) const = 0;
    // Runs the validator where it may block; `then` is called on the loop. REQUIRES:
    // has_validator(what.tool).
    virtual void validate(OfferedResult what, Fn<void(ValidationResult)> then) = 0;
    [[nodiscard]] virtual bool has_gate(std::string const& gate) const = 0;
};

class Catalogue : public AgentCatalogue, public ToolCatalogue {};

}  // namespace dormouse::port
