#include "config/parts.h"

#include <filesystem>
#include <utility>

namespace dormouse::config {

namespace {

constexpr std::uint32_t quorum_max = 1'000;

// The keys that only a provider behind a network has.
void check_kind(Section const& section, ModelKind kind) {
    if (kind != ModelKind::scripted) {
        section.require("model", "add the provider's name of the model");
        return;
    }
    for (std::string_view const name :
         {"model", "base_url", "api_key_env", "timeout", "retries", "max_output_tokens",
          "context_tokens", "images", "files", "headers", "extra"}) {
        section.forbid(name, "has no meaning for kind \"scripted\", which asks nobody");
    }
}

std::optional<session::Join> join_of(Node const& node) {
    if (auto const* const word = node.get<std::string>()) {
        if (*word == "all") return session::Join{};
        if (*word == "each") return session::Join{.n = 1, .cancel_rest = false};
        if (*word == "any") return session::Join{.n = 1, .cancel_rest = true};
        return std::nullopt;
    }
    auto const* const table = node.get<Node::Table>();
    if (table == nullptr || table->size() != 1 || table->front().name != "quorum") {
        return std::nullopt;
    }
    auto const* const n = table->front().node.get<std::int64_t>();
    if (n == nullptr || *n < 1 || *n > quorum_max) return std::nullopt;
    return session::Join{.n = static_cast<std::uint32_t>(*n), .cancel_rest = false};
}

}  // namespace

std::string_view text(ModelKind kind) {
    constexpr std::string_view words[] = {"scripted",  "openai-chat", "openai-responses",
                                          "anthropic", "gemini",      "ollama"};
    return words[static_cast<std::size_t>(kind)];
}

Model read_model(Section const& section, Reading const& reading) {
    Model out;
    out.line = section.line();
    section.read("id", out.id);
    section.read("model", out.model);
    section.read("base_url", out.base_url);
    section.read("timeout", out.timeout);
    section.read("retries", out.retries);
    section.read("max_output_tokens", out.max_output_tokens);
    section.read("context_tokens", out.context_tokens);
    section.read("images", out.images);
    section.read("files", out.files);
    section.read("concurrency", out.concurrency);
    out.api_key = read_secret(section, "api_key_env", reading);
    out.headers = read_headers(section, reading);
    if (Node const* const extra = section.node("extra")) {
        auto json = to_json(*extra);
        if (json) {
            out.extra = std::move(*json);
        } else {
            section.report("extra", json.error(), "write only what JSON has");
        }
    }
    if (auto const kind = section.word("kind")) {
        out.kind = static_cast<ModelKind>(*kind);
        check_kind(section, out.kind);
    }
    return out;
}

namespace {

// `~` is the home directory; what is no absolute path is seen from the file's folder.
std::string root_of(Reading const& reading, std::string root) {
    if (root == "~" || root.starts_with("~/"))
        root = reading.world.variable("HOME").value_or("") + root.substr(1);
    return (std::filesystem::path(reading.folder) / root).lexically_normal().string();
}

Json read_options(Section const& section) {
    Node const* const node = section.node("session_options");
    if (!node) return {};
    for (Member const& member : *node->get<Node::Table>()) {
        if (!member.node.get<std::string>() && !member.node.get<bool>())
            section.report("session_options",
                           "sets " + shown(member.name) + " to what no option can be",
                           "write a text, true or false");
    }
    return to_json(*node).value_or(Json());
}

AgentProgram read_program(Section const& section, Reading const& reading) {
    AgentProgram out;
    section.read("acp", out.command);
    section.read("roots", out.roots);
    section.read("env_allow", out.env_allow);
    section.read("idle_stop", out.idle_stop);
    section.read("history_tokens", out.history_tokens);
    if (auto const word = section.word("on_restart"))
        out.on_restart = static_cast<session::OnRestart>(*word);
    section.read("auth_method", out.auth_method);
    section.read("session_mode", out.mode);
    out.options = read_options(section);
    if (auto const word = section.word("files")) out.files = static_cast<ProgramFiles>(*word);
    section.read("terminals", out.terminals);
    out.sandbox = section.word("sandbox").value_or(0) == 1;
    section.read("run_as", out.run_as);
    for (std::string& root : out.roots) {
        root = root_of(reading, std::move(root));
        if (!reading.world.is_folder(root))
            section.report("roots", "names no folder: " + root, "make it, or name another one");
    }
    if (section.node("acp") && (out.command.empty() || out.command.front().empty()))
        section.report("acp", "names no program", "write for example [\"opencode\", \"acp\"]");
    for (std::string const& name : out.env_allow) {
        if (name.starts_with("DORMOUSE_"))
            section.report("env_allow", "names " + name + ", which no agent gets", "leave it out");
    }
    for (std::string_view const name :
         {"model", "instructions", "join", "tool_concurrency", "step_limit"})
        section.forbid(name, "has no meaning for a program (acp), which has its own");
    return out;
}

}  // namespace

Agent read_agent(Section const& section, Reading const& reading) {
    Agent out;
    out.line = section.line();
    if (section.given("acp")) {
        out.program = read_program(section, reading);
    } else {
        section.require("model", "name a [[model]], or a program with acp");
        for (std::string_view const name :
             {"roots", "env_allow", "on_restart", "auth_method", "session_mode", "session_options",
              "files", "terminals", "sandbox", "run_as", "idle_stop", "history_tokens"})
            section.forbid(name, "has a meaning for programs (acp) only");
    }
    out.line = section.line();
    section.read("id", out.id);
    section.read("description", out.description);
    section.read("model", out.model);
    section.read("instructions", out.instructions);
    section.read("tools", out.tools);
    section.read("tool_concurrency", out.tool_concurrency);
    section.read("step_limit", out.step_limit);
    if (Node const* const node = section.node("join"); node && out.program.command.empty()) {
        if (auto const join = join_of(*node)) {
            out.join = *join;
        } else {
            section.report("join", "is none of its values",
                           "write \"all\", \"each\", \"any\" or { quorum = 2 } with a number from "
                           "1 to 1000");
        }
    }
    return out;
}

}  // namespace dormouse::config
