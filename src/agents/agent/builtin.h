#pragma once
// Built-in tools for the agents of a configuration and for the demo agents.

#include "agent/tool.h"
#include "port/mailer.h"

#include <functional>

namespace dormouse::agent {

// Stores the given bytes as an artifact of the session: {name, text | base64, mime?} → {name, mime,
// bytes, artifactID}.
[[nodiscard]] Tool artifact_emit();

// The session's to-do list. Each call gives the whole list, and the output is the new list. It is
// stored only in the journal.
[[nodiscard]] Tool todo();

// The task tools: background_task and six others (docs/reference/tools.md).
[[nodiscard]] std::vector<Tool> task_tools();

// An agent as a tool: each call gets a session of that agent. {prompt} → the agent's last message.
struct AgentTool {
    std::string name;
    std::string agent;
    std::string description = {};          // empty: says that it runs the agent
    std::optional<Duration> timeout = {};  // nullopt: the call waits without a limit
};
[[nodiscard]] Tool agent_tool(AgentTool declared);

// Returns the mailer of the process; null: it has none, or it is starting or stopping. Called on
// the loop. (A mailer needs the runner, which needs the tools: so a tool asks for it with each
// call.)
using FindMailer = std::function<port::Mailer*()>;

// Sends mail to other agents: {message, to?, resume?, reply_to?} → the delivery status for each
// receiver.
[[nodiscard]] Tool broadcast(FindMailer mailer);

}  // namespace dormouse::agent
