#include "config/parts.h"

namespace dormouse::config {

namespace {

constexpr std::size_t conditions_max = 16;

std::optional<std::string> text_of(Node const& node) {
    if (auto const* const text = node.get<std::string>()) return *text;
    if (auto const* const number = node.get<std::int64_t>()) return std::to_string(*number);
    if (auto const* const flag = node.get<bool>()) return *flag ? "true" : "false";
    return std::nullopt;
}

void read_when(Section const& section, Source& out) {
    Node const* const node = section.node("when");
    if (node == nullptr) return;
    for (Member const& member : *node->get<Node::Table>()) {
        auto const text = text_of(member.node);
        if (!text || !member.name.starts_with('/') || out.when.size() == conditions_max) {
            section.report("when", "has " + shown(member.name) + ", which is no condition",
                           "write at most 16, like { \"/action\" = \"completed\" }");
            return;
        }
        out.when.emplace_back(member.name, *text);
    }
}

}  // namespace

Source read_source(Section const& section, Reading const& reading) {
    Source out;
    out.line = section.line();
    section.read("id", out.id);
    section.read("project", out.project);
    section.read("tools", out.tools);
    section.read("pending", out.pending);
    section.read("external_ref", out.external_ref);
    section.read("output", out.output);
    section.read("error", out.error);
    section.read("title", out.title);
    if (auto const kind = section.word("kind")) out.kind = static_cast<SourceKind>(*kind);
    std::vector<std::string> variables;
    section.read("secrets_env", variables);
    for (std::string const& name : variables) {
        if (auto value = reading.world.variable(name))
            out.secrets.push_back({name, *std::move(value)});
    }
    read_when(section, out);
    return out;
}

}  // namespace dormouse::config
