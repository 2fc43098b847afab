#pragma once
// The agents that need no configuration entry, and how to install their programs.

#include <array>
#include <string_view>

namespace dormouse::cli {

struct KnownAgent {
    std::string_view id;
    std::string_view install;
};

inline constexpr std::array known_agents{
    KnownAgent{"opencode", "npm install -g opencode-ai"},
    KnownAgent{"claude", "npm install -g @agentclientprotocol/claude-agent-acp"},
    KnownAgent{"gemini", "npm install -g @google/gemini-cli"},
};

}  // namespace dormouse::cli
