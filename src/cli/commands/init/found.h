#pragma once
// The programs and files that `dormouse init` finds on this machine.

#include "cli/client/failure.h"
#include "cli/client/saved/settings.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::cli {

struct FoundModel {
    std::string kind;           // of [[model]]
    std::string model;          // the provider's name
    std::string api_key_env;    // the variable that is set; empty: none is needed
    std::string base_url = {};  // empty: that of the kind
};

struct FoundServer {
    std::string name;
    std::vector<std::string> command;  // empty: `url`
    std::string url;
    std::string file;  // where it is configured
};

// Something that was found and cannot be used.
struct Skipped {
    std::string what;
    std::string why;
};

struct Installed {
    std::vector<FoundModel> models;    // best first
    std::vector<std::string> agents;   // opencode, claude, gemini
    std::vector<FoundServer> servers;  // MCP
    std::vector<Skipped> skipped = {};
};

struct Machine {
    std::function<std::string(char const*)> variable;  // of the environment; empty: not set
    std::string home;
    std::string folder;  // the current one
    // Asks Ollama's server at this URL for its models (GET /api/tags). An error: there is none.
    std::function<Outcome<Json>(std::string const& url)> ollama_tags;
};

// Reads the environment, PATH and configuration files, and asks Ollama's server; starts nothing.
[[nodiscard]] Installed look_around(Machine const& machine);

}  // namespace dormouse::cli
