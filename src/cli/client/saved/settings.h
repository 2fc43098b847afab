#pragma once
// Settings of the command line: the server, its token and where the last session is remembered.
// environment() reads the environment once; everything else is a function of it and the flags.

#include "cli/client/failure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

// The environment variables in use; empty when not set.
struct Environment {
    std::string home = {};
    std::string xdg_data_home = {};
    std::string xdg_config_home = {};
    std::string config = {};    // DORMOUSE_CONFIG
    std::string token = {};     // DORMOUSE_TOKEN
    std::string url = {};       // DORMOUSE_URL
    std::string no_color = {};  // NO_COLOR: any value turns colours off
    std::string term = {};
    std::string browser = {};  // BROWSER: opens pages
    std::string display = {};  // DISPLAY, WAYLAND_DISPLAY: there is a desktop
    std::string wayland_display = {};
    // Where coding agents look for their settings.
    std::string claude_config_dir = {};
    std::string codex_home = {};
    std::string gemini_cli_home = {};
};

[[nodiscard]] Environment environment();

// A server that a person has signed in to (contexts.h).
struct Login {
    std::string name = {};
    std::string url = {};  // empty: none
    std::string token = {};
};

// The output format of a command.
enum class Format : std::uint8_t {
    text,  // for people
    wide,  // the same, nothing cut
    json,  // the server's objects
    yaml,
    name,  // ids only, one a line
};

// Flags that every command takes.
struct Global {
    std::string server = {};  // empty: not given
    std::string data = {};    // empty: not given
    std::string project = "default";
    bool json = false;         // objects instead of text: json, yaml or name
    std::string context = {};  // empty: not given
    Format format = Format::text;
    std::optional<std::string> jq = {};  // filter of --jq; then `json` is true
    bool text_errors = false;            // errors as text although `json` is true
    Login login = {};                    // the server to use, by choose_login()
};

// Returns the data directory: --data, $XDG_DATA_HOME/dormouse, $HOME/.local/share/dormouse; empty
// when none is known.
[[nodiscard]] std::string data_directory(Global const& global, Environment const& env);
// The same, but fails when no directory is known.
[[nodiscard]] Outcome<std::string> needed_data_directory(Global const& global,
                                                         Environment const& env);
// The same for a command that works on a database, an archive or a backup if `elsewhere`: then none
// is needed, and the result may be empty.
[[nodiscard]] Outcome<std::string> data_directory_unless(bool elsewhere, Global const& global,
                                                         Environment const& env);

// A place where the configuration may be. A place that was named explicitly is the only one and
// must exist.
struct ConfigPlace {
    std::string path;
    std::string from;  // "--config", "$DORMOUSE_CONFIG", …
    bool named = false;
};
[[nodiscard]] std::vector<ConfigPlace> config_places(std::string const& flag,
                                                     Environment const& env);
// Returns the first place that exists or was named explicitly; empty: none.
[[nodiscard]] std::string find_config(std::vector<ConfigPlace> const& places);
// Where `config init` writes; empty when the home directory is unknown.
[[nodiscard]] std::string own_config(Environment const& env);

// Returns --server, $DORMOUSE_URL, that of the login, the first line of DIR/url, which a running
// server writes, or http://127.0.0.1:3676. With --context: that of the login, or the local one.
[[nodiscard]] std::string server_url(Global const& global, Environment const& env);
// Returns the token of the login, $DORMOUSE_TOKEN, else the first line of DIR/token, else empty.
[[nodiscard]] std::string token(Global const& global, Environment const& env);

// Returns the flags that a suggested command needs to reach the same server: " --server URL --data
// DIR --context NAME".
[[nodiscard]] std::string repeated_flags(Global const& global);

// Quotes `text` for a shell if necessary.
[[nodiscard]] std::string shell_word(std::string_view text);

// Replaces a file of the data directory that only its owner may read; makes the directory if
// needed. Ignores errors.
void replace_private(std::string const& directory, std::string const& name,
                     std::string_view content);

// The session that `prompt -c` continues, one for each server address, in DIR/last-session.
// remember_session() ignores write errors: losing the value only costs convenience.
[[nodiscard]] std::string last_session(std::string const& directory, std::string const& url);
void remember_session(std::string const& directory, std::string const& url,
                      std::string const& session);

}  // namespace dormouse::cli
