#pragma once
// The settings of the process of an external agent, from the configuration. Example: with .argv =
// {"/usr/bin/opencode", "acp"} each session gets a process `opencode acp` in the folder of its cwd.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/json.h>
#include <dormouse/time.h>

#include "acp/dialect.h"
#include "port/folder.h"
#include "port/http.h"
#include "port/process.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::acp {

// Checks whether an installed program works: runs it once with this option. The exit status counts
// only if the program is known to support the option; a failure to start always counts.
struct Probe {
    std::string option;
    bool known = false;       // the program is known to support the option
    std::string repair = {};  // the command that reinstalls it
    Duration limit{30'000};   // the result of a slower program does not count
};

struct Settings {
    std::string agent;                          // the agent's id
    std::string path = {};                      // of the program, for people
    std::vector<std::string> argv;              // argv[0] is a path
    std::string unavailable = {};               // why it cannot be started; empty: it can
    std::vector<std::string> environment = {};  // all its variables, as NAME=value
    std::vector<std::string> secrets = {};      // values that no report and no error may show
    std::vector<std::string> wants = {};        // variables that it needs and that are not set
    std::string password_variable = {};  // gets a random value for each process; empty: none does
    // Returns the folder for a session's cwd (may be empty), or an error if it is not allowed.
    std::function<Result<std::string>(std::string const& cwd)> folder = {};
    // The command that opens the agent's screen, without the address; empty: it has no screen. If
    // set, the agent gets a port of this machine to listen on.
    std::vector<std::string> attach_command = {};
    std::function<std::uint16_t()> free_port = {};
    port::HttpClient* http = nullptr;  // REQUIRES: is set if attach_command is; outlives all
    Duration screen_lease{20'000};     // how long the process stays after a terminal attached
    std::function<std::string()> random = {};
    // Returns the MCP servers that each session of the agent gets. May be empty.
    std::function<std::vector<McpServer>(SessionId const&)> mcp_servers = {};
    std::string auth_method = {};  // the login to use; empty: the agent must be signed in already
    std::string mode = {};         // of its sessions; empty: the agent's own choice
    bool mode_of_preset = false;   // `mode` is a default: only sessions that offer it get it
    Json options = {};             // an object of strings and booleans, or null
    // The services that the agent may use in its session's folder. REQUIRES: `files` is set if
    // reads_files or writes_files is.
    bool reads_files = false, writes_files = false, terminals = false;
    port::Folders* files = nullptr;  // outlives all
    // Returns the words that build a sandbox for this folder; they precede argv or the command of a
    // terminal. May be empty.
    std::function<std::vector<std::string>(std::string const& folder)> before = {};
    // Called when a session's process has ended. May be empty.
    std::function<void(SessionId const&)> ended = {};
    // Returns why gates are not asked for the agent's actions in that mode; empty: they are asked.
    // May be empty.
    std::function<std::string(std::string const& mode)> not_asking = {};
    // Called when that begins in a session. May be empty.
    std::function<void(SessionId const&, std::string const& why)> warn = {};
    std::optional<Probe> probe = {};
    std::string only_project = {};  // the only project that it serves; empty: all
    bool never_load = false;        // its session/load loses data (see also quirks.h)
    Duration idle_stop{600'000};
    Duration start_limit{90'000};  // from the start until its session is ready
    Duration list_limit{10'000};   // for a search in its list of sessions
    Duration close_limit{3'000};   // for session/close before the process ends
    Duration cancel_limit{10'000};
    std::size_t past_bytes = std::size_t{64} << 10;
    // Makes the agent's dialect; empty: version 1 of ACP.
    std::function<std::unique_ptr<Dialect>(Dialect::Listener)> dialect = {};
};

// Returns the spec of the agent's process in that folder; the caller sets `on_output`. `password`
// (may be empty) becomes the value of password_variable.
[[nodiscard]] port::ProcessSpec process_of(Settings const& settings, std::string const& folder,
                                           std::string const& password);
// Replaces a variable of that name, because programs differ in which one of two counts.
void set_variable(std::vector<std::string>& environment, std::string const& name,
                  std::string const& value);
// Returns `text` with *** in place of each secret and of `password`.
[[nodiscard]] std::string without_secrets(Settings const& settings, std::string text,
                                          std::string const& password = {});

}  // namespace dormouse::acp
