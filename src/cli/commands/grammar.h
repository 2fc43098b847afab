#pragma once
// The commands and their options, as CLI11 has them; arguments.h is the face of it. Which command
// takes what is in arguments.cc (the server and its files) and arguments_sessions.cc (sessions and
// what waits in them).

#include "cli/commands/arguments.h"

#include <CLI/CLI.hpp>

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::cli {

// Builds the commands into one Invocation; the one that was named is left in `command`.
class Grammar {
public:
    explicit Grammar(std::string const& version);
    [[nodiscard]] std::expected<Invocation, Notice> parse(std::vector<std::string> words);
    [[nodiscard]] CLI::App const& app() const { return app_; }

private:
    [[nodiscard]] CLI::App const& named() const;  // the command, as far as it was recognised
    [[nodiscard]] std::string help() const;
    [[nodiscard]] Notice mistake(std::vector<std::string> const& words, std::string what);

    template <class Args>
    CLI::App* add(std::string const& name, std::string const& about, std::string const& example,
                  std::shared_ptr<Args> const& args);

    void add_programs();
    void add_prompt();
    void add_lists();
    void add_tasks();
    void add_submissions();
    void add_decisions();
    void add_moves();
    void add_life();
    void add_mail();
    void add_checks();
    void add_shell();
    void add_configuration();
    void add_access();
    void add_bench();
    void add_faces();

    CLI::App app_{"Agent sessions that sleep while their tools work, and wake exactly once."};
    Global global_;
    std::function<Command()> chosen_;
};

template <class Args>
CLI::App* Grammar::add(std::string const& name, std::string const& about,
                       std::string const& example, std::shared_ptr<Args> const& args) {
    auto* const command = app_.add_subcommand(name, about);
    command->footer("\nExample:\n  " + example);
    command->callback([this, args] { chosen_ = [args] { return Command(*args); }; });
    return command;
}

}  // namespace dormouse::cli
