#pragma once
// How an agent's program is run, as the configuration says.

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

// Whether an installed program works at all: it is run once, with this option. What it ends with
// says so only if it knows the option; that it could not be run says so of each.
struct Probe {
    std::string option;
    bool known = false;       // by the program
    std::string repair = {};  // the command that installs it again
    Duration limit{30'000};   // who takes longer is not judged
};

struct Settings {
    std::string agent;                          // its id
    std::string path = {};                      // of the program, for people
    std::vector<std::string> argv;              // argv[0] is a path
    std::string unavailable = {};               // why it can not be started; empty: it can
    std::vector<std::string> environment = {};  // NAME=value: all that it gets
    std::vector<std::string> secrets = {};      // values that may stand in nothing that is told
    std::vector<std::string> wants = {};        // variables that it usually needs, and does not get
    std::string password_variable = {};  // gets a random value for each process; empty: none does
    // The folder that a session's cwd (perhaps empty) stands for. Error: it may not be there.
    std::function<Result<std::string>(std::string const& cwd)> folder = {};
    // The command that opens its screen, before the address; empty: there is none. With it the
    // program is told on which port of this machine it listens.
    std::vector<std::string> door = {};
    std::function<std::uint16_t()> free_port = {};
    port::HttpClient* http = nullptr;  // REQUIRES: there is one, when there is a door; outlives all
    Duration screen_lease{20'000};     // the program stays awake so long after the door was opened
    std::function<std::string()> random = {};
    // Given to the program with each of its sessions. May be empty.
    std::function<std::vector<McpServer>(SessionId const&)> mcp_servers = {};
    std::string auth_method = {};  // it signs in by; empty: it must be signed in
    std::string mode = {};         // of its sessions; empty: its own choice
    bool mode_of_preset = false;   // nobody asked for `mode`: only sessions that have it get it
    Json options = {};             // an object of texts and truths, or null
    // What it may ask of us, in the folder of its session. REQUIRES: files, when it may have some.
    bool reads_files = false, writes_files = false, terminals = false;
    port::Folders* files = nullptr;  // outlives all
    // The words that build a sandbox around argv, and around a terminal's command, in this folder.
    // May be empty.
    std::function<std::vector<std::string>(std::string const& folder)> before = {};
    // Told when a session's program has ended. May be empty.
    std::function<void(SessionId const&)> ended = {};
    // Why gates are not asked for what its program does in that mode; empty: they are. May be
    // empty.
    std::function<std::string(std::string const& mode)> unasked = {};
    // Told when that begins in a session. May be empty.
    std::function<void(SessionId const&, std::string const& why)> warn = {};
    std::optional<Probe> probe = {};
    std::string only_project = {};  // whose sessions it serves; empty: those of every one
    bool never_load = false;        // its session/load loses data
    Duration idle_stop{600'000};
    Duration start_limit{90'000};  // of the way to a session
    Duration list_limit{10'000};   // of looking for a session in the program's list
    Duration close_limit{3'000};   // of letting go of a session before the process ends
    Duration cancel_limit{10'000};
    std::size_t past_bytes = std::size_t{64} << 10;
    // What it speaks; empty: version 1 of ACP.
    std::function<std::unique_ptr<Dialect>(Dialect::Ears)> dialect = {};
};

// Its process in that folder, which talks through `on_output`. `password` (perhaps empty) goes into
// password_variable.
[[nodiscard]] port::ProcessSpec process_of(Settings const& settings, std::string const& folder,
                                           std::string const& password);
// In the place of one that is there already: of two, programs differ in which one counts.
void set_variable(std::vector<std::string>& environment, std::string const& name,
                  std::string const& value);
// `text` without values that may stand in nothing that is told.
[[nodiscard]] std::string without_secrets(Settings const& settings, std::string text);

}  // namespace dormouse::acp
