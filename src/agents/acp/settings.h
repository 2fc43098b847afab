#pragma once
// How the process of an external agent runs, as the configuration says.
// Example: with .argv = {"/usr/bin/opencode", "acp"} each session gets a process `opencode acp` in
// the folder of its cwd.

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

// Finds out whether an installed program works: runs it once, with this option. Its exit status
// shows that only if the program knows the option; that it cannot be run shows it always.
struct Probe {
    std::string option;
    bool known = false;       // by the program
    std::string repair = {};  // the command that installs it again
    Duration limit{30'000};   // a slower program is not judged
};

struct Settings {
    std::string agent;                          // the agent's id
    std::string path = {};                      // of the program, for people
    std::vector<std::string> argv;              // argv[0] is a path
    std::string unavailable = {};               // why it cannot be started; empty: it can
    std::vector<std::string> environment = {};  // NAME=value: all variables that it gets
    std::vector<std::string> secrets = {};      // values that no report and no error may show
    std::vector<std::string> wants = {};        // variables that it needs, and that are not set
    std::string password_variable = {};  // gets a random value for each process; empty: none does
    // Returns the folder for a session's cwd (may be empty). Error: it is not allowed.
    std::function<Result<std::string>(std::string const& cwd)> folder = {};
    // The command that opens the agent's screen, before the address; empty: it has no screen. With
    // it, the program gets the port of this machine that it listens on.
    std::vector<std::string> attach_command = {};
    std::function<std::uint16_t()> free_port = {};
    port::HttpClient* http = nullptr;  // REQUIRES: is set if attach_command is; outlives all
    Duration screen_lease{20'000};     // the process stays so long after somebody attached
    std::function<std::string()> random = {};
    // The servers that each session of the agent gets. May be empty.
    std::function<std::vector<McpServer>(SessionId const&)> mcp_servers = {};
    std::string auth_method = {};  // the login to use; empty: the agent must be signed in already
    std::string mode = {};         // of its sessions; empty: the agent's own choice
    bool mode_of_preset = false;   // `mode` is a default: only sessions that have it get it
    Json options = {};             // an object of texts and booleans, or null
    // What the agent may ask of us, in the folder of its session. REQUIRES: `files` is set if it
    // may read or write some.
    bool reads_files = false, writes_files = false, terminals = false;
    port::Folders* files = nullptr;  // outlives all
    // Returns the words that build a sandbox for this folder, before argv or the command of a
    // terminal. May be empty.
    std::function<std::vector<std::string>(std::string const& folder)> before = {};
    // Is called when a session's process has ended. May be empty.
    std::function<void(SessionId const&)> ended = {};
    // Returns why gates are not asked for what the agent does in that mode; empty: they are. May be
    // empty.
    std::function<std::string(std::string const& mode)> unasked = {};
    // Is called when that begins in a session. May be empty.
    std::function<void(SessionId const&, std::string const& why)> warn = {};
    std::optional<Probe> probe = {};
    std::string only_project = {};  // the project whose sessions it serves; empty: all
    bool never_load = false;        // its session/load loses data (see also quirks.h)
    Duration idle_stop{600'000};
    Duration start_limit{90'000};  // from the start until its session is ready
    Duration list_limit{10'000};   // for a search in its list of sessions
    Duration close_limit{3'000};   // for session/close before the process ends
    Duration cancel_limit{10'000};
    std::size_t past_bytes = std::size_t{64} << 10;
    // Makes the dialect that it speaks; empty: version 1 of ACP.
    std::function<std::unique_ptr<Dialect>(Dialect::Listener)> dialect = {};
};

// Returns the process of the agent in that folder, which talks through `on_output`. `password` (may
// be empty) goes into password_variable.
[[nodiscard]] port::ProcessSpec process_of(Settings const& settings, std::string const& folder,
                                           std::string const& password);
// Replaces a variable of that name: of two, programs differ in which one counts.
void set_variable(std::vector<std::string>& environment, std::string const& name,
                  std::string const& value);
// Returns `text` with *** in the place of each secret, and of `password`.
[[nodiscard]] std::string without_secrets(Settings const& settings, std::string text,
                                          std::string const& password = {});

}  // namespace dormouse::acp
