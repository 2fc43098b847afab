#include "cli/commands/hook/settings_file.h"

#include "cli/commands/commands.h"
#include "io/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace dormouse::cli {
namespace {

constexpr std::size_t settings_max = std::size_t{4} << 20;

std::string own_folder(HookProgram const& program, Environment const& env) {
    auto const in_home = [&](std::string const& folder) {
        return env.home.empty() ? std::string() : env.home + "/" + folder;
    };
    if (&program == &claude_code_hook && !env.claude_config_dir.empty())
        return env.claude_config_dir;
    if (&program == &codex_hook && !env.codex_home.empty()) return env.codex_home;
    if (&program == &gemini_hook && !env.gemini_cli_home.empty())
        return env.gemini_cli_home + "/" + std::string(program.folder);
    if (&program != &opencode_hook) return in_home(std::string(program.folder));
    return env.xdg_config_home.empty() ? in_home(".config/opencode")
                                       : env.xdg_config_home + "/opencode";
}

std::unexpected<Failure> cannot_write(std::string const& path, std::string const& why) {
    return failure(status::failed, "cannot write " + path + ": " + why);
}

// Writes beside `path` and renames. Removes what it wrote if it fails.
Outcome<void> write_and_rename(std::string const& path, std::string const& text, ::mode_t mode) {
    std::string const next = path + ".dormouse-" + std::to_string(::getpid());
    io::Fd file(::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file.open()) return cannot_write(path, std::strerror(errno));
    bool const whole = ::fchmod(file.get(), mode) == 0 && io::write_whole(file.get(), text) &&
                       ::fsync(file.get()) == 0 && ::rename(next.c_str(), path.c_str()) == 0;
    if (whole) return {};
    std::string const why = std::strerror(errno);
    ::unlink(next.c_str());
    return cannot_write(path, why);
}

}  // namespace

Outcome<std::string> settings_path(HookProgram const& program, Environment const& env, bool here) {
    std::string const folder = here ? std::string(program.folder) : own_folder(program, env);
    if (!folder.empty()) return folder + "/" + std::string(program.file);
    return failure(status::usage, "no home directory: HOME is empty",
                   "Set $HOME, or use --here for the settings of this folder.");
}

Outcome<std::optional<std::string>> settings_of_file(std::string const& path) {
    std::error_code error;
    if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found)
        return std::nullopt;
    auto text = file_text(path, settings_max);
    if (!text) return std::unexpected(text.error());
    return *std::move(text);
}

Outcome<void> replace_settings(std::string const& path, std::string const& text) {
    constexpr ::mode_t permissions = 07777, new_mode = 0600;
    std::error_code error;
    auto const real = std::filesystem::weakly_canonical(path, error);
    if (error) return cannot_write(path, error.message());
    std::filesystem::create_directories(real.parent_path(), error);
    if (error) return cannot_write(path, error.message());
    struct stat old{};
    bool const exists = ::stat(real.c_str(), &old) == 0;
    return write_and_rename(real.string(), text, exists ? old.st_mode & permissions : new_mode);
}

}  // namespace dormouse::cli
