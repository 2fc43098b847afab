#pragma once
// Built-in tools that agents of a configuration may name as well as the demo agents.

#include "agent/tool.h"
#include "port/mailer.h"

namespace dormouse::agent {

// Keeps bytes that the model gives as an artifact of the session: {name, text | base64, mime?} →
// {name, mime, bytes, artifactID}.
[[nodiscard]] Tool artifact_emit();

// The session's list of things to do. Each call gives the whole list, and its output is the list as
// it stands from then on: the journal holds it, and nothing else.
[[nodiscard]] Tool todo();

// background_task and the five other task tools (docs/reference/tools.md).
[[nodiscard]] std::vector<Tool> task_tools();

// An agent as a tool: each call has a session of that agent. {prompt} → what it said last.
struct AgentTool {
    std::string name;
    std::string agent;
    std::string description = {};
    std::optional<Duration> timeout = {};  // nullopt: the call waits as long as it takes
};
[[nodiscard]] Tool agent_tool(AgentTool declared);

// Filled in when there is somebody to send mail: tools are made before that.
struct MailSlot {
    port::Mailer* mailer = nullptr;
};

// Mail to other agents: {message, to?, resume?, reply_to?} → what is known of each receiver.
[[nodiscard]] Tool broadcast(std::shared_ptr<MailSlot> slot);

}  // namespace dormouse::agent
