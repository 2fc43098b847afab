#pragma once
// The programs and files that `dormouse init` finds on this machine.

#include "cli/client/saved/settings.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::cli {

struct FoundModel {
    std::string kind;         // of [[model]]
    std::string model;        // the provider's name
    std::string api_key_env;  // the variable that is set; empty: none is needed
};

struct FoundServer {
    std::string name;
    std::vector<std::string> command;  // empty: `url`
    std::string url;
    std::string file;  // where it is configured
};

struct Installed {
    std::vector<FoundModel> models;    // best first
    std::vector<std::string> agents;   // opencode, claude, gemini
    std::vector<FoundServer> servers;  // MCP
};

struct Machine {
    std::function<std::string(char const*)> variable;  // of the environment; empty: not set
    std::string home;
    std::string folder;  // the current one
};

// Reads the environment, PATH and configuration files; starts nothing and asks no server.
[[nodiscard]] Installed look_around(Machine const& machine);

}  // namespace dormouse::cli
