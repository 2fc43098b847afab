#include "app/start/configuration.h"

#include "agent/demo.h"
#include "io/process/service_manager.h"

#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace dormouse::app {

namespace {

// An empty variable counts as not set.
std::optional<std::string> variable(std::string const& name) {
    auto value = io::variable_now(name);
    return value && !value->empty() ? value : std::nullopt;
}

Result<std::string> read_file(std::string const& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return fail(Code::bad_value, "it is a folder");
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(Code::not_found, std::strerror(errno));
    std::string text(config::file_bytes_max + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return fail(Code::internal, std::strerror(errno));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > config::file_bytes_max) return fail(Code::too_large, "it is over 1 MiB");
    return text;
}

bool is_folder(std::string const& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
}

bool can_run(std::string const& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

bool is_program(std::string const& program) {
    if (program.contains('/')) return can_run(program);
    std::string const path = variable("PATH").value_or("/usr/bin:/bin");
    for (std::size_t at = 0; at <= path.size();) {
        std::size_t const end = std::min(path.find(':', at), path.size());
        if (end > at && can_run(path.substr(at, end - at) + "/" + program)) return true;
        at = end + 1;
    }
    return false;
}

std::vector<std::string> tool_names(agent::Registry const& registry) {
    std::vector<std::string> out;
    for (agent::Tool const& tool : registry.tools()) out.push_back(tool.name);
    return out;
}

}  // namespace

config::Environment config_environment() {
    config::Environment environment;
    environment.variable = variable;
    environment.read_file = read_file;
    environment.is_folder = is_folder;
    environment.is_program = is_program;
    std::error_code error;
    auto const here = std::filesystem::current_path(error);
    if (!error) environment.current_folder = here.string();
    agent::Registry builtin;
    agent::add_builtin_tools(builtin);
    environment.builtin_tools = tool_names(builtin);
    agent::Registry demo;
    agent::add_demo_agents(demo);
    for (std::string const& name : tool_names(demo)) {
        if (!builtin.tool(name)) environment.demo_tools.push_back(name);
    }
    for (agent::Agent const& agent : demo.agents()) environment.demo_agents.push_back(agent.id);
    return environment;
}

namespace {

Mistakes unreadable(std::string const& file, Error const& error) {
    return Mistakes{file + ": cannot be read: " + error.detail +
                    "; name another file, or write one: dormouse config init"};
}

std::string beside_file(std::string const& file, std::string const& folder) {
    return folder.empty() ? folder : (std::filesystem::path(file).parent_path() / folder).string();
}

std::expected<config::Config, Mistakes> config_of(std::string const& file,
                                                  Result<std::string> const& text) {
    if (!text) return std::unexpected(unreadable(file, text.error()));
    auto config = config::read_config(file, *text, config_environment());
    if (config) return *std::move(config);
    Mistakes out;
    for (config::Problem const& problem : config.error()) {
        out.push_back(config::line_of(file, problem));
    }
    return std::unexpected(std::move(out));
}

}  // namespace

std::string secrets_folder(config::Config const& config) {
    return beside_file(config.file, config.server.secrets_dir);
}

std::expected<config::Config, Mistakes> load_config(std::string const& file) {
    return file.empty() ? config::Config{} : config_of(file, read_file(file));
}

std::expected<config::Config, Mistakes> first_config(std::string const& file) {
    if (file.empty()) return config::Config{};
    auto const text = read_file(file);
    auto const folder = beside_file(file, text ? config::secrets_dir_of(*text) : std::string());
    if (!folder.empty())
        if (auto const taken = io::take_secrets(folder); !taken)
            return std::unexpected(
                Mistakes{file + ": [server] secrets_dir: " + taken.error().detail});
    return config_of(file, text);
}

}  // namespace dormouse::app
