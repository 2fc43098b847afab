#pragma once
// The tools that a foreign server lists, as tools of agents. Pure.

#include "agent/tool.h"
#include "json/json.h"
#include "mcp_client/settings.h"

#include <expected>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

inline constexpr std::size_t tools_max = 500;  // of one server
inline constexpr std::size_t pages_max = 50;   // of one list
inline constexpr std::size_t schema_bytes_max = 65'536;
inline constexpr std::size_t description_bytes_max = 8'192;
inline constexpr std::size_t name_bytes_max = 128;  // with the prefix

// The annotations of a tool. Missing ones have the protocol's defaults.
struct Hints {
    bool read_only = false;
    bool destructive = true;
    bool idempotent = false;
};

struct ForeignTool {
    std::string name;  // the server's
    std::string description = {};
    Json schema = Json::trusted(R"({"type":"object"})");
    Hints hints = {};
    // A call of it can be requested as a task (2025-11-25).
    bool as_task = false;
};

struct ToolPage {
    std::vector<ForeignTool> tools = {};
    std::vector<std::string> left_out = {};  // why, one text for each tool
    std::string next = {};                   // cursor; empty: that was the last page
    Duration lifetime{};                     // for how long the list is valid; zero: unknown
};

// Reads the result of tools/list. Errors: a text that says what is wrong with the whole list.
[[nodiscard]] std::expected<ToolPage, std::string> read_tools(ServerSettings const& server,
                                                              json::View result);

// It may run again after a crash if it only reads or is idempotent; else it never does.
[[nodiscard]] session::CrashPolicy crash_policy_of(Hints const& hints);
// Returns true if a person is asked before the tool runs.
[[nodiscard]] bool asks_for(Asks asks, Hints const& hints);

// The tool without its functions. `tasks`: a call of it may become a task.
[[nodiscard]] agent::Tool declare(ServerSettings const& server, ForeignTool const& tool,
                                  bool tasks);

}  // namespace dormouse::mcp_client
