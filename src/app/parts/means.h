#pragma once
// The services that models and tools use outside the registry.

#include "acp/settings.h"
#include "agent/builtin.h"
#include "external/validator.h"
#include "port/folder.h"
#include "port/http.h"
#include "port/process.h"
#include "port/world.h"

namespace dormouse::app {

// Everything outlives the registry.
struct ToolServices {
    port::HttpClient& http;
    port::Processes& processes;
    port::Clock const& clock;
    external::Validators& validators;
    port::Loop& loop;
    port::Entropy& entropy;
    agent::FindMailer mail = {};
    // Files with the rights of that user; empty: the server's. nullptr: the user does not exist.
    std::function<port::Folders*(std::string const& user)> folders = {};
    // For each session of an external agent. May be empty.
    std::function<std::vector<acp::McpServer>(SessionId const&)> mcp_servers = {};
    std::function<void(SessionId const&)> agent_ended = {};
    std::function<void(SessionId const&, std::string const&)> agent_warning = {};
    std::string hidden = {};  // the data directory, which sandboxes hide
};

}  // namespace dormouse::app
