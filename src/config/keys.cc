#include "config/keys.h"

#include "config/keys_agents.h"
#include "config/keys_hooks.h"
#include "config/keys_server.h"
#include "config/keys_tools.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::config {

namespace {

constexpr std::array all_sections{
    std::string_view("server"),         std::string_view("store"),   std::string_view("limits"),
    std::string_view("retention"),      std::string_view("project"), std::string_view("model"),
    std::string_view("agent"),          std::string_view("tool"),    std::string_view("tool.poll"),
    std::string_view("tool.validator"), std::string_view("gate"),    std::string_view("source"),
    std::string_view("webhook"),        std::string_view("notify")};

template <std::size_t... n> constexpr auto joined(Key const (&... parts)[n]) {
    std::array<Key, (n + ...)> out{};
    auto to = out.begin();
    ((to = std::ranges::copy(parts, to).out), ...);
    return out;
}

constexpr auto all = joined(server_keys, agents_keys, tools_keys, hooks_keys);

// Sections ("") and keys that later releases bring.
constexpr std::pair<std::string_view, std::string_view> later[] = {
    {"", "mcp"},
    {"store", "index"},
    {"limits", "inbox"},
};

}  // namespace

std::span<Key const> keys() { return all; }

std::vector<Key const*> keys_of(std::string_view section) {
    std::vector<Key const*> out;
    for (Key const& key : all) {
        if (key.section == section) out.push_back(&key);
    }
    return out;
}

Key const* find_key(std::string_view section, std::string_view name) {
    auto const* const at = std::ranges::find_if(
        all, [&](Key const& key) { return key.section == section && key.name == name; });
    return at == all.end() ? nullptr : at;
}

bool comes_later(std::string_view section, std::string_view name) {
    return std::ranges::find(later, std::pair(section, name)) != std::end(later);
}

bool is_list(std::string_view section) {
    return section == "project" || section == "model" || section == "agent" || section == "tool" ||
           section == "gate" || section == "source" || section == "webhook" || section == "notify";
}

bool is_part_of_tool(std::string_view section) { return section.starts_with("tool."); }

std::string heading(std::string_view section) {
    if (section.empty()) return "the file";
    if (is_part_of_tool(section)) return std::string(section.substr(5)) + " of [[tool]]";
    std::string const name(section);
    return is_list(section) ? "[[" + name + "]]" : "[" + name + "]";
}

std::span<std::string_view const> sections() { return all_sections; }

std::vector<std::string> split_words(std::string_view words) {
    std::vector<std::string> out;
    while (!words.empty()) {
        auto const end = std::min(words.find(", "), words.size());
        out.emplace_back(words.substr(0, end));
        words.remove_prefix(std::min(end + 2, words.size()));
    }
    return out;
}

}  // namespace dormouse::config
