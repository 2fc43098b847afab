#pragma once
// The commands and their options in CLI11; arguments.h is the interface. Options are declared in
// arguments.cc (the server and its files), arguments_access.cc (tokens and other servers) and
// arguments_sessions.cc (sessions and their calls).

#include "cli/commands/arguments/arguments.h"

#include <CLI/CLI.hpp>

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::cli {

// Builds all commands into one Invocation; parsing leaves the named command in `command`.
class Grammar {
public:
    explicit Grammar(std::string const& version);
    [[nodiscard]] std::expected<Invocation, Notice> parse(std::vector<std::string> words);
    [[nodiscard]] CLI::App const& app() const { return app_; }

private:
    [[nodiscard]] CLI::App const& named() const;  // the command that was recognised so far
    [[nodiscard]] std::string help() const;
    void add_outputs();  // options of every command: what is printed
    // Puts each command under a heading of the help.
    void group_commands();
    // Sets what --output means.
    void choose_format();
    [[nodiscard]] Notice mistake(std::vector<std::string> const& words, std::string what);

    template <class Args>
    CLI::App* add(std::string const& name, std::string const& about, std::string const& example,
                  std::shared_ptr<Args> const& args);

    void add_programs();
    void add_trials();
    void add_prompt();
    void add_lists();
    void add_waiting();
    void add_tasks();
    void add_submissions();
    void add_decisions();
    void add_answers();
    void add_ask();
    void add_hook();
    void add_moves();
    void add_life();
    void add_mail();
    void add_checks();
    void add_audit();
    void add_retention();
    void add_verify();
    void add_backup();
    void add_compact();
    void add_upgrade();
    void add_archive();
    void add_rekey();
    static CLI::Option* add_key_env(CLI::App& command, std::string& name);
    void add_import();
    void add_export();
    void add_shell();
    void add_configuration();
    void add_access();
    void add_bench();
    void add_trigger();
    void add_listen();
    void add_login();
    void add_faces();

    CLI::App app_{"Agent sessions that sleep while their tools work, and wake exactly once."};
    Global global_;
    std::string output_;  // --output; empty: not given
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
