#include "cli/render/render_formats.h"

#include "base/text/chars.h"
#include "base/text/text.h"
#include "cli/render/render.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace dormouse::cli {
namespace {

// A word that no version of YAML reads as anything but a string.
bool is_plain(std::string_view text) {
    constexpr std::array<std::string_view, 7> other{"null", "true", "false", "yes",
                                                    "no",   "on",   "off"};
    return text.size() > 1 && is_letter(text.front()) && is_made_of(text, "_-./") &&
           std::ranges::find(other, lower_case(text)) == other.end();
}

std::string scalar(std::string_view text) {
    return is_plain(text) ? std::string(text) : json_for_terminal(json::quote(text));
}

bool is_block(json::View value) {
    bool const holds = value.kind() == json::Kind::object || value.kind() == json::Kind::array;
    return holds && value.size() > 0;
}

void put(json::View value, std::size_t indent, std::string& out);

// Writes what follows "name:".
void put_inner(json::View value, std::size_t indent, std::string& out) {
    bool const block = is_block(value);
    out += block ? "\n" : " ";
    put(value, block ? indent + 2 : 0, out);
}

void put(json::View value, std::size_t indent, std::string& out) {
    switch (value.kind()) {
        case json::Kind::object:
            if (value.size() == 0) out += "{}\n";
            value.members([&](std::string_view name, json::View member) {
                out += std::string(indent, ' ') + scalar(name) + ":";
                put_inner(member, indent, out);
            });
            break;
        case json::Kind::array:
            if (value.size() == 0) out += "[]\n";
            value.elements([&](json::View element) {
                auto const begin = out.size();
                put(element, is_block(element) ? indent + 2 : 0, out);
                if (is_block(element)) out.erase(begin, indent + 2);
                out.insert(begin, std::string(indent, ' ') + "- ");
            });
            break;
        case json::Kind::string: out += scalar(value.string_or("")) + "\n"; break;
        default: out += std::string(value.raw()) + "\n";
    }
}

std::string name_of(json::View object) {
    for (char const* const member : {"id", "pendingID", "sessionID", "name"}) {
        if (auto const id = object[member].string()) return escape_for_terminal(*id) + "\n";
    }
    return {};
}

}  // namespace

std::string yaml_text(json::View value) {
    std::string out;
    put(value, 0, out);
    return out;
}

std::string names_text(json::View value) {
    json::View const items = value["items"];
    if (items.kind() != json::Kind::array) return name_of(value);
    std::string out;
    items.elements([&](json::View item) { out += name_of(item); });
    return out;
}

}  // namespace dormouse::cli
