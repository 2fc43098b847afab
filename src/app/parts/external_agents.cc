#include "app/parts/external_agents.h"

#include "app/parts/foreign_servers.h"

#include "acp/external_agents.h"
#include "app/parts/stores.h"
#include "app/parts/tools.h"
#include "app/start/confine.h"
#include "base/text/text.h"
#include "cli/client/saved/known_agents.h"
#include "config/read.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace dormouse::app {

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// The preset of an external agent with a known name.
struct Preset {
    std::string_view id;
    Names programs;   // the first one found is used
    Names arguments;  // if the configuration names only the preset
    Names folders;    // where installers put it, besides PATH; relative to the home directory
    Names variables;  // passed on if they are set
    std::string_view password = {};  // variable with the password of its own HTTP port
    bool never_load = false;
    std::string_view description;
    bool has_screen = false;  // `attach URL` shows its screen; `--port` sets its port
    Names state;  // where it keeps sessions and settings; relative to the home directory
    std::string_view mode = {};  // the mode in which it asks for permissions, if that is not its
                                 // default
    bool says_version = true;    // has --version
};

std::array<Preset, 3> const& presets() {
    static std::array<Preset, 3> const all{
        Preset{"opencode",
               {"opencode"},
               {"acp", "--hostname", "127.0.0.1"},
               {".opencode/bin", ".local/bin", ".bun/bin", ".npm-global/bin"},
               {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY",
                "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT"},
               "OPENCODE_SERVER_PASSWORD",
               false,
               "opencode, an agent for code.",
               true,
               {".local/share/opencode", ".local/state/opencode", ".config/opencode",
                ".cache/opencode"}},
        Preset{"claude",
               {"claude-agent-acp", "claude-code-acp"},
               {},
               {".local/bin", ".npm-global/bin", ".claude/local/node_modules/.bin"},
               {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CONFIG_DIR"},
               {},
               false,
               "Claude Code, an agent for code.",
               false,
               {".claude", ".claude.json"},
               "default",
               false},
        Preset{"gemini",
               {"gemini"},
               {"--acp"},
               {".local/bin", ".npm-global/bin"},
               {"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"},
               {},
               true,
               "Gemini CLI, an agent for code.",
               false,
               {".gemini"}},
    };
    return all;
}

Preset const* preset_of(config::ExternalAgent const& external) {
    std::string const name = fs::path(external.command.front()).filename().string();
    for (Preset const& preset : presets()) {
        bool const named =
            name == preset.id || std::ranges::find(preset.programs, name) != preset.programs.end();
        if (named) return &preset;
    }
    return nullptr;
}

std::string value_of(char const* name) {
    char const* const value = std::getenv(name);
    return value ? value : "";
}

bool is_runnable(fs::path const& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

Names folders_of(Preset const* preset) {
    Names out;
    std::string const path = value_of("PATH");
    for (std::size_t at = 0; at <= path.size();) {
        std::size_t const end = std::min(path.find(':', at), path.size());
        if (end > at) out.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    std::string const home = value_of("HOME");
    if (!preset || home.empty()) return out;
    for (std::string const& folder : preset->folders)
        out.push_back(std::string(home).append("/").append(folder));
    return out;
}

// Why no program can be run.
std::string missing(std::string const& name, Preset const* preset) {
    std::error_code ignored;
    if (name.contains('/') && fs::is_directory(name, ignored))
        return "The program " + name + " is a folder.";
    Names places{name};
    if (!name.contains('/')) {
        places.clear();
        for (std::string const& folder : folders_of(preset))
            places.push_back((fs::path(folder) / name).string());
    }
    for (std::string const& place : places) {
        if (fs::is_regular_file(place, ignored))
            return "The program " + place +
                   " is not executable; make it so (chmod +x), or name another.";
    }
    if (name.contains('/')) return "There is no program " + name + "; install it, or name another.";
    return "There is no program " + name +
           " in PATH, nor where its installer puts it; install it, or name it by its path.";
}

// Empty: not found.
std::string find_program(std::string const& name, Preset const* preset) {
    if (name.contains('/')) return is_runnable(name) ? name : "";
    for (std::string const& folder : folders_of(preset)) {
        if (is_runnable(fs::path(folder) / name)) return (fs::path(folder) / name).string();
    }
    return "";
}

std::string find_first(Names const& names, Preset const* preset) {
    for (std::string const& name : names) {
        if (auto path = find_program(name, preset); !path.empty()) return path;
    }
    return "";
}

void add_variables(acp::Settings& out, config::ExternalAgent const& external,
                   Preset const* preset) {
    out.environment = base_environment();
    for (char const* const name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
                                   "XDG_STATE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"}) {
        if (std::string const value = value_of(name); !value.empty())
            out.environment.push_back(std::string(name) + "=" + value);
    }
    out.environment.emplace_back("TERM=dumb");
    Names names = external.env_allow;
    if (preset) names.insert(names.end(), preset->variables.begin(), preset->variables.end());
    std::ranges::sort(names);
    auto const [repeats, end] = std::ranges::unique(names);
    names.erase(repeats, end);
    for (std::string const& name : names) {
        std::string const value = value_of(name.c_str());
        if (value.empty()) {
            out.wants.push_back(name);
        } else {
            out.environment.push_back(std::string(name).append("=").append(value));
            out.secrets.push_back(value);
        }
    }
}

// Follows the variables that are passed on.
Names state_of(Preset const* preset) {
    Names out = preset ? preset->state : Names{};
    for (std::string& name : out) {
        for (auto const& [folder, variable] : {std::pair(".local/share", "XDG_DATA_HOME"),
                                               {".local/state", "XDG_STATE_HOME"},
                                               {".config", "XDG_CONFIG_HOME"},
                                               {".cache", "XDG_CACHE_HOME"},
                                               {".claude", "CLAUDE_CONFIG_DIR"}}) {
            std::string const value = value_of(variable);
            bool const its = name == folder || name.starts_with(std::string(folder) + "/");
            if (!value.empty() && its) name.replace(0, std::string_view(folder).size(), value);
        }
    }
    return out;
}

Names roots_of(config::ExternalAgent const& external, std::string const& folder) {
    return external.roots.empty() ? Names{folder} : external.roots;
}

// Returns the path that a confined program must not reach through its folder. Without a sandbox and
// as the server's user it can reach it anyway.
std::string kept_from(config::ExternalAgent const& external, std::string const& data) {
    return external.sandbox || !external.run_as.empty() ? data : std::string();
}

std::string overlap_text(std::string const& folder) {
    return "the data directory of the server and the folder " + folder +
           " lie in each other, and the agent must not reach it; name another folder";
}

// Resolves `cwd`, following links. It must be inside a root and not overlap `kept` (empty:
// nothing).
Result<std::string> folder_in(Names const& roots, std::string const& kept, std::string const& cwd) {
    fs::path const requested = cwd.empty() ? roots.front() : cwd;
    if (!requested.is_absolute())
        return fail(Code::bad_value, "must be an absolute path, and is " + cwd);
    std::error_code error;
    fs::path const real = fs::canonical(requested, error);
    if (error || !fs::is_directory(real, error))
        return fail(Code::bad_value, "is not a folder: " + requested.string());
    for (std::string const& root : roots) {
        fs::path const top = fs::canonical(root, error);
        if (error) continue;
        auto const [in_top, in_real] = std::ranges::mismatch(top, real);
        if (in_top != top.end()) continue;
        if (kept.empty() || !overlap(real.string(), kept)) return real.string();
        return fail(Code::bad_value, "cannot be used: " + overlap_text(real.string()));
    }
    return fail(Code::bad_value, "is outside of the agent's roots: " + requested.string() +
                                     "; add it to roots in its [[agent]]");
}

// A free port. If another process takes it in between, the program fails to listen and reports it.
std::uint16_t free_port() {
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return 0;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    bool const bound = ::bind(fd, at, size) == 0 && ::getsockname(fd, at, &size) == 0;
    ::close(fd);
    return bound ? ntohs(address.sin_port) : std::uint16_t{0};
}

// Sets how the program is confined.
void confine_to(acp::Settings& out, config::ExternalAgent const& external, Preset const* preset,
                ExternalContext const& around, ToolServices const& services) {
    Confinement how{.sandbox = external.sandbox,
                    .run_as = external.run_as,
                    .state = state_of(preset),
                    .hidden = services.hidden,
                    .others = around.roots,
                    .needed = out.argv};
    std::erase_if(how.needed, [](std::string const& word) { return !word.starts_with('/'); });
    auto confined = confine(std::move(how));
    if (!confined) {
        out.unavailable = confined.error().detail;
        return;
    }
    out.before = std::move(confined->before);
    for (auto const& [name, value] : confined->environment)
        acp::set_variable(out.environment, name, value);
}

void offer_files(acp::Settings& out, config::ExternalAgent const& external,
                 ToolServices const& services) {
    if (!services.folders || external.files == config::ExternalFiles::none) return;
    out.files = services.folders(external.run_as);
    out.reads_files = out.files;
    out.writes_files = out.files && external.files == config::ExternalFiles::write;
}

// Empty: not found.
std::string path_of(config::ExternalAgent const& external, Preset const* preset) {
    std::string const& named = external.command.front();
    bool const any = preset && external.command.size() == 1 && named == preset->id;
    return any ? find_first(preset->programs, preset) : find_program(named, preset);
}

acp::Probe probe_of(Preset const& preset) {
    auto const* const known = std::ranges::find(cli::known_agents, preset.id, &cli::KnownAgent::id);
    bool const named = known != cli::known_agents.end();
    return {"--version", preset.says_version, named ? std::string(known->install) : ""};
}

// A warning for people who expect permission requests.
std::string not_asking_text(std::string const& gate, std::string const& mode) {
    if (gate.empty() || !asks_nobody(mode)) return {};
    return "its agent works in the mode \"" + mode +
           "\", in which it does not ask for every permission, so [[gate]] " + gate +
           " does not see actions for which the agent sends no permission request";
}

acp::Settings settings_of(config::Agent const& from, ExternalContext const& around,
                          ToolServices const& services) {
    config::ExternalAgent const& external = from.external;
    Preset const* const preset = preset_of(external);
    bool const alone = preset && external.command.size() == 1;
    acp::Settings out;
    out.agent = from.id;
    out.path = path_of(external, preset);
    if (out.path.empty()) out.unavailable = missing(external.command.front(), preset);
    out.argv.push_back(out.path);
    Names const& arguments = alone ? preset->arguments : external.command;
    out.argv.insert(out.argv.end(), arguments.begin() + (alone ? 0 : 1), arguments.end());
    add_variables(out, external, preset);
    confine_to(out, external, preset, around, services);
    if (preset) out.password_variable = preset->password;
    bool const own_port = std::ranges::any_of(
        out.argv, [](std::string const& word) { return word.starts_with("--port"); });
    if (preset && preset->has_screen && !own_port) {
        out.attach_command = {out.path, "attach"};
        out.free_port = free_port;
        out.http = &services.http;
    }
    if (preset) out.never_load = preset->never_load;
    if (external.shares_a_user()) out.only_project = around.project;
    out.folder = [roots = roots_of(external, around.folder),
                  kept = kept_from(external, services.hidden)](std::string const& cwd) {
        return folder_in(roots, kept, cwd);
    };
    out.random = [&entropy = services.entropy] { return base64url(entropy.random()); };
    out.mcp_servers = services.mcp_servers;
    out.ended = services.agent_ended;
    out.auth_method = external.auth_method;
    out.mode = external.mode;
    if (preset && out.mode.empty()) out.mode = preset->mode;
    out.mode_of_preset = external.mode.empty();
    out.not_asking = [gate = around.gate](std::string const& mode) {
        return not_asking_text(gate, mode);
    };
    out.warn = services.agent_warning;
    if (preset) out.probe = probe_of(*preset);
    out.options = external.options;
    offer_files(out, external, services);
    out.terminals = external.terminals;
    out.idle_stop = external.idle_stop;
    out.past_bytes = std::size_t{external.history_tokens} * 4;
    return out;
}

}  // namespace

ExternalContext external_context(config::Config const& config) {
    std::error_code ignored;
    fs::path const here = fs::current_path(ignored);
    ExternalContext out{
        config.file.empty() ? here.string() : fs::absolute(config.file).parent_path().string(),
        config::only_project(config),
        {},
        {}};
    if (auto const* const gate = gate_of_external_agents(config)) out.gate = gate->id;
    for (config::Agent const& agent : config.agents) {
        if (agent.external.command.empty()) continue;
        for (std::string& root : roots_of(agent.external, out.folder))
            out.roots.push_back(std::move(root));
    }
    std::ranges::sort(out.roots);
    auto const [repeats, end] = std::ranges::unique(out.roots);
    out.roots.erase(repeats, end);
    return out;
}

std::string folder_problem(config::ExternalAgent const& external, std::string const& folder,
                           std::string const& data) {
    std::string const kept = kept_from(external, data);
    std::string const own = roots_of(external, folder).front();
    return kept.empty() || !overlap(own, kept) ? std::string() : overlap_text(own);
}

agent::Agent make_external_agent(config::Agent const& from, ExternalContext const& around,
                                 ToolServices const& services) {
    return external_agent(from,
                          std::make_shared<acp::ExternalAgents>(settings_of(from, around, services),
                                                                services.processes, services.loop));
}

agent::Agent external_agent(config::Agent const& from,
                            std::shared_ptr<agent::ExternalAgent> external) {
    agent::Agent out;
    out.id = from.id;
    out.description = from.description;
    set_tools(out, from);  // through `dormouse mcp`
    out.terms.on_restart = from.external.on_restart;
    out.terms.digest = digest_text(sha256(from.external.command.front()));
    out.external = std::move(external);
    out.placed = !from.external.shared_folder;
    return out;
}

std::string external_problem(config::ExternalAgent const& external) {
    Preset const* const preset = preset_of(external);
    if (!path_of(external, preset).empty()) return {};
    return missing(external.command.front(), preset);
}

config::Gate const* gate_of_external_agents(config::Config const& config) {
    auto const of_external_agents = [](config::Gate const& gate) {
        return std::ranges::any_of(
            gate.tools, [](std::string const& tool) { return tool.starts_with("acp:"); });
    };
    auto const found = std::ranges::find_if(config.gates, of_external_agents);
    return found == config.gates.end() ? nullptr : &*found;
}

bool asks_nobody(std::string_view mode) {
    constexpr std::array<std::string_view, 8> modes{
        "auto", "acceptEdits", "bypassPermissions", "dontAsk",       // Claude Code
        "yolo", "autoEdit",    "auto-edit",         "full-access"};  // Gemini CLI, Qwen, Codex
    return std::ranges::find(modes, mode) != modes.end();
}

std::vector<config::Agent> installed_agents(config::Config const& config) {
    std::vector<config::Agent> out;
    if (config.projects.size() > 1 || shares_store(config)) return out;
    for (Preset const& preset : presets()) {
        if (find_first(preset.programs, &preset).empty()) continue;
        config::Agent agent;
        agent.id = preset.id;
        agent.description = preset.description;
        agent.external.command = {std::string(preset.id)};
        out.push_back(std::move(agent));
    }
    return out;
}

}  // namespace dormouse::app
