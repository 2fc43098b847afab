#pragma once
// What models and tools reach the world with.

#include "acp/settings.h"
#include "agent/builtin.h"
#include "external/validator.h"
#include "port/folder.h"
#include "port/http.h"
#include "port/process.h"
#include "port/world.h"

namespace dormouse::app {

// All outlive the registry.
struct Means {
    port::HttpClient& http;
    port::Processes& processes;
    port::Clock const& clock;
    external::Validators& validators;
    port::Loop& loop;
    port::Entropy& entropy;
    std::shared_ptr<agent::MailSlot> mail = {};
    // Files with the rights of that user; empty: ours. nullptr: there is no such user.
    std::function<port::Folders*(std::string const& user)> folders = {};
    // Of each session of such an agent. May be empty.
    std::function<std::vector<acp::McpServer>(SessionId const&)> mcp_servers = {};
    std::function<void(SessionId const&)> program_ended = {};
    std::function<void(SessionId const&, std::string const&)> program_warning = {};
    std::string hidden = {};  // the data directory, which no agent in a sandbox sees
};

}  // namespace dormouse::app
