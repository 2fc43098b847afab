#include "cli/commands/completion.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

// What the shells make of these texts is shown by tests/completion.py.

CommandInfo program() {
    OptionInfo const server{.names = {"--server"}, .value = "URL", .about = "The server"};
    OptionInfo const session{
        .names = {"-s", "--session"}, .value = "SESSION", .about = "It's [this]: one"};
    OptionInfo const mode{
        .names = {"--mode"}, .value = "MODE", .choices = {"fast", "slow"}, .about = "How"};
    OptionInfo const file{
        .names = {"file"}, .value = "FILE", .about = "A file", .positional = true};
    CommandInfo const init{.name = "init", .about = "Begin", .options = {file}};
    return {.name = "dormouse",
            .options = {server},
            .commands = {{.name = "go", .about = "Goes", .options = {session, mode}},
                         {.name = "config", .about = "Settings", .commands = {init}}}};
}

void expect_all(std::string const& text, std::vector<std::string> const& pieces) {
    for (auto const& piece : pieces)
        EXPECT_NE(text.find(piece), std::string::npos) << piece << "\nis not in\n" << text;
}

TEST(Completion, of_bash_knows_what_each_value_is) {
    expect_all(bash_completion(program()),
               {"'go':-s|'go':--session) kind='session'", "'go':--mode) kind='=fast slow'",
                "'config init':1) kind='file'", "*:--server) kind='text'",
                "'') commands='go config'", "'config') commands='init'"});
}

TEST(Completion, of_zsh_escapes_what_its_specs_give_a_meaning) {
    expect_all(zsh_completion(program()),
               {R"('[It'\''s \[this\]\: one]:SESSION:_dormouse_ids session')",
                "'--mode[How]:MODE:(fast slow)'", "go) _dormouse_go ;;", "_dormouse_config_init"});
}

TEST(Completion, of_fish_offers_options_of_the_command_that_stands_there) {
    expect_all(fish_completion(program()),
               {R"(-n '__fish_seen_subcommand_from go' -s s -l session -x -a)"
                R"( '(__dormouse_ids session)' -d 'It\'s [this]: one')",
                "-l mode -x -a 'fast slow'", "-n __fish_use_subcommand -a config"});
}

TEST(Completion, every_value_has_something_to_complete_it_with) {
    EXPECT_EQ(completed_with("CALL"), "call");
    EXPECT_EQ(completed_with("ID"), "id");
    EXPECT_EQ(completed_with("TEXT"), "text");
}

}  // namespace
}  // namespace dormouse::cli
