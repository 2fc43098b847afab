#include "cli/commands/hook/install.h"

#include "cli/commands/hook/plugin_text.h"
#include "cli/commands/hook/settings_file.h"
#include "cli/commands/hook/settings_text.h"

#include <filesystem>
#include <utility>

namespace dormouse::cli {
namespace {

// The settings of a folder are for everybody who works in it: there the name is enough.
std::string own_executable(bool here) {
    std::error_code error;
    auto const path = std::filesystem::read_symlink("/proc/self/exe", error);
    return here || error ? "dormouse" : path.string();
}

std::vector<std::string> hook_command(Context const& context, HookProgram const& program,
                                      HookArgs const& args) {
    std::vector<std::string> out{own_executable(args.here), "hook", std::string(program.word)};
    auto const add = [&out](std::string const& flag, std::string const& value) {
        out.push_back(flag);
        out.push_back(value);
    };
    if (args.timeout != HookArgs().timeout) add("--timeout", args.timeout);
    for (std::string const& name : args.by) add("--by", name);
    Global const& global = context.global;
    if (global.project != Global().project) add("--project", global.project);
    if (!global.server.empty()) add("--server", global.server);
    if (!global.data.empty()) add("--data", std::filesystem::absolute(global.data).string());
    return out;
}

std::string shell_line(std::vector<std::string> const& words) {
    std::string out;
    for (std::string const& word : words) out += (out.empty() ? "" : " ") + shell_word(word);
    return out;
}

// The settings before and after; nullopt: no file.
struct Edit {
    std::optional<std::string> before = {}, after = {};
};

Outcome<Edit> install_plugin(std::string const& path, std::optional<std::string> before,
                             std::vector<std::string> const& command) {
    if (before && !is_own_plugin(*before))
        return failure(status::conflict, path + " exists, and dormouse did not write it",
                       "Move it away, then install again.");
    return Edit{std::move(before), plugin_text(command)};
}

Outcome<Edit> remove_plugin(std::optional<std::string> before) {
    if (!before || is_own_plugin(*before)) return Edit{std::move(before), std::nullopt};
    return Edit{before, before};
}

// The agent's limit comes after the question's own, so that the question expires.
Outcome<HookEntry> entry_of(HookArgs const& args, std::vector<std::string> const& command) {
    constexpr std::int64_t longer_ms = 60'000;
    auto const within = milliseconds("--timeout", args.timeout);
    if (!within) return std::unexpected(within.error());
    return HookEntry{shell_line(command), static_cast<std::int64_t>(*within) + longer_ms};
}

Outcome<Edit> edited(HookProgram const& program, HookArgs const& args, std::string const& path,
                     std::optional<std::string> before, std::vector<std::string> const& command) {
    bool const install = args.what == "install";
    auto const entry = entry_of(args, command);
    if (!entry) return std::unexpected(entry.error());
    if (program.event.empty())
        return install ? install_plugin(path, std::move(before), command)
                       : remove_plugin(std::move(before));
    if (!before && !install) return Edit{};
    std::string const text = before.value_or("{}\n");
    auto after = install ? with_hook(program, text, *entry) : without_hook(program, text);
    if (!after)
        return failure(status::usage, "cannot edit " + path + ": " + after.error(),
                       "Correct the file; nothing was changed.");
    return Edit{std::move(before), *std::move(after)};
}

Outcome<void> apply(std::string const& path, Edit const& edit) {
    if (edit.after == edit.before) return {};
    if (edit.after) return replace_settings(path, *edit.after);
    std::error_code error;
    if (std::filesystem::remove(path, error) || !error) return {};
    return failure(status::failed, "cannot remove " + path + ": " + error.message());
}

std::string_view next_step(HookProgram const& program) {
    if (&program == &codex_hook)
        return "Codex runs it once you have trusted it: type /hooks there.\n";
    if (&program == &gemini_hook)
        return "After an approval Gemini CLI follows its own policy, which may ask again.\n";
    if (&program == &opencode_hook)
        return "Start opencode again: it reads plugins when it starts.\n";
    return "Sessions that are open take it up when they start again.\n";
}

void report(Context const& context, HookProgram const& program, HookArgs const& args,
            std::string const& path, bool changed, std::string const& command) {
    bool const install = args.what == "install";
    json::Writer out;
    out.begin_object().member("path", path).member("changed", changed);
    if (install) out.member("command", command);
    std::string text = path + ": ";
    if (!changed) text += install ? "has the hook already\n" : "has no hook of dormouse\n";
    if (changed) text += install ? "added the hook\n  " + command + "\n" : "removed the hook\n";
    if (changed && install) text += next_step(program);
    context.show(out.end_object().json(), text);
}

}  // namespace

Outcome<int> edit_settings(Context const& context, HookArgs const& args) {
    if (args.program.empty())
        return failure(status::usage, "name a program",
                       "dormouse hook " + args.what + " claude-code, codex, opencode or gemini.");
    HookProgram const& program = hook_program(args.program);
    auto const path = settings_path(program, context.env, args.here);
    if (!path) return std::unexpected(path.error());
    auto before = settings_of_file(*path);
    if (!before) return std::unexpected(before.error());
    auto const command = hook_command(context, program, args);
    auto const edit = edited(program, args, *path, *std::move(before), command);
    if (!edit) return std::unexpected(edit.error());
    if (auto const done = apply(*path, *edit); !done) return std::unexpected(done.error());
    report(context, program, args, *path, edit->after != edit->before, shell_line(command));
    return status::done;
}

}  // namespace dormouse::cli
