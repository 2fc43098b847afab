#pragma once
// Servers that a person has signed in to, and which of them is in use: contexts.json in the user's
// configuration directory, which only its owner may read, because it holds tokens.

#include "cli/client/saved/settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

struct Contexts {
    std::vector<Login> logins = {};
    std::string current = {};  // name; empty: none, commands find the local server

    [[nodiscard]] Login const* find(std::string_view name) const;
    // Adds it, or replaces the one of that name.
    void put(Login login);
};

// Means that no context is in use.
inline constexpr std::string_view local_context = "local";
inline constexpr std::size_t contexts_max = 64;
inline constexpr std::size_t token_bytes_max = 4'096;

// Letters, digits and . - _, at most 64; not `local`.
[[nodiscard]] bool is_context_name(std::string_view name);
// Returns the host of a server's address, with a port that is not the scheme's, as a name.
[[nodiscard]] std::string context_name_of(std::string_view url);

// Empty: no home is known.
[[nodiscard]] std::string contexts_file(Environment const& env);
// Without a file there are none. Fails with usage if it is not such a file or others may read it.
[[nodiscard]] Outcome<Contexts> read_contexts(Environment const& env);
[[nodiscard]] Outcome<void> write_contexts(Environment const& env, Contexts const& contexts);

// Sets global.login: that of --context; else the one for the address of --server or $DORMOUSE_URL,
// unless $DORMOUSE_TOKEN is set; else the one in use, unless --data names a directory.
[[nodiscard]] Outcome<void> choose_login(Global& global, Environment const& env);

}  // namespace dormouse::cli
