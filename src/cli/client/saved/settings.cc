#include "cli/client/saved/settings.h"

#include "base/text/cut.h"
#include "base/text/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace dormouse::cli {
namespace {

std::string variable(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> lines_of(std::filesystem::path const& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

constexpr std::size_t remembered_max = 64;  // servers

// The data directory holds the token: only its owner may read it.
void make_private_folder(std::filesystem::path const& path) {
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    ::mkdir(path.c_str(), 0700);
}

bool write_private(std::string const& path, std::string_view text) {
    int const fd =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool const written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    return written;
}

}  // namespace

Environment environment() {
    return {.home = variable("HOME"),
            .xdg_data_home = variable("XDG_DATA_HOME"),
            .xdg_config_home = variable("XDG_CONFIG_HOME"),
            .config = variable("DORMOUSE_CONFIG"),
            .token = variable("DORMOUSE_TOKEN"),
            .url = variable("DORMOUSE_URL"),
            .no_color = variable("NO_COLOR"),
            .term = variable("TERM"),
            .browser = variable("BROWSER"),
            .display = variable("DISPLAY"),
            .wayland_display = variable("WAYLAND_DISPLAY"),
            .claude_config_dir = variable("CLAUDE_CONFIG_DIR"),
            .codex_home = variable("CODEX_HOME"),
            .gemini_cli_home = variable("GEMINI_CLI_HOME")};
}

std::string data_directory(Global const& global, Environment const& env) {
    if (!global.data.empty()) return global.data;
    if (!env.xdg_data_home.empty()) return env.xdg_data_home + "/dormouse";
    if (!env.home.empty()) return env.home + "/.local/share/dormouse";
    return {};
}

Outcome<std::string> needed_data_directory(Global const& global, Environment const& env) {
    auto directory = data_directory(global, env);
    if (!directory.empty()) return directory;
    return failure(status::usage, "no data directory: HOME and XDG_DATA_HOME are empty",
                   "Name one: --data DIR.");
}

Outcome<std::string> data_directory_unless(bool elsewhere, Global const& global,
                                           Environment const& env) {
    if (elsewhere) return data_directory(global, env);
    return needed_data_directory(global, env);
}

std::string own_config(Environment const& env) {
    constexpr auto name = "/dormouse/dormouse.toml";
    if (!env.xdg_config_home.empty()) return env.xdg_config_home + name;
    return env.home.empty() ? std::string() : env.home + "/.config" + name;
}

std::vector<ConfigPlace> config_places(std::string const& flag, Environment const& env) {
    if (!flag.empty()) return {{flag, "--config", true}};
    if (!env.config.empty()) return {{env.config, "$DORMOUSE_CONFIG", true}};
    std::vector<ConfigPlace> out;
    if (auto own = own_config(env); !own.empty()) {
        out.push_back(
            {std::move(own), env.xdg_config_home.empty() ? "$HOME" : "$XDG_CONFIG_HOME", false});
    }
    out.push_back({"/etc/dormouse/dormouse.toml", "the system", false});
    return out;
}

std::string find_config(std::vector<ConfigPlace> const& places) {
    for (ConfigPlace const& place : places) {
        std::error_code ignored;
        if (place.named || std::filesystem::exists(place.path, ignored)) return place.path;
    }
    return {};
}

std::string server_url(Global const& global, Environment const& env) {
    if (!global.server.empty()) return global.server;
    if (!env.url.empty() && global.context.empty()) return env.url;
    if (!global.login.url.empty()) return global.login.url;
    auto const directory = data_directory(global, env);
    auto const recorded =
        directory.empty() ? std::vector<std::string>() : lines_of(directory + "/url");
    return recorded.empty() || recorded.front().empty() ? "http://127.0.0.1:3676"
                                                        : recorded.front();
}

std::string token(Global const& global, Environment const& env) {
    if (!global.login.token.empty()) return global.login.token;
    if (!env.token.empty()) return env.token;
    auto const directory = data_directory(global, env);
    if (directory.empty()) return {};
    auto const lines = lines_of(directory + "/token");
    return lines.empty() ? std::string() : std::string(trimmed(lines.front()));
}

std::string repeated_flags(Global const& global) {
    std::string out;
    if (!global.server.empty()) out += " --server " + shell_word(global.server);
    if (!global.data.empty()) out += " --data " + shell_word(global.data);
    if (!global.context.empty()) out += " --context " + shell_word(global.context);
    return out;
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
    if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
        return std::string(text);
    }
    std::string out = "'";
    for (char const c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

// Atomic, also when two commands end at the same time.
void replace_private(std::string const& directory, std::string const& name,
                     std::string_view content) {
    make_private_folder(directory);
    auto const path = directory + "/" + name;
    auto const fresh = path + "." + std::to_string(::getpid());
    std::error_code ignored;
    if (write_private(fresh, content)) std::filesystem::rename(fresh, path, ignored);
    std::filesystem::remove(fresh, ignored);
}

std::string last_session(std::string const& directory, std::string const& url) {
    if (directory.empty()) return {};
    for (auto const& line : lines_of(directory + "/last-session")) {
        auto const space = line.rfind(' ');
        if (space != std::string::npos && line.substr(0, space) == url)
            return line.substr(space + 1);
    }
    return {};
}

void remember_session(std::string const& directory, std::string const& url,
                      std::string const& session) {
    bool const one_line = (url + session).find_first_of("\r\n") == std::string::npos;
    if (directory.empty() || session.empty() || !one_line) return;
    auto const path = directory + "/last-session";
    std::string kept = url + " " + session + "\n";
    std::size_t count = 1;
    for (auto const& line : lines_of(path)) {
        if (line.starts_with(url + " ") || count == remembered_max) continue;
        kept += line + "\n";
        ++count;
    }
    replace_private(directory, "last-session", kept);
}

}  // namespace dormouse::cli
