#pragma once
// Reads one section into its struct, and checks the sections against each other.

#include "config/config.h"
#include "config/section.h"

#include <string>
#include <utility>
#include <vector>

namespace dormouse::config {

// Checks and derives what rows do not express: derived members, and keys that depend on each other.
template <class T> void finish(Section const& /*section*/, T& /*out*/) {}
void finish(Section const& section, Server& out);
void finish(Section const& section, Limits& out);
void finish(Section const& section, Model& out);
void finish(Section const& section, Agent& out);
void finish(Section const& section, Tool& out);
void finish(Section const& section, Validator& out);
void finish(Section const& section, Mcp& out);
void finish(Section const& section, Gate& out);
void finish(Section const& section, Budget& out);
void finish(Section const& section, Source& out);
void finish(Section const& section, Webhook& out);
void finish(Section const& section, Notify& out);
void finish(Section const& section, Email& out);
void finish(Section const& section, Oidc& out);

template <class T> T read_part(Section const& section) {
    T out;
    if constexpr (requires { out.line; }) out.line = section.line();
    section.fill(out);
    finish(section, out);
    return out;
}

// An element of a list with its section, for later checks.
template <class T> struct Placed {
    T value;
    Section section;
};

struct Parts {
    std::vector<Placed<Project>> projects = {};
    std::vector<Placed<Model>> models = {};
    std::vector<Placed<Agent>> agents = {};
    std::vector<Placed<Tool>> tools = {};
    std::vector<Placed<Mcp>> mcps = {};
    std::vector<Placed<Gate>> gates = {};
    std::vector<Placed<Budget>> budgets = {};
    std::vector<Placed<Source>> sources = {};
    std::vector<Placed<User>> users = {};
};
// Checks the sections against each other: names are unique, and what is named exists. Resolves the
// patterns of agents' tools.
void relate(Server const& server, Parts& parts, Environment const& environment);
// Checks that somebody can sign in with OIDC.
void relate(Section const& section, Oidc const& oidc, std::vector<Placed<User>> const& users);
// Checks that those who get e-mail have an address, and that push services have a contact.
void relate(std::vector<Placed<Notify>> const& notifies, Server const& server, Email const& email,
            std::vector<User> const& users);

}  // namespace dormouse::config
