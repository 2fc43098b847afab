#include "cli/commands/shell/shell_texts.h"

#include "base/text/utf8.h"
#include "cli/commands/shell/embed.h"
#include "cli/commands/shell/template.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

EMBED(dormouse_template_bash, "dormouse.bash")
EMBED(dormouse_template_zsh, "dormouse.zsh")
EMBED(dormouse_template_fish, "dormouse.fish")
EMBED(dormouse_template_man, "dormouse.1")

namespace dormouse::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kinds{{
    {"SESSION", "session"},
    {"CALL", "call"},
    {"ID", "id"},
    {"AGENT", "agent"},
    {"TOOL", "tool"},
    {"CONTEXT", "context"},
    {"FILE", "file"},
    {"DIR", "dir"},
}};

std::string joined(std::vector<std::string> const& words, std::string_view separator) {
    std::string out;
    for (auto const& word : words) out += (out.empty() ? "" : std::string(separator)) + word;
    return out;
}

// Puts a backslash before each character of `special`.
Filter backslashes(std::string_view special) {
    return [special](std::string_view text) {
        std::string out;
        for (char const c : text) {
            if (special.contains(c)) out += '\\';
            out += c;
        }
        return out;
    };
}

// Quotes a text for single quotes of bash and zsh.
std::string in_single_quotes(std::string_view text) {
    std::string out;
    for (char const c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out;
}

std::string flag(bool set) { return set ? "1" : ""; }

bool has_name(OptionInfo const& option, std::string_view name) {
    return std::ranges::find(option.names, name) != option.names.end();
}

// `number`: the position of a positional, from 1.
Record record_of(OptionInfo const& option, std::size_t number) {
    bool const choice = !option.choices.empty();
    auto const kind = completed_with(option.value);
    auto const offers = [&](std::string_view what) {
        return flag(!choice && !option.value.empty() && kind == what);
    };
    std::vector<std::string> shorts;
    std::vector<std::string> longs;
    for (auto const& name : option.names) {
        if (option.positional) continue;
        bool const is_long = name.starts_with("--");
        (is_long ? longs : shorts).push_back(name.substr(is_long ? 2 : 1));
    }
    auto const several = option.names.size() > 1;
    auto const& names = option.names;
    bool const asked = !choice && kind != "text" && kind != "file" && kind != "dir";
    return {
        .texts = {{"value", option.value},
                  {"about", option.about},
                  {"kind", choice ? "=" + joined(option.choices, " ") : std::string(kind)},
                  {"choice", flag(choice)},
                  {"file", offers("file")},
                  {"dir", offers("dir")},
                  {"text", offers("text")},
                  {"ids", flag(asked)},
                  {"positional", flag(option.positional)},
                  {"required", flag(option.required)},
                  {"help", flag(has_name(option, "--help"))},
                  {"common", flag(has_name(option, "--help") || has_name(option, "--version"))},
                  // The form of zsh: one name, or names that exclude one another.
                  {"spelled", several
                                  ? "'(" + joined(names, " ") + ")'{" + joined(names, ",") + "}'"
                                  : "'" + joined(names, "")}},
        .lists = {{"names", records(names)},
                  {"keys", option.positional ? records({std::to_string(number)}) : records(names)},
                  {"short", records(shorts)},
                  {"long", records(longs)},
                  {"choices", records(option.choices)}}};
}

Record record_of(CommandInfo const& command, std::string const& path, std::string const& parent) {
    auto function = "_dormouse_" + path;
    std::ranges::replace(function, ' ', '_');
    Record out{.texts = {{"name", command.name},
                         {"path", path},
                         {"parent", parent},
                         {"function", function},
                         {"about", command.about},
                         {"group", flag(!command.commands.empty())},
                         {"sample", flag(!command.examples.empty())}},
               .lists = {{"examples", records(command.examples)}, {"commands", {}}}};
    auto& options = out.lists["options"];
    std::vector<std::string> flags;
    std::size_t number = 0;
    for (auto const& option : command.options) {
        options.push_back(record_of(option, option.positional ? ++number : 0));
        if (!option.positional) flags.insert(flags.end(), option.names.begin(), option.names.end());
    }
    out.texts["optional"] = flag(!flags.empty());
    out.lists["flags"] = records(flags);
    for (auto const& each : command.commands) {
        auto const inner = path.empty() ? each.name : path + " " + each.name;
        out.lists["commands"].push_back(record_of(each, inner, command.name));
    }
    return out;
}

// Parents come before their commands.
void collect(std::vector<Record>& out, std::vector<Record> const& commands) {
    for (auto const& each : commands) {
        out.push_back(each);
        collect(out, each.lists.at("commands"));
    }
}

Record record_of(CommandInfo const& program) {
    auto out = record_of(program, "", "");
    std::vector<Record> all;
    collect(all, out.lists["commands"]);
    Record options{.lists = {{"options", out.lists["options"]}}};
    out.lists["all"] = std::move(all);
    out.lists["program"] = {std::move(options)};
    return out;
}

}  // namespace

std::string_view completed_with(std::string_view name) {
    for (auto const& [value, kind] : kinds) {
        if (value == name) return kind;
    }
    return "text";
}

std::string completion(std::string_view shell, CommandInfo const& program) {
    auto const data = record_of(program);
    if (shell == "bash")
        return filled(between(dormouse_template_bash, dormouse_template_bash_end), data,
                      in_single_quotes);
    if (shell == "zsh")
        return filled(between(dormouse_template_zsh, dormouse_template_zsh_end), data,
                      in_single_quotes,
                      {{"spec", backslashes("\\[]:")}, {"item", backslashes(":\\")}});
    return filled(between(dormouse_template_fish, dormouse_template_fish_end), data,
                  backslashes("\\'"));
}

std::string roff(std::string_view text) {
    constexpr std::pair<char32_t, std::string_view> special[] = {{U'\\', "\\e"},   {U'-', "\\-"},
                                                                 {U'\'', "\\(aq"}, {U'`', "\\(ga"},
                                                                 {U'~', "\\(ti"},  {U'^', "\\(ha"}};
    std::string out;
    if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
    while (!text.empty()) {
        auto const next = decode_utf8(text);
        auto const* const found =
            std::ranges::find(special, next.code, [](auto const& each) { return each.first; });
        std::array<char, 16> number{};
        if (found != std::end(special)) {
            out += found->second;
        } else if (next.code < 0x80) {
            out += static_cast<char>(next.code);
        } else {
            std::snprintf(number.data(), number.size(), "\\[u%04X]",
                          static_cast<unsigned>(next.code));
            out += number.data();
        }
        text.remove_prefix(next.length);
    }
    return out;
}

std::string manual(CommandInfo const& program, std::string const& version) {
    auto data = record_of(program);
    data.texts["version"] = version;
    return filled(between(dormouse_template_man, dormouse_template_man_end), data, roff);
}

}  // namespace dormouse::cli
