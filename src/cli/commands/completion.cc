#include "cli/commands/completion.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kinds{{
    {"SESSION", "session"},
    {"CALL", "call"},
    {"ID", "id"},
    {"AGENT", "agent"},
    {"TOOL", "tool"},
    {"FILE", "file"},
    {"DIR", "dir"},
}};

// "=queue steer": these words; else a kind.
std::string kind_of(OptionInfo const& option) {
    if (option.choices.empty()) return std::string(completed_with(option.value));
    std::string out = "=";
    for (auto const& choice : option.choices) out += (out.size() > 1 ? " " : "") + choice;
    return out;
}

std::string joined(std::vector<std::string> const& words, std::string_view between) {
    std::string out;
    for (auto const& word : words) out += (out.empty() ? "" : std::string(between)) + word;
    return out;
}

// One command of the table with its path, "config init"; parents come before their commands.
struct Entry {
    std::string path;
    CommandInfo const* command = nullptr;
};

void collect(std::vector<Entry>& out, CommandInfo const& command, std::string const& path) {
    for (auto const& each : command.commands) {
        auto const name = path.empty() ? each.name : path + " " + each.name;
        out.push_back({name, &each});
        collect(out, each, name);
    }
}

std::vector<Entry> entries(CommandInfo const& program) {
    std::vector<Entry> out;
    collect(out, program, "");
    return out;
}

std::vector<std::string> names_of(std::vector<CommandInfo> const& commands) {
    std::vector<std::string> names;
    for (auto const& command : commands) names.push_back(command.name);
    return names;
}

bool is_help_or_version(OptionInfo const& option) {
    return std::ranges::any_of(option.names, [](std::string const& name) {
        return name == "--help" || name == "--version";
    });
}

std::vector<std::string> option_names(CommandInfo const& command) {
    std::vector<std::string> names;
    for (auto const& option : command.options) {
        if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
}

// Replaces each character of `special` by `escape` and itself.
std::string escaped(std::string_view text, std::string_view special, std::string_view escape) {
    std::string out;
    for (char const c : text) {
        if (special.find(c) != std::string_view::npos) out += escape;
        out += c;
    }
    return out;
}

// In single quotes, as all three shells read them (fish takes \' within them, the others not).
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (char const c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

// ---- bash

void bash_kinds(std::string& out, std::string const& path, CommandInfo const& command) {
    std::size_t number = 0;
    for (auto const& option : command.options) {
        if (option.value.empty()) continue;
        std::string pattern;
        auto const prefix = path.empty() ? "*:" : in_quotes(path) + ":";
        if (option.positional) {
            pattern = prefix + std::to_string(++number);
        } else {
            for (auto const& name : option.names)
                (pattern += pattern.empty() ? prefix : "|" + prefix) += name;
        }
        out += "        " + pattern + ") kind=" + in_quotes(kind_of(option)) + " ;;\n";
    }
}

constexpr std::string_view bash_body = R"bash(
# Ids from the server: quickly, or none.
_dormouse_ids() {
    local line
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("$dormouse" candidates "$1" "$2" "${where[@]}" 2>/dev/null)
}

_dormouse() {
    local dormouse=${COMP_WORDS[0]} words=() where=() path='' kind='' option='' number=1
    local word i commands options current
    COMPREPLY=()
    # What bash has split at : and = is one word again.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]})) && { [[ $word == [:=]* ]] || [[ ${words[-1]} == *[:=] ]]; }; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    ((${#words[@]})) || return 0
    current=${words[-1]}
    unset 'words[-1]'
    for word in "${words[@]}"; do
        if [[ -n $option ]]; then
            case $option in --server|--data|--project) where+=("$option" "$word") ;; esac
            option=
        elif [[ $word == -?*=* ]]; then
            case $word in --server=*|--data=*|--project=*) where+=("$word") ;; esac
        elif [[ $word == -?* ]]; then
            _dormouse_kind "$path:$word"
            [[ -z $kind ]] || option=$word
        else
            _dormouse_commands "$path"
            if [[ " $commands " == *" $word "* ]]; then
                path+=${path:+ }$word
            else
                ((number++))
            fi
        fi
    done
    if [[ -z $option && $current == -?*=* ]]; then
        option=${current%%=*} current=${current#*=}
    elif [[ -z $option && $current == -* ]]; then
        _dormouse_options "$path"
        COMPREPLY=($(compgen -W "$options" -- "$current"))
        return 0
    fi
    _dormouse_commands "$path"
    if [[ -z $option && -n $commands ]]; then
        COMPREPLY=($(compgen -W "$commands" -- "$current"))
        return 0
    fi
    _dormouse_kind "$path:${option:-$number}"
    case $kind in
        =*) COMPREPLY=($(compgen -W "${kind#=}" -- "$current")) ;;
        file|dir)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -"${kind:0:1}" -- "$current") ;;
        ''|text) ;;
        *) _dormouse_ids "$kind" "$current" ;;
    esac
}
complete -F _dormouse dormouse
)bash";

