#include "cli/client/saved/settings.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace dormouse::cli {
namespace {

class Folder : public testing::Test {
protected:
    Folder() { std::filesystem::create_directories(path_); }
    ~Folder() override { std::filesystem::remove_all(path_); }

    std::string const path_ =
        (std::filesystem::temp_directory_path() /
         ("dormouse-settings-" + std::to_string(reinterpret_cast<std::uintptr_t>(this))))
            .string();
};

TEST(Settings, DataDirectory_ComesFromFlagThenXdgThenHome) {
    Environment env{.home = "/home/ann", .xdg_data_home = "/xdg"};
    Global global;
    global.data = "/given";
    EXPECT_EQ(data_directory(global, env), "/given");
    global.data.clear();
    EXPECT_EQ(data_directory(global, env), "/xdg/dormouse");
    env.xdg_data_home.clear();
    EXPECT_EQ(data_directory(global, env), "/home/ann/.local/share/dormouse");
}

TEST(Settings, Configuration_IsNamedOrAtHomeOrInTheSystem) {
    Environment env{.home = "/home/ann", .xdg_config_home = "/xdg", .config = "/env.toml"};
    auto places = config_places("flag.toml", env);
    ASSERT_EQ(places.size(), 1U);
    EXPECT_EQ(places[0].path, "flag.toml");
    EXPECT_EQ(find_config(places), "flag.toml") << "named: it must be there";
    EXPECT_EQ(find_config(config_places({}, env)), "/env.toml");
    env.config.clear();
    places = config_places({}, env);
    ASSERT_EQ(places.size(), 2U);
    EXPECT_EQ(places[0].path, "/xdg/dormouse/dormouse.toml");
    EXPECT_EQ(places[1].path, "/etc/dormouse/dormouse.toml");
    env.xdg_config_home.clear();
    EXPECT_EQ(config_places({}, env)[0].path, "/home/ann/.config/dormouse/dormouse.toml");
    env.home.clear();
    EXPECT_EQ(config_places({}, env).size(), 1U);
    EXPECT_EQ(own_config(env), "");
}

TEST_F(Folder, Configuration_IsFoundOnlyWhereOneExists) {
    Environment const env{.xdg_config_home = path_};
    EXPECT_NE(find_config(config_places({}, env)), path_ + "/dormouse/dormouse.toml");
    std::filesystem::create_directories(path_ + "/dormouse");
    std::ofstream(path_ + "/dormouse/dormouse.toml") << "";
    EXPECT_EQ(find_config(config_places({}, env)), path_ + "/dormouse/dormouse.toml");
}

TEST(Settings, NoHome_ServeAsksForData) {
    auto const directory = needed_data_directory({}, {});
    ASSERT_FALSE(directory);
    EXPECT_EQ(directory.error().exit, status::usage);
    EXPECT_NE(directory.error().remedy.find("--data"), std::string::npos);
}

TEST(Settings, Server_ComesFromFlagThenEnvironmentThenDefault) {
    Environment env;
    EXPECT_EQ(server_url({}, env), "http://127.0.0.1:3676");
    env.url = "http://env:1";
    EXPECT_EQ(server_url({}, env), "http://env:1");
    Global global;
    global.server = "http://flag:1";
    EXPECT_EQ(server_url(global, env), "http://flag:1");
}

TEST_F(Folder, RecordedAddress_IsUsedUnlessAnotherIsNamed) {
    Global global;
    global.data = path_;
    std::ofstream(path_ + "/url") << "http://127.0.0.1:4000\n";
    EXPECT_EQ(server_url(global, {}), "http://127.0.0.1:4000");
    EXPECT_EQ(server_url(global, {.url = "http://env:1"}), "http://env:1");
    std::ofstream(path_ + "/url") << "";
    EXPECT_EQ(server_url(global, {}), "http://127.0.0.1:3676");
}

TEST_F(Folder, Token_IsFromEnvironmentOrFirstLineOfItsFile) {
    Global global;
    global.data = path_;
    EXPECT_EQ(token(global, {}), "");
    std::ofstream(path_ + "/token") << "secret \nmore\n";
    EXPECT_EQ(token(global, {}), "secret");
    Environment env;
    env.token = "other";
    EXPECT_EQ(token(global, env), "other");
}

TEST_F(Folder, LastSession_IsRememberedForEachServer) {
    remember_session(path_, "http://a:1", "ses_1");
    remember_session(path_, "http://b:1", "ses_2");
    remember_session(path_, "http://a:1", "ses_3");
    EXPECT_EQ(last_session(path_, "http://a:1"), "ses_3");
    EXPECT_EQ(last_session(path_, "http://b:1"), "ses_2");
    EXPECT_EQ(last_session(path_, "http://c:1"), "");
}

TEST_F(Folder, LastSession_FileIsReadableByItsOwnerOnly) {
    auto const folder = path_ + "/made/for/it";
    auto const before = umask(0);
    remember_session(folder, "http://a:1", "ses_1");
    umask(before);
    auto const mode = [](std::string const& path) {
        return static_cast<unsigned>(std::filesystem::status(path).permissions());
    };
    EXPECT_EQ(mode(folder + "/last-session"), 0600U);
    EXPECT_EQ(mode(folder), 0700U);
    std::filesystem::directory_iterator const files(folder);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "no temporary file is left";
}

TEST_F(Folder, LastSession_WithLineBreak_IsNotStored) {
    remember_session(path_, "http://a:1", "ses_1");
    remember_session(path_, "http://b:1", "ses_2\nhttp://a:1 ses_3");
    EXPECT_EQ(last_session(path_, "http://a:1"), "ses_1");
}

TEST_F(Folder, LastSession_NumberOfServersIsBounded) {
    for (int port = 1; port <= 100; ++port)
        remember_session(path_, "http://a:" + std::to_string(port), "ses_1");
    EXPECT_EQ(last_session(path_, "http://a:100"), "ses_1");
    EXPECT_EQ(last_session(path_, "http://a:1"), "");
}

TEST(Settings, Words_AreQuotedForAShell) {
    EXPECT_EQ(shell_word("ses_AZ-9"), "ses_AZ-9");
    EXPECT_EQ(shell_word("it's here"), "'it'\\''s here'");
    EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace dormouse::cli
