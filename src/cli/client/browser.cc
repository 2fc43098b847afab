#include "cli/client/browser.h"

#include "base/url.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>
#include <filesystem>
#include <ranges>
#include <string_view>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr std::string_view address_mark = "%s";

std::vector<std::string> command_words(std::string_view text) {
    std::vector<std::string> out;
    for (auto const word : std::views::split(text, ' '))
        if (!word.empty()) out.emplace_back(word.begin(), word.end());
    return out;
}

std::string escape_html(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '&' || c == '<' || c == '>' || c == '"')
            out += "&#" + std::to_string(int{c}) + ";";
        else
            out += c;
    }
    return out;
}

}  // namespace

std::vector<std::string> browser_command(Environment const& env, std::string const& address) {
    if (env.display.empty() && env.wayland_display.empty()) return {};
    std::string_view const list = env.browser;
    auto command = command_words(list.substr(0, list.find(':')));
    if (command.empty()) return {"xdg-open", address};
    bool placed = false;
    for (std::string& word : command) {
        auto const at = word.find(address_mark);
        if (at == std::string::npos) continue;
        word.replace(at, address_mark.size(), address);
        placed = true;
    }
    if (!placed) command.push_back(address);
    return command;
}

std::string page_that_leads_to(std::string const& directory, std::string const& url) {
    constexpr auto name = "open.html";
    std::error_code error;
    auto const folder = std::filesystem::absolute(directory, error);
    if (error) return {};
    auto const shown = escape_html(url);
    replace_private(folder.string(), name,
                    "<!doctype html><meta charset=\"utf-8\"><title>Dormouse</title>"
                    "<meta http-equiv=\"refresh\" content=\"0;url=" +
                        shown + "\"><p><a href=\"" + shown + "\">Open the inbox</a>\n");
    auto const path = folder / name;
    if (!std::filesystem::exists(path, error)) return {};
    std::string out = "file://";
    for (auto const part : std::views::split(path.string(), '/')) {
        std::string_view const text(part.begin(), part.end());
        if (!text.empty()) out += "/" + percent_encode(text);
    }
    return out;
}

bool start_browser(std::vector<std::string> command) {
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    // Ctrl-C in this terminal is not for the browser.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    pid_t pid = 0;
    int const failed =
        ::posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return failed == 0;
}

}  // namespace dormouse::cli
