#include "cli/client/saved/last_list.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <filesystem>

namespace dormouse::cli {
namespace {

using Ids = std::vector<std::string>;

TEST(LastList, Lists_AreOfOneTerminalAndServer) {
    auto const folder =
        (std::filesystem::temp_directory_path() / "dormouse-last-list-test").string();
    std::filesystem::remove_all(folder);
    remember_list(folder, "1.1", "http://a", {"ses_1", "ses_2"});
    remember_list(folder, "2.2", "http://a", {"ses_3"});
    EXPECT_EQ(last_list(folder, "1.1", "http://a"), (Ids{"ses_1", "ses_2"}));
    EXPECT_EQ(last_list(folder, "2.2", "http://a"), Ids{"ses_3"});
    EXPECT_EQ(last_list(folder, "1.1", "http://b"), Ids{});
    EXPECT_EQ(last_list(folder, "", "http://a"), Ids{});
    remember_list(folder, "1.1", "http://b", {"ses_4"});
    EXPECT_EQ(last_list(folder, "1.1", "http://a"), Ids{}) << "another list was shown since";
    for (int i = 0; i < 30; ++i) remember_list(folder, std::to_string(i), "u", {"x"});
    EXPECT_EQ(last_list(folder, "0", "u"), Ids{}) << "the oldest lists are removed";
    struct stat about{};
    ASSERT_EQ(::stat((folder + "/last-lists").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
    std::filesystem::remove_all(folder);
}

TEST(LastList, Numbers_WithOrWithoutTheSign) {
    EXPECT_EQ(line_number("#3"), 3U);
    EXPECT_EQ(line_number("12"), 12U);
    for (char const* const other : {"", "#", "0", "#0", "201", "1000", "3a", "ses_1", "-1"})
        EXPECT_FALSE(line_number(other)) << other;
}

}  // namespace
}  // namespace dormouse::cli
