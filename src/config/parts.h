#pragma once
// The readers of the file's parts, and what is checked when all of it has been read.

#include "config/config.h"
#include "config/section.h"

#include <map>
#include <string>
#include <vector>

namespace dormouse::config {

struct Reading {
    Report& report;
    World const& world;
    std::string folder;  // of the file, absolute
};

// A list's elements with their places, for what is checked between them.
template <class T> struct Placed {
    T value;
    Section section;
};

[[nodiscard]] Server read_server(Section const& section);
[[nodiscard]] Store read_store(Section const& section);
[[nodiscard]] Limits read_limits(Section const& section);
[[nodiscard]] Retention read_retention(Section const& section);
[[nodiscard]] Project read_project(Section const& section, Reading const& reading);
[[nodiscard]] Model read_model(Section const& section, Reading const& reading);
[[nodiscard]] Agent read_agent(Section const& section, Reading const& reading);
[[nodiscard]] Tool read_tool(Section const& section, Reading const& reading);
[[nodiscard]] Gate read_gate(Section const& section, Reading const& reading);
[[nodiscard]] Source read_source(Section const& section, Reading const& reading);
[[nodiscard]] Webhook read_webhook(Section const& section, Reading const& reading);
[[nodiscard]] Notify read_notify(Section const& section, Reading const& reading);

[[nodiscard]] std::vector<Header> read_headers(Section const& section, Reading const& reading);
[[nodiscard]] std::optional<Secret> read_secret(Section const& section, std::string_view name,
                                                Reading const& reading);
// A file's JSON Schema; null when absent or reported.
[[nodiscard]] Json read_schema(Section const& section, std::string_view name,
                               Reading const& reading);
// A table of the file as a JSON object; nullopt (with what is wrong) for what JSON has not.
[[nodiscard]] std::expected<Json, std::string> to_json(Node const& node);

struct Parts {
    std::vector<Placed<Project>> projects = {};
    std::vector<Placed<Model>> models = {};
    std::vector<Placed<Agent>> agents = {};
    std::vector<Placed<Tool>> tools = {};
    std::vector<Placed<Gate>> gates = {};
    std::vector<Placed<Source>> sources = {};
};
// Everything that holds between two parts: names are new, what is named is there. Resolves the
// patterns of agents' tools.
void relate(Server const& server, Parts& parts, World const& world);

}  // namespace dormouse::config
