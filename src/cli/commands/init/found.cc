#include "cli/commands/init/found.h"

#include "base/text/chars.h"
#include "cli/client/saved/known_agents.h"
#include "json/json.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace dormouse::cli {
namespace {

constexpr std::uintmax_t settings_bytes_max = std::uintmax_t{4} << 20;
constexpr std::size_t servers_max = 20;

struct Provider {
    char const* variable;
    char const* kind;
    char const* model;
};
constexpr Provider providers[] = {
    {"ANTHROPIC_API_KEY", "anthropic", "claude-sonnet-4-5"},
    {"OPENAI_API_KEY", "openai-responses", "gpt-5-mini"},
    {"GEMINI_API_KEY", "gemini", "gemini-2.5-flash"},
};

bool in_path(std::string const& path, std::string_view program) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        auto const file = std::filesystem::path(folder) / program;
        std::error_code ignored;
        bool const runs = ::access(file.c_str(), X_OK) == 0;
        if (!folder.empty() && runs && std::filesystem::is_regular_file(file, ignored)) return true;
    }
    return false;
}

// Ollama stores one folder for each model: …/library/NAME/TAG.
std::string installed_model(std::string const& home) {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::path const library =
        home + "/.ollama/models/manifests/registry.ollama.ai/library";
    for (std::filesystem::directory_iterator at(library, error), end; !error && at != end;
         at.increment(error))
        names.push_back(at->path().filename());
    return names.empty() ? "qwen3" : std::ranges::min(names);
}

Json settings_in(std::filesystem::path const& file) {
    std::error_code error;
    auto const size = std::filesystem::file_size(file, error);
    if (error || size > settings_bytes_max) return Json::trusted("null");
    std::ifstream in(file, std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    auto parsed = json::check(text);
    return parsed ? *std::move(parsed) : Json::trusted("null");
}

FoundServer server_in(std::string_view name, json::View view, std::string const& file) {
    FoundServer out{.name = std::string(name), .command = {}, .url = {}, .file = file};
    json::View const command = view["command"];
    if (auto const program = command.string()) out.command.push_back(*program);
    command.elements([&](json::View one) { out.command.push_back(one.string_or("")); });
    view["args"].elements([&](json::View one) { out.command.push_back(one.string_or("")); });
    if (out.command.empty())
        out.url = view[view["httpUrl"].exists() ? "httpUrl" : "url"].string_or("");
    return out;
}

// The names of [[mcp]] are words.
bool is_word(std::string_view name) {
    return !name.empty() && name.size() <= 32 && std::ranges::all_of(name, [](char c) {
        return is_lower_letter(c) || is_digit(c) || c == '_' || c == '-';
    });
}

void add_servers(std::filesystem::path const& file, std::string_view member, Installed& out) {
    Json const settings = settings_in(file);
    json::View(settings)[member].members([&](std::string_view name, json::View view) {
        bool const known =
            std::ranges::find(out.servers, name, &FoundServer::name) != out.servers.end();
        if (known || !is_word(name) || out.servers.size() == servers_max) return;
        auto server = server_in(name, view, file);
        if (!server.command.empty() || !server.url.empty())
            out.servers.push_back(std::move(server));
    });
}

}  // namespace

Installed look_around(Machine const& machine) {
    Installed out;
    for (Provider const& one : providers)
        if (!machine.variable(one.variable).empty())
            out.models.push_back({one.kind, one.model, one.variable});
    auto const path = machine.variable("PATH");
    if (in_path(path, "ollama"))
        out.models.push_back({"ollama", installed_model(machine.home), {}});
    for (KnownAgent const& agent : known_agents)
        if (in_path(path, agent.id)) out.agents.emplace_back(agent.id);
    add_servers(machine.folder + "/.mcp.json", "mcpServers", out);
    add_servers(machine.home + "/.claude.json", "mcpServers", out);
    add_servers(machine.home + "/.gemini/settings.json", "mcpServers", out);
    add_servers(machine.home + "/.config/opencode/opencode.json", "mcp", out);
    return out;
}

}  // namespace dormouse::cli
