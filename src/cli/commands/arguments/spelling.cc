#include "cli/commands/arguments/spelling.h"

#include "base/text/text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

namespace dormouse::cli {
namespace {

std::string in_quotes(std::string_view word) { return "'" + std::string(word) + "'"; }

std::vector<CLI::Option const*> options_of(CLI::App const& app) {
    auto all = app.get_options();
    for (auto const* group : app.get_subcommands([](CLI::App const* a) { return !!a; })) {
        if (!group->get_name().empty()) continue;  // an option group has no name
        for (auto const* option : options_of(*group)) {
            if (std::find(all.begin(), all.end(), option) == all.end()) all.push_back(option);
        }
    }
    return all;
}

std::vector<std::string> names_of(CLI::Option const& option) {
    std::vector<std::string> names;
    for (auto const& name : option.get_snames()) names.push_back("-" + name);
    for (auto const& name : option.get_lnames()) names.push_back("--" + name);
    return names;
}

bool shown(CLI::App const* app) { return !app->get_name().empty() && !app->get_group().empty(); }

std::vector<CLI::App const*> commands_of(CLI::App const& app) {
    return app.get_subcommands([](CLI::App const* each) { return shown(each); });
}

OptionInfo info_of(CLI::Option const& option) {
    OptionInfo info{.names = names_of(option), .about = option.get_description()};
    info.positional = option.get_positional();
    if (info.positional) info.names = {option.get_name()};
    info.required = option.get_required();
    if (option.get_items_expected_max() == 0) return info;
    // CLI11 writes "MODE:{queue,steer}": the name of the value and the words of its check.
    auto const type = option.get_type_name();
    auto const open = type.find(":{");
    info.value = type.substr(0, type.find(':'));
    if (open == std::string::npos) return info;
    std::string choice;
    for (char const c : type.substr(open + 2)) {
        if (c != ',' && c != '}') {
            choice += c;
            continue;
        }
        info.choices.push_back(std::exchange(choice, {}));
        if (c == '}') break;
    }
    return info;
}

// Explains a value that is not one of the option's choices; else empty.
std::string wrong_choice(OptionInfo const& option, std::string const& value) {
    if (option.choices.empty() || std::ranges::find(option.choices, value) != option.choices.end())
        return {};
    std::string out = option.names.back() + " does not take " + in_quotes(value) + ": ";
    for (auto const& choice : option.choices)
        out += (&choice == &option.choices.front() ? "" : ", ") + choice;
    std::vector<std::string_view> const choices(option.choices.begin(), option.choices.end());
    auto const near = nearest(value, choices);
    return near.empty() ? out : out + "\n  Did you mean " + std::string(near) + "?";
}

// Walks the words as the parser does and explains the first unknown one.
class Misspelling {
public:
    explicit Misspelling(CLI::App const& program) : program_(program), at_(&program) {}

    // Returns an explanation, with advice on its second line; empty when all words are known.
    [[nodiscard]] std::string find(std::vector<std::string> const& words);

private:
    [[nodiscard]] std::string unknown_command(std::string const& word) const;
    [[nodiscard]] std::string unknown_option(std::string const& name) const;
    [[nodiscard]] std::vector<CLI::Option const*> known() const;

    CLI::App const& program_;
    CLI::App const* at_;
    std::string path_ = "dormouse";
};

std::vector<CLI::Option const*> Misspelling::known() const {
    auto all = options_of(*at_);
    if (at_ != &program_) {
        // Only the program itself takes --version.
        for (auto const* option : program_.get_options()) {
            if (option->get_group() != "Options") all.push_back(option);
        }
    }
    return all;
}

std::string Misspelling::unknown_option(std::string const& name) const {
    std::vector<std::string> names;
    for (auto const* option : known()) {
        for (auto& each : names_of(*option)) names.push_back(std::move(each));
    }
    std::vector<std::string_view> const views(names.begin(), names.end());
    auto const near = nearest(name, views);
    auto out = "unknown option " + name + (at_ == &program_ ? "" : " of " + in_quotes(path_));
    return near.empty() ? out : out + "\n  Did you mean " + std::string(near) + "?";
}

// Returns the name that a command of other programs has here.
std::string_view meant(std::string_view word) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"events", "tail"},
        {"logs", "tail"},
        {"follow", "tail"},
        {"list", "sessions"},
        {"ls", "sessions"},
        {"messages", "show"},
        {"get", "show"},
        {"rm", "delete"},
        {"submit", "result"},
        {"reject", "deny"},
        {"stop", "cancel"},
        {"run", "serve"},
        {"start", "serve"},
        {"server", "serve"},
        {"ask", "prompt"},
        {"send", "prompt"},
        {"check", "doctor"},
        {"setup", "init"},
        {"validate", "config check"},
        {"logout", "context remove NAME"},
        {"auth", "login"},
        {"inspect", "show"},
    };
    for (auto const& [other, ours] : names) {
        if (other == word) return ours;
    }
    return {};
}

