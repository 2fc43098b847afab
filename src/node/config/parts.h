#pragma once
// One part of the file → its struct, and what is checked when all parts have been read.

#include "config/config.h"
#include "config/section.h"

#include <string>
#include <utility>
#include <vector>

namespace dormouse::config {

// What no row says of the values of one part: derived members, and how its keys fit each other.
template <class T> void finish(Section const& /*section*/, T& /*out*/) {}
void finish(Section const& section, Server& out);
void finish(Section const& section, Limits& out);
void finish(Section const& section, Model& out);
void finish(Section const& section, Agent& out);
void finish(Section const& section, Tool& out);
void finish(Section const& section, Validator& out);
void finish(Section const& section, Gate& out);
void finish(Section const& section, Webhook& out);
void finish(Section const& section, Notify& out);

template <class T> T read_part(Section const& section) {
    T out;
    if constexpr (requires { out.line; }) out.line = section.line();
    section.fill(out);
    finish(section, out);
    return out;
}

// A list's elements with their places, for what is checked between them.
template <class T> struct Placed {
    T value;
    Section section;
};

struct Parts {
    std::vector<Placed<Project>> projects = {};
    std::vector<Placed<Model>> models = {};
    std::vector<Placed<Agent>> agents = {};
    std::vector<Placed<Tool>> tools = {};
    std::vector<Placed<Gate>> gates = {};
    std::vector<Placed<Source>> sources = {};
};
// Everything that holds between two parts: names are unique, what is named exists. Resolves the
// patterns of agents' tools.
void relate(Server const& server, Parts& parts, World const& world);

}  // namespace dormouse::config
