#include "config/node.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>

namespace dormouse::config {

namespace {

Node convert(toml::node const& from);

Node::Array convert_array(toml::array const& from) {
    Node::Array out;
    for (toml::node const& element : from) out.push_back(convert(element));
    return out;
}

// The library sorts by name; this restores the order of the file.
Node::Table convert_table(toml::table const& from) {
    std::vector<std::pair<toml::source_position, Member>> members;
    for (auto const& [key, node] : from) {
        members.push_back({key.source().begin,
                           {std::string(key.str()),
                            static_cast<std::uint32_t>(key.source().begin.line), convert(node)}});
    }
    std::ranges::stable_sort(members,
                             [](auto const& a, auto const& b) { return a.first < b.first; });
    Node::Table out;
    for (auto& [position, member] : members) out.push_back(std::move(member));
    return out;
}

Node convert(toml::node const& from) {
    Node out;
    out.line = static_cast<std::uint32_t>(from.source().begin.line);
    switch (from.type()) {
        case toml::node_type::boolean: out.value = **from.as_boolean(); break;
        case toml::node_type::integer: out.value = **from.as_integer(); break;
        case toml::node_type::floating_point: out.value = **from.as_floating_point(); break;
        case toml::node_type::string: out.value = std::string(**from.as_string()); break;
        case toml::node_type::array: out.value = convert_array(*from.as_array()); break;
        case toml::node_type::table: out.value = convert_table(*from.as_table()); break;
        default: out.value = Node::Other{"a date or time"}; break;
    }
    return out;
}

}  // namespace

std::string_view Node::kind() const {
    constexpr std::string_view names[] = {
        "true or false", "a whole number", "a number with a point",
        "a string",      "a list",         "a table"};
    if (auto const* const other = get<Other>()) return other->what;
    return names[value.index()];
}

Node const* find(Node::Table const& table, std::string_view name) {
    auto const at = std::ranges::find(table, name, &Member::name);
    return at == table.end() ? nullptr : &at->node;
}

std::expected<Node, Problem> parse_toml(std::string_view text) {
    toml::parse_result const parsed = toml::parse(text);
    if (!parsed) {
        auto const& error = parsed.error();
        return std::unexpected(
            Problem{static_cast<std::uint32_t>(error.source().begin.line),
                    "this is not TOML: " + std::string(error.description()) +
                        "; correct the line, or look at an example: dormouse config init"});
    }
    return convert(parsed.table());
}

}  // namespace dormouse::config
