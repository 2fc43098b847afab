#pragma once
// Where the server is, whose token is used, and where the command line remembers things. The
// environment is read once, in environment(); all else is a function of it and the flags.

#include "cli/client/failure.h"

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

// The variables that matter; empty when not set.
struct Environment {
    std::string home = {};
    std::string xdg_data_home = {};
    std::string xdg_config_home = {};
    std::string config = {};    // DORMOUSE_CONFIG
    std::string token = {};     // DORMOUSE_TOKEN
    std::string url = {};       // DORMOUSE_URL
    std::string no_color = {};  // NO_COLOR: any value turns colours off
    std::string term = {};
};

[[nodiscard]] Environment environment();

// Flags that every command takes.
struct Global {
    std::string server;  // empty: not given
    std::string data;    // empty: not given
    std::string project = "default";
    bool json = false;
};

// The data directory: --data, $XDG_DATA_HOME/dormouse, $HOME/.local/share/dormouse; empty when none
// is known.
[[nodiscard]] std::string data_directory(Global const& global, Environment const& env);
// The same for commands that cannot do without one.
[[nodiscard]] Outcome<std::string> needed_data_directory(Global const& global,
                                                         Environment const& env);

// Where a configuration may be, in the order of looking. One that was named must be there, and is
// the only place.
struct ConfigPlace {
    std::string path;
    std::string from;  // "--config", "$DORMOUSE_CONFIG", …
    bool named = false;
};
[[nodiscard]] std::vector<ConfigPlace> config_places(std::string const& flag,
                                                     Environment const& env);
// The first that is there, or that must be; empty: none.
[[nodiscard]] std::string find_config(std::vector<ConfigPlace> const& places);
// Where `config init` writes; empty when no home is known.
[[nodiscard]] std::string own_config(Environment const& env);

[[nodiscard]] std::string server_url(Global const& global, Environment const& env);
// $DORMOUSE_TOKEN, else the first line of DIR/token, else empty.
[[nodiscard]] std::string token(Global const& global, Environment const& env);

// What must be repeated on a suggested command so that it reaches the same server: " --server URL
// --data DIR".
[[nodiscard]] std::string repeated_flags(Global const& global);

// A word as a shell reads it: quoted when it has to be.
[[nodiscard]] std::string shell_word(std::string_view text);

// The session that `prompt -c` continues, one per server address, in DIR/last-session. Losing it
// costs a convenience only, so remember() says nothing when it cannot write.
[[nodiscard]] std::string last_session(std::string const& directory, std::string const& url);
void remember_session(std::string const& directory, std::string const& url,
                      std::string const& session);

}  // namespace dormouse::cli
