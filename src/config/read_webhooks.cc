#include "config/parts.h"

#include "base/text.h"
#include "session/event.h"

#include <algorithm>
#include <filesystem>

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

namespace {

void check_events(Section const& section, std::string_view key,
                  std::vector<std::string> const& types) {
    auto const known = session::event_types();
    for (std::string const& type : types) {
        if (std::ranges::find(known, type) != known.end()) continue;
        auto const near = nearest(type, known);
        section.report(key, "names " + shown(type) + ", and there is no such event",
                       near.empty() ? "see docs/reference/events.md"
                                    : "did you mean \"" + std::string(near) + "\"?");
    }
}

// A program with a slash in its name is seen from the file's folder.
void check_program(Section const& section, Reading const& reading,
                   std::vector<std::string>& command) {
    if (section.node("command") == nullptr) return;
    bool const named = !command.empty() && !command.front().empty();
    if (named && command.front().contains('/'))
        command.front() =
            (std::filesystem::path(reading.folder) / command.front()).lexically_normal().string();
    if (named && reading.world.is_program(command.front())) return;
    section.report("command", "names no program that can be run",
                   "write for example [\"./tell.sh\"], a file that may be executed");
}

}  // namespace

Webhook read_webhook(Section const& section, Reading const& reading) {
    Webhook out;
    out.line = section.line();
    section.read("url", out.url);
    section.read("events", out.events);
    section.read("project", out.project);
    out.secret = read_secret(section, "secret_env", reading);
    check_events(section, "events", out.events);
    return out;
}

Notify read_notify(Section const& section, Reading const& reading) {
    Notify out;
    out.line = section.line();
    section.read("on", out.on);
    section.read("command", out.command);
    out.url = read_secret(section, "url_env", reading);
    check_events(section, "on", out.on);
    std::vector<std::string> reasons;
    section.read("reasons", reasons);
    if (!reasons.empty()) out.reasons.clear();
    for (std::string const& word : reasons) {
        if (auto const reason = session::parse<session::PauseReason>(word)) {
            out.reasons.push_back(*reason);
        } else {
            section.report("reasons", "names " + shown(word) + ", which is no reason",
                           "write tool_result, user_input, approval, elicitation or handoff");
        }
    }
    check_program(section, reading, out.command);
    auto const kind = section.word("kind");
    if (!kind) return out;
    out.kind = static_cast<NotifyKind>(*kind);
    bool const program = out.kind == NotifyKind::command;
    program ? section.require("command", "add the program and its arguments")
            : section.require("url_env", "name the variable with the address");
    section.forbid(program ? "url_env" : "command", "is for another kind");
    return out;
}

}  // namespace dormouse::config