// ---- zsh

constexpr std::string_view zsh_special = "\\[]:";

std::string zsh_action(OptionInfo const& option) {
    if (!option.choices.empty()) return "(" + joined(option.choices, " ") + ")";
    auto const kind = completed_with(option.value);
    if (kind == "file") return "_files";
    if (kind == "dir") return "_files -/";
    if (kind == "text") return " ";
    return "_dormouse_ids " + std::string(kind);
}

std::string zsh_option(OptionInfo const& option) {
    auto const about = escaped(option.about, zsh_special, "\\");
    auto const value = option.value.empty() ? std::string()
                                            : ":" + escaped(option.value, zsh_special, "\\") + ":" +
                                                  zsh_action(option);
    if (option.positional) return in_quotes((option.required ? ":" : "::") + value.substr(1));
    if (option.names.size() == 1) return in_quotes(option.names[0] + "[" + about + "]" + value);
    return in_quotes("(" + joined(option.names, " ") + ")") + "{" + joined(option.names, ",") +
           "}" + in_quotes("[" + about + "]" + value);
}

std::string zsh_arguments(CommandInfo const& program, CommandInfo const& command) {
    std::string out = "_arguments -s";
    auto const add = [&](OptionInfo const& option) { out += " \\\n        " + zsh_option(option); };
    for (auto const& option : command.options) add(option);
    for (auto const& option : program.options) {
        if (!is_help_or_version(option)) add(option);
    }
    return out;
}

std::string zsh_commands(std::vector<CommandInfo> const& commands) {
    std::string out;
    for (auto const& command : commands)
        out += "\n        " + in_quotes(command.name + ":" + escaped(command.about, ":\\", "\\"));
    return out;
}

// A function a command; one with commands of its own chooses among those.
void zsh_functions(std::string& out, CommandInfo const& program, CommandInfo const& command,
                   std::string const& name) {
    for (auto const& each : command.commands)
        zsh_functions(out, program, each, name + "_" + each.name);
    out += name + "() {\n";
    if (command.commands.empty()) {
        out += "    " + zsh_arguments(program, command) + "\n}\n\n";
        return;
    }
    // What was typed in full: `words` will begin at the command.
    if (&command == &program) out += "    local -a typed=($words)\n";
    out += "    local curcontext=$curcontext state line commands=(" +
           zsh_commands(command.commands) + ")\n    _arguments -C";
    for (auto const& option : program.options) out += " \\\n        " + zsh_option(option);
    out +=
        " \\\n        '1:command:->command' '*::argument:->argument'\n    case $state in\n"
        "        command) _describe command commands ;;\n        argument) case $line[1] in\n";
    for (auto const& each : command.commands)
        out += "            " + each.name + ") " + name + "_" + each.name + " ;;\n";
    out += "        esac ;;\n    esac\n}\n\n";
}

