#pragma once
// [[agent]] with acp → a program that can be prompted; and those that need no entry.

#include "agent/tool.h"
#include "app/means.h"
#include "config/config.h"

namespace dormouse::app {

// Of all agents of one configuration.
struct ProgramContext {
    std::string folder;              // of the file, or ours
    std::string project;             // whose sessions an agent without a sandbox serves
    std::vector<std::string> roots;  // of all agents: where other sessions may work
    std::string gate;  // the first one for permissions of programs; empty: there is none
};
[[nodiscard]] ProgramContext program_context(config::Config const& config);

// What `means` refers to outlives the agent.
[[nodiscard]] agent::Agent make_program_agent(config::Agent const& from,
                                              ProgramContext const& around, Means const& means);
// Why sessions that name no folder can not be prompted; empty: they can. `data`: the data
// directory.
[[nodiscard]] std::string folder_problem(config::AgentProgram const& program,
                                         std::string const& folder, std::string const& data);
// Why its program cannot be started; empty: it is there and executable.
[[nodiscard]] std::string program_problem(config::AgentProgram const& program);
// opencode, claude and gemini, as far as they are installed; without a sandbox, so none of
// several projects.
[[nodiscard]] std::vector<config::Agent> installed_agents(config::Config const& config);

// A session mode of the programs that are known in which they do without asking what they ask for
// in their own first one.
[[nodiscard]] bool asks_nobody(std::string_view mode);
// The first [[gate]] for what programs ask for; nullptr: there is none.
[[nodiscard]] config::Gate const* gate_of_programs(config::Config const& config);

}  // namespace dormouse::app
