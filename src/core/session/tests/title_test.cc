#include "session/fold/fold.h"
#include "session/testing/given.h"

#include <gtest/gtest.h>

namespace dormouse::session::testing {
namespace {

std::string of(std::string const& quoted) {
    return title_in(Json::trusted(R"([{"type":"text","text":")" + quoted + R"("}])"));
}

Change agent_says(std::string const& title) { return {title, {}, {}, {}, true}; }

TEST(Title, Title_IsTheFirstNonBlankLine) {
    EXPECT_EQ(of("Fix the build"), "Fix the build");
    EXPECT_EQ(of(R"(\n  \t Fix  it\r\nand more)"), "Fix it");
    EXPECT_EQ(of(R"(say \"hi\" \\ \u0007 now )"), R"(say "hi" \ now)");
    EXPECT_EQ(of(""), "");
    EXPECT_EQ(title_in(Json::trusted(R"([{"type":"image","mime":"image/png"}])")), "");
    EXPECT_EQ(title_in(Json::trusted(
                  R"([{"type":"text","text":" \n"},{"type":"text","text":"Second"}])")),
              "Second");
}

TEST(Title, Title_IsCutAtAWordNotInACharacter) {
    std::string const words =
        of(std::string(30, 'a') + " " + std::string(30, 'b') + " " + std::string(30, 'c'));
    EXPECT_EQ(words, std::string(30, 'a') + " " + std::string(30, 'b') + "…");
    EXPECT_EQ(of(std::string(200, 'x')), std::string(77, 'x') + "…");
    std::string many;
    for (int i = 0; i < 60; ++i) many += "ä";
    std::string cut;
    for (int i = 0; i < 38; ++i) cut += "ä";
    EXPECT_EQ(of(many), cut + "…");
    EXPECT_EQ(of(std::string(80, 'x')), std::string(80, 'x'));
}

TEST(Title, Title_ComesFromTheFirstPromptUntilOneIsSet) {
    Given given;
    (void)given.create();
    EXPECT_EQ(shown_title(given.state), "");
    (void)given.prompt("Deploy the api");
    (void)given.prompt("Something else", PromptMode::queue);
    EXPECT_EQ(shown_title(given.state), "Deploy the api");
    EXPECT_EQ(given.state.title, "");
    (void)given.when(agent_says("By the program"));
    EXPECT_EQ(shown_title(given.state), "By the program");
    (void)given.when(Change{"Mine", {}, {}, {}});
    (void)given.when(agent_says("By the program again"));
    EXPECT_EQ(shown_title(given.state), "Mine");
    (void)given.when(Change{"", {}, {}, {}});
    EXPECT_EQ(shown_title(given.state), "Deploy the api");
}

}  // namespace
}  // namespace dormouse::session::testing
