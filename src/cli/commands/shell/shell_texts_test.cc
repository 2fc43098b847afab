#include "cli/commands/shell/shell_texts.h"

#include <gtest/gtest.h>

#include <sstream>

namespace dormouse::cli {
namespace {

// tests/completion.py runs these texts in the shells.

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

TEST(Completion, Bash_KnowsTheKindOfEachValue) {
    expect_all(completion("bash", program()),
               {"'go':-s|'go':--session) kind='session'", "'go':--mode) kind='=fast slow'",
                "'config init':1) kind='file'", "*:--server) kind='text'",
                "'') commands='go config'", "'config') commands='init'"});
}

TEST(Completion, Zsh_EscapesSpecialCharacters) {
    expect_all(completion("zsh", program()),
               {R"('[It'\''s \[this\]\: one]:SESSION:_dormouse_ids session')",
                "'--mode[How]:MODE:(fast slow)'", "go) _dormouse_go ;;", "_dormouse_config_init"});
}

TEST(Completion, Fish_OffersOptionsOfTheCommandInTheLine) {
    expect_all(completion("fish", program()),
               {R"(-n '__fish_seen_subcommand_from go' -s s -l session -x -a)"
                R"( '(__dormouse_ids session)' -d 'It\'s [this]: one')",
                "-l mode -x -a 'fast slow'", "-n __fish_use_subcommand -a config"});
}

TEST(Completion, EveryValue_HasACompletion) {
    EXPECT_EQ(completed_with("CALL"), "call");
    EXPECT_EQ(completed_with("ID"), "id");
    EXPECT_EQ(completed_with("TEXT"), "text");
}

TEST(Roff, EscapedText_PrintsUnchanged) {
    EXPECT_EQ(roff("plain text"), "plain text");
    EXPECT_EQ(roff(".sh rm"), "\\&.sh rm");
    EXPECT_EQ(roff("'quoted'"), "\\&\\(aqquoted\\(aq");
    EXPECT_EQ(roff("a\\b -x ~ ^ `"), "a\\eb \\-x \\(ti \\(ha \\(ga");
    EXPECT_EQ(roff("pnd_…"), "pnd_\\[u2026]");
}

TEST(Manual, Manual_HasEveryCommandAndOption) {
    auto const table = command_table();
    auto const page = manual(table, "1.2.3");
    EXPECT_NE(page.find("\"dormouse 1.2.3\""), std::string::npos);
    for (auto const& command : table.commands) {
        EXPECT_NE(page.find(".SS \\fBdormouse " + roff(command.name) + "\\fR"), std::string::npos)
            << command.name;
        for (auto const& example : command.examples)
            EXPECT_NE(page.find("\n" + roff(example) + "\n"), std::string::npos) << example;
        for (auto const& option : command.options) {
            if (option.positional) continue;
            EXPECT_NE(page.find("\\fB" + roff(option.names.back()) + "\\fR"), std::string::npos);
        }
    }
    for (auto const* const exit : {"0", "1", "2", "3", "4", "5", "6", "7", "8", "10", "130"})
        EXPECT_NE(page.find(".TP\n.B " + std::string(exit) + "\n"), std::string::npos) << exit;
}

TEST(Manual, Text_BeginsNoLineWithARequest) {
    std::istringstream lines(manual(command_table(), "1"));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_FALSE(line.empty());
        EXPECT_FALSE(line.starts_with('\'')) << line;
        if (!line.starts_with('.')) continue;
        auto const request = line.substr(1, line.find(' ') - 1);
        EXPECT_TRUE(request == "\\\"" ||
                    request.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZnfi") == std::string::npos)
            << line;
    }
}

}  // namespace
}  // namespace dormouse::cli
