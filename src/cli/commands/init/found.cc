#include "cli/commands/init/found.h"

#include "base/text/chars.h"
#include "base/text/cut.h"
#include "base/text/text.h"
#include "cli/client/saved/known_agents.h"
#include "json/json.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr std::uintmax_t settings_bytes_max = std::uintmax_t{4} << 20;
constexpr std::size_t servers_max = 20;
constexpr std::size_t skipped_max = 20;
constexpr std::size_t name_bytes_max = 100;

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

std::string without_quotes(std::string_view text) {
    constexpr std::string_view quotes = "\"'";
    while (!text.empty() && quotes.contains(text.front())) text.remove_prefix(1);
    while (!text.empty() && quotes.contains(text.back())) text.remove_suffix(1);
    return std::string(text);
}

bool is_port(std::string_view text) {
    auto const number = parse_number(text);
    return number && *number <= 65'535;
}

// Where Ollama's programs look for its server: $OLLAMA_HOST is HOST, HOST:PORT, :PORT or a URL, in
// blanks and quotes or not, and 0.0.0.0 if its server listens everywhere. A URL without a port
// means the port of its scheme. A password in it goes into no file and no message.
std::string ollama_url(std::string const& variable) {
    std::string host = without_quotes(trimmed(variable));
    std::string scheme = "http://";
    std::string port = "11434";
    for (auto const& [known, default_port] :
         {std::pair{"http://", "80"}, std::pair{"https://", "443"}}) {
        if (!host.starts_with(known)) continue;
        scheme = known;
        port = default_port;
        host.erase(0, scheme.size());
        break;
    }
    host.erase(std::min(host.find('/'), host.size()));
    if (auto const at = host.rfind('@'); at != host.npos) host.erase(0, at + 1);
    bool const bare = !host.starts_with('[') && std::ranges::count(host, ':') > 1;  // IPv6
    if (bare) host = "[" + host + "]";
    auto const colon = host.find(':', host.rfind(']') == host.npos ? 0 : host.rfind(']'));
    if (colon != host.npos && is_port(host.substr(colon + 1))) port = host.substr(colon + 1);
    host.erase(std::min(colon, host.size()));
    if (host.empty() || host == "0.0.0.0" || host == "[::]") host = "127.0.0.1";
    return scheme + host + ":" + port;
}

// Models of other uses cannot answer.
bool can_chat(std::string_view model) {
    return !model.empty() && model.size() <= name_bytes_max && !model.contains("embed");
}

// Ollama stores a file for each model: …/library/NAME/TAG. The tag "latest" need not be named.
std::vector<std::string> stored_models(std::filesystem::path const& models) {
    std::vector<std::string> out;
    std::error_code error;
    auto const library = models / "manifests/registry.ollama.ai/library";
    using Files = std::filesystem::recursive_directory_iterator;
    for (Files at(library, error), end; !error && at != end; at.increment(error)) {
        if (at.depth() != 1) continue;
        std::string name = at->path().parent_path().filename();
        std::string const tag = at->path().filename();
        if (!can_chat(name)) continue;
        if (tag != "latest") name.append(":").append(tag);
        out.push_back(std::move(name));
    }
    std::ranges::sort(out);
    return out;
}

// Returns the models that the server lists, the last changed first; nullopt if none answers.
std::optional<std::vector<std::string>> served_models(Machine const& machine,
                                                      std::string const& url) {
    auto const tags = machine.ollama_tags(url);
    if (!tags || !json::View(*tags)["models"].exists()) return std::nullopt;
    std::vector<std::string> out;
    json::View(*tags)["models"].elements([&](json::View one) {
        auto const name = one["name"].string_or("");
        if (can_chat(name)) out.push_back(name);
    });
    return out;
}

void add_ollama(Machine const& machine, Installed& out) {
    auto const host = machine.variable("OLLAMA_HOST");
    auto const url = ollama_url(host);
    auto models = served_models(machine, url);
    bool const named = url != ollama_url("");
    if (!models && named) {
        out.skipped.push_back({"Ollama at " + url, "no server answers there"});
        return;
    }
    if (!models && !in_path(machine.variable("PATH"), "ollama")) return;
    if (!models) {
        models = stored_models(machine.home + "/.ollama/models");
        if (models->empty()) models = stored_models("/usr/share/ollama/.ollama/models");
    }
    if (models->empty())
        out.skipped.push_back({"Ollama", "it has no model; add one: ollama pull qwen3"});
    else
        out.models.push_back({"ollama", models->front(), {}, named ? url : std::string()});
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

// Returns why the server cannot be a [[mcp]]; empty: it can.
std::string why_skipped(FoundServer const& server, Installed const& found) {
    if (!is_word(server.name))
        return "a name of [[mcp]] has up to 32 of a-z, 0-9, _ and -; add it under another one";
    if (server.command.empty() && server.url.empty()) return "it has no command and no URL";
    if (found.servers.size() == servers_max)
        return "at most " + std::to_string(servers_max) + " are written";
    return {};
}

// `servers`: an object of them, by name, in this file. The first of a name counts.
void add_servers(json::View servers, std::string const& file, Installed& out) {
    servers.members([&](std::string_view name, json::View view) {
        auto const known = std::ranges::find(out.servers, name, &FoundServer::name);
        if (known != out.servers.end()) return;
        auto server = server_in(name, view, file);
        if (auto const why = why_skipped(server, out); why.empty())
            out.servers.push_back(std::move(server));
        else if (out.skipped.size() < skipped_max)
            out.skipped.push_back({"MCP server " + server.name + " (" + file + ")", why});
    });
}

// Claude Code keeps those of one folder beside those of all.
void add_servers_of_claude(Machine const& machine, Installed& out) {
    auto const file = machine.home + "/.claude.json";
    Json const settings = settings_in(file);
    json::View const all(settings);
    add_servers(all["projects"][machine.folder]["mcpServers"], file, out);
    auto const shared = machine.folder + "/.mcp.json";
    Json const of_folder = settings_in(shared);
    add_servers(json::View(of_folder)["mcpServers"], shared, out);
    add_servers(all["mcpServers"], file, out);
}

void add_servers(std::filesystem::path const& file, std::string_view member, Installed& out) {
    Json const settings = settings_in(file);
    add_servers(json::View(settings)[member], file.string(), out);
}

}  // namespace

Installed look_around(Machine const& machine) {
    Installed out;
    for (Provider const& one : providers)
        if (!machine.variable(one.variable).empty())
            out.models.push_back({one.kind, one.model, one.variable});
    auto const path = machine.variable("PATH");
    add_ollama(machine, out);
    for (KnownAgent const& agent : known_agents)
        if (in_path(path, agent.id)) out.agents.emplace_back(agent.id);
    add_servers_of_claude(machine, out);
    add_servers(machine.home + "/.gemini/settings.json", "mcpServers", out);
    add_servers(machine.home + "/.config/opencode/opencode.json", "mcp", out);
    return out;
}

}  // namespace dormouse::cli
