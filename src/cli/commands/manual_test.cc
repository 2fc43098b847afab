#include "cli/commands/manual.h"

#include <gtest/gtest.h>

#include <sstream>

namespace dormouse::cli {
namespace {

TEST(Roff, changes_nothing_of_a_text) {
    EXPECT_EQ(roff("plain text"), "plain text");
    EXPECT_EQ(roff(".sh rm"), "\\&.sh rm");
    EXPECT_EQ(roff("'quoted'"), "\\&\\(aqquoted\\(aq");
    EXPECT_EQ(roff("a\\b -x ~ ^ `"), "a\\eb \\-x \\(ti \\(ha \\(ga");
    EXPECT_EQ(roff("pnd_…"), "pnd_\\[u2026]");
}

TEST(Manual, has_every_command_and_option_with_its_example) {
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

TEST(Manual, begins_no_line_with_a_request_that_nobody_wrote) {
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