constexpr std::string_view zsh_ids = R"zsh(
# Ids from the server: quickly, or none.
_dormouse_ids() {
    local -a where found
    local -i i
    local kind=$argv[-1]
    for ((i = 2; i <= $#typed; i++)); do
        case $typed[i] in
            --server=*|--data=*|--project=*) where+=("${(Q)typed[i]}") ;;
            --server|--data|--project) where+=("${(Q)typed[i]}" "${(Q)typed[i+1]}") ;;
        esac
    done
    found=("${(@f)$(dormouse candidates $kind "$PREFIX" $where 2>/dev/null)}")
    found=(${found//:/\\:})
    found=(${found/$'\t'/:})
    [[ -n $found[1] ]] && _describe $kind found
}

)zsh";

// ---- fish

std::string fish_quoted(std::string_view text) { return "'" + escaped(text, "\\'", "\\") + "'"; }

std::string fish_value(OptionInfo const& option) {
    if (option.value.empty()) return "";
    if (!option.choices.empty()) return " -x -a " + fish_quoted(joined(option.choices, " "));
    auto const kind = completed_with(option.value);
    if (kind == "file") return " -r -F";
    if (kind == "dir") return " -x -a '(__fish_complete_directories)'";
    if (kind == "text") return " -x";
    return " -x -a '(__dormouse_ids " + std::string(kind) + ")'";
}

std::string fish_line(std::string const& condition, OptionInfo const& option) {
    std::string out = "complete -c dormouse" + condition;
    if (option.positional) {
        auto const value = fish_value(option);
        if (value == " -x" || value.empty()) return {};
        return out + value + "\n";
    }
    for (auto const& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    return out + fish_value(option) + " -d " + fish_quoted(option.about) + "\n";
}

constexpr std::string_view fish_ids = R"fish(
# Ids from the server: quickly, or none.
function __dormouse_ids
    set -l words (commandline -opc)
    set -l where
    for i in (seq (count $words))
        switch $words[$i]
            case '--server=*' '--data=*' '--project=*'
                set -a where $words[$i]
            case --server --data --project
                set -l next (math $i + 1)
                test $next -le (count $words); and set -a where $words[$i] $words[$next]
        end
    end
    dormouse candidates $argv[1] (commandline -ct) $where 2>/dev/null
end

complete -c dormouse -f
)fish";

}  // namespace

std::string_view completed_with(std::string_view name) {
    for (auto const& [value, kind] : kinds) {
        if (value == name) return kind;
    }
    return "text";
}

std::string bash_completion(CommandInfo const& program) {
    std::string out = "# bash completion of dormouse, printed by: dormouse completion bash\n\n";
    // What the value of an option, or the positional with that number, is.
    out += "_dormouse_kind() {\n    kind=\n    case $1 in\n";
    auto const all = entries(program);
    for (auto const& [path, command] : all) bash_kinds(out, path, *command);
    bash_kinds(out, "", program);
    out += "    esac\n}\n\n_dormouse_commands() {\n    commands=\n    case $1 in\n";
    out += "        '') commands=" + in_quotes(joined(names_of(program.commands), " ")) + " ;;\n";
    for (auto const& [path, command] : all) {
        if (command->commands.empty()) continue;
        out += "        " + in_quotes(path) +
               ") commands=" + in_quotes(joined(names_of(command->commands), " ")) + " ;;\n";
    }
    auto const everywhere = option_names(program);
    out +=
        "    esac\n}\n\n_dormouse_options() {\n    options=" + in_quotes(joined(everywhere, " ")) +
        "\n    case $1 in\n";
    for (auto const& [path, command] : all)
        out += "        " + in_quotes(path) +
               ") options+=" + in_quotes(" " + joined(option_names(*command), " ")) + " ;;\n";
    return out + "    esac\n}\n" + std::string(bash_body);
}

std::string zsh_completion(CommandInfo const& program) {
    std::string out =
        "#compdef dormouse\n# zsh completion of dormouse, printed by: dormouse completion zsh\n";
    out += zsh_ids;
    zsh_functions(out, program, program, "_dormouse");
    // Read by compinit from a file called _dormouse, it is called at once; sourced, it registers.
    return out +
           "if [ \"$funcstack[1]\" = _dormouse ]; then _dormouse \"$@\"; "
           "else compdef _dormouse dormouse; fi\n";
}

std::string fish_completion(CommandInfo const& program) {
    std::string out = "# fish completion of dormouse, printed by: dormouse completion fish\n";
    out += fish_ids;
    for (auto const& option : program.options) out += fish_line("", option);
    for (auto const& command : program.commands) {
        out += "complete -c dormouse -n __fish_use_subcommand -a " + command.name + " -d " +
               fish_quoted(command.about) + "\n";
        auto const inside = " -n " + fish_quoted("__fish_seen_subcommand_from " + command.name);
        for (auto const& option : command.options) {
            if (!is_help_or_version(option)) out += fish_line(inside, option);
        }
        for (auto const& each : command.commands) {
            out += "complete -c dormouse" + inside + " -a " + each.name + " -d " +
                   fish_quoted(each.about) + "\n";
        }
    }
    return out;
}

}  // namespace dormouse::cli
