#include "cli/client/saved/contexts.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <filesystem>

namespace dormouse::cli {
namespace {

class ContextsTest : public testing::Test {
protected:
    ContextsTest() { std::filesystem::create_directories(path_); }
    ~ContextsTest() override { std::filesystem::remove_all(path_); }

    // The name of the login that is chosen; "-": none.
    [[nodiscard]] std::string chosen(Global global) const {
        auto const done = choose_login(global, env_);
        if (!done) return done.error().what;
        return global.login.name.empty() ? "-" : global.login.name;
    }

    std::string const path_ =
        (std::filesystem::temp_directory_path() /
         ("dormouse-contexts-" + std::to_string(reinterpret_cast<std::uintptr_t>(this))))
            .string();
    Environment env_{.xdg_config_home = path_};
};

TEST_F(ContextsTest, Written_IsReadAndPrivate) {
    EXPECT_TRUE(read_contexts(env_)->logins.empty());
    Contexts contexts{.current = "a"};
    contexts.put({.name = "a", .url = "http://h:1", .token = "t"});
    contexts.put({.name = "a", .url = "http://h:2", .token = "u"});
    ASSERT_TRUE(write_contexts(env_, contexts));
    auto const read = read_contexts(env_);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->current, "a");
    ASSERT_EQ(read->logins.size(), 1U);
    EXPECT_EQ(read->logins[0].url, "http://h:2");
    EXPECT_EQ(read->logins[0].token, "u");
    struct stat about{};
    ASSERT_EQ(::stat(contexts_file(env_).c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
    ASSERT_EQ(::chmod(contexts_file(env_).c_str(), 0604), 0);
    EXPECT_FALSE(read_contexts(env_));
}

TEST_F(ContextsTest, Choice_FlagThenAddressThenDataThenCurrent) {
    Contexts contexts{.current = "a"};
    contexts.put({.name = "a", .url = "http://h:1", .token = "t"});
    contexts.put({.name = "b", .url = "https://b:443", .token = "u"});
    ASSERT_TRUE(write_contexts(env_, contexts));
    EXPECT_EQ(chosen({}), "a");
    EXPECT_EQ(chosen({.context = "b"}), "b");
    EXPECT_EQ(chosen({.context = "local"}), "-");
    EXPECT_EQ(chosen({.context = "x"}), "no context is called x");
    EXPECT_EQ(chosen({.server = "https://b/"}), "b");
    EXPECT_EQ(chosen({.server = "http://b"}), "-");
    EXPECT_EQ(chosen({.data = "d"}), "-");
    env_.token = "of the environment";
    EXPECT_EQ(chosen({}), "a") << "it is for another server";
    EXPECT_EQ(chosen({.server = "https://b"}), "-");
    env_.url = "http://h:1";
    env_.token.clear();
    EXPECT_EQ(chosen({}), "a");
}

TEST(ContextNames, Names_AreSafeAndMadeOfHosts) {
    EXPECT_EQ(context_name_of("https://dm.example.org"), "dm.example.org");
    EXPECT_EQ(context_name_of("http://127.0.0.1:3676"), "127.0.0.1-3676");
    EXPECT_TRUE(is_context_name(context_name_of("http://[::1]:80")));
    for (char const* const bad : {"", "local", "a b", "-a", "a/b", "a\n"})
        EXPECT_FALSE(is_context_name(bad)) << bad;
}

}  // namespace
}  // namespace dormouse::cli
