#include "cli/commands/init/first_config.h"

#include "base/text/text.h"
#include "cli/client/saved/settings.h"
#include "json/json.h"

namespace dormouse::cli {
namespace {

// A TOML string without control characters is a JSON string.
std::string toml_text(std::string_view text) { return json::quote(text); }

std::string model_text(FoundModel const& model, std::string_view id) {
    std::string out = "[[model]]\nid = " + toml_text(id) + "\nkind = " + toml_text(model.kind) +
                      "\nmodel = " + toml_text(model.model) + "\n";
    if (!model.api_key_env.empty())
        out +=
            "api_key_env = " + toml_text(model.api_key_env) + "  # the variable, never the key\n";
    if (!model.base_url.empty()) out += "base_url = " + toml_text(model.base_url) + "\n";
    if (model.kind == "anthropic") out += "max_output_tokens = 8192\n";
    return out;
}

std::string commented(std::string const& text) {
    std::string out = "#";
    for (std::size_t i = 0; i < text.size(); ++i) {
        out += text[i];
        if (text[i] == '\n' && i + 1 < text.size()) out += '#';
    }
    return out;
}

std::string server_text(FoundServer const& server) {
    std::string out = "[[mcp]]\nname = " + toml_text(server.name) + "\n";
    if (server.command.empty()) return out + "url = " + toml_text(server.url) + "\n";
    out += "command = [";
    for (std::string const& word : server.command)
        out += (&word == &server.command.front() ? "" : ", ") + toml_text(word);
    return out + "]\n";
}

}  // namespace

std::string first_config(Choices const& choices, Installed const& found, std::string const& file) {
    std::string out =
        "# Written by `dormouse init`. Every key: dormouse config keys. After a change:\n"
        "# dormouse config check" +
        (file.empty() ? "" : " " + escape_for_terminal(shell_word(file))) + "\n\n";
    if (choices.model) {
        out += model_text(*choices.model, "main");
    } else {
        out +=
            "# No model was found. This one calls the tool that a prompt names, and needs no "
            "key.\n[[model]]\nid = \"main\"\nkind = \"scripted\"\n";
    }
    int number = 2;
    for (FoundModel const& model : found.models) {
        if (choices.model && model.kind == choices.model->kind) continue;
        out += "\n" + commented(model_text(model, "other" + std::to_string(number++)));
    }
    out +=
        "\n[[agent]]\nid = \"assistant\"\nmodel = \"main\"\n"
        "instructions = \"Deploy what people name. Be brief.\"\ntools = [\"deploy\"]\n";
    for (std::string const& agent : found.agents)
        out += "# " + agent + " is installed, and is an agent without an entry here.\n";
    out +=
        "\n# A program: arguments as JSON on its standard input, result on its standard output.\n"
        "[[tool]]\nname = \"deploy\"\nkind = \"command\"\n"
        "description = \"Deploys a target. Arguments: {target: its name}.\"\n"
        "command = [\"./" +
        std::string(example_tool) +
        "\"]\n"
        "crash = \"never\"  # after a crash it is not run again: the model gets an unknown "
        "outcome\n"
        "time_limit = \"30s\"\nenv_allow = [\"PATH\"]\n";
    std::string const gate = "[[gate]]\ntools = [\"deploy\"]\nask = \"Deploy {input.target}?\"\n";
    out += "\n# A person approves before it runs: dormouse pending, then dormouse approve ID.\n" +
           (choices.approve ? gate : commented(gate));
    if (!found.servers.empty())
        out +=
            "\n# MCP servers that other programs use here. Agents name their tools "
            "mcp:NAME:*. Their secrets\n# are variables in env_allow.\n";
    for (FoundServer const& server : found.servers) out += commented(server_text(server));
    return out;
}

std::string example_tool_text() {
    return "#!/bin/sh\n"
           "# A tool of Dormouse: arguments as JSON on standard input, result on standard output.\n"
           "arguments=$(cat)\n"
           "echo \"would deploy $arguments: edit this script to do it\"\n";
}

}  // namespace dormouse::cli