std::string Misspelling::unknown_command(std::string const& word) const {
    std::vector<std::string_view> names;
    for (auto const* each : commands_of(*at_)) names.emplace_back(each->get_name());
    auto const near = meant(word).empty() ? nearest(word, names) : meant(word);
    auto out = "unknown command " + in_quotes(word);
    return near.empty() ? out : out + "\n  Did you mean: " + path_ + " " + std::string(near);
}

std::string Misspelling::find(std::vector<std::string> const& words) {
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        auto const& word = words[i];
        bool const short_one = word.size() == 2 && word[0] == '-' && word[1] != '-';
        if (short_one || word.starts_with("--")) {
            auto const name = word.substr(0, word.find('='));
            auto const options = known();
            auto const found = std::find_if(options.begin(), options.end(),
                                            [&](auto const* o) { return o->check_name(name); });
            if (found == options.end()) return unknown_option(name);
            bool const apart = name == word && (*found)->get_items_expected_max() > 0;
            if (apart && i + 1 == words.size()) return name + " needs a value";
            auto const value =
                apart ? words[++i] : word.substr(std::min(word.size(), name.size() + 1));
            if (auto const wrong = wrong_choice(info_of(**found), value); !wrong.empty())
                return wrong;
        } else if (!word.starts_with("-") && !commands_of(*at_).empty()) {
            auto const named =
                at_->get_subcommands([&](auto const* a) { return a->get_name() == word; });
            if (named.empty()) return unknown_command(word);
            at_ = named.front();
            path_ += " " + word;
        }
    }
    return {};
}

}  // namespace

CommandInfo info_of(CLI::App const& app) {
    CommandInfo info{.name = app.get_name(), .about = app.get_description()};
    constexpr std::string_view heading = "Example:\n";
    auto const footer = app.get_footer();
    if (auto const at = footer.find(heading); at != std::string::npos) {
        std::istringstream lines(footer.substr(at + heading.size()));
        for (std::string line; std::getline(lines, line);)
            if (line.size() > 2) info.examples.push_back(line.substr(2));
    }
    for (auto const* option : options_of(app)) info.options.push_back(info_of(*option));
    for (auto const* command : commands_of(app)) info.commands.push_back(info_of(*command));
    return info;
}

std::string misspelt(CLI::App const& program, std::vector<std::string> const& words) {
    return Misspelling(program).find(words);
}

std::string missing(CLI::App const& command, std::string const& complaint) {
    constexpr std::string_view group = "Exactly 1 option from [";
    if (complaint.starts_with(group)) {
        auto names = complaint.substr(group.size(), complaint.find(']') - group.size());
        for (auto at = names.find(','); at != std::string::npos; at = names.find(',', at + 2))
            names.insert(at + 1, " ");
        return "give exactly one of these: " + names;
    }
    for (auto const* option : options_of(command)) {
        if (!option->get_positional() || complaint != option->get_name() + " is required") continue;
        return in_quotes("dormouse " + command.get_name()) + " needs " + info_of(*option).value +
               ": " + option->get_description();
    }
    return complaint;
}

// Words left over are most often a text of several words that was not quoted.
std::string left_over(CLI::App const& command, std::vector<std::string> const& words) {
    auto out = "not expected: " + (words.empty() ? std::string() : words.front());
    for (auto const* option : options_of(command)) {
        if (option->get_positional() && option->get_name() == "text")
            return out + "\n  A text of several words needs quotes: 'deploy A'";
    }
    return out;
}

}  // namespace dormouse::cli
