#include "cli/client/browser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> command(std::string browser, std::string display) {
    return browser_command({.browser = std::move(browser), .display = std::move(display)}, "a");
}

TEST(BrowserCommand, NoDesktop_IsNone) { EXPECT_THAT(command("firefox", ""), IsEmpty()); }

TEST(BrowserCommand, Desktop_IsXdgOpen) {
    EXPECT_THAT(command("", ":0"), ElementsAre("xdg-open", "a"));
    EXPECT_THAT(browser_command({.wayland_display = "wayland-0"}, "a"),
                ElementsAre("xdg-open", "a"));
}

TEST(BrowserCommand, Variable_IsTheFirstOfItsList) {
    EXPECT_THAT(command("firefox:chromium", ":0"), ElementsAre("firefox", "a"));
    EXPECT_THAT(command("firefox --new-window", ":0"), ElementsAre("firefox", "--new-window", "a"));
    EXPECT_THAT(command("open --to=%s -x", ":0"), ElementsAre("open", "--to=a", "-x"));
}

}  // namespace
}  // namespace dormouse::cli
