#include "io/folder.h"

#include "io/loop.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

namespace dormouse::io {
namespace {

namespace fs = std::filesystem;

class FolderTest : public ::testing::Test {
protected:
    FolderTest() {
        std::string name = (fs::temp_directory_path() / "dormouse-folder-XXXXXX").string();
        top = ::mkdtemp(name.data());
        fs::create_directories(top / "in/deep");
        put(top / "secret", "not yours");
        put(top / "in/deep/a.txt", "hello");
    }
    ~FolderTest() override { fs::remove_all(top); }

    static void put(fs::path const& path, std::string const& text) { std::ofstream(path) << text; }
    static std::string get(fs::path const& path) {
        std::ifstream in(path);
        std::ostringstream out;
        out << in.rdbuf();
        return out.str();
    }
    // Returns the content, or the error's code.
    std::string read(std::string const& path, std::size_t most = 100) {
        std::string out;
        folders.read((top / "in").string(), path, most, [&](Result<std::string> answer) {
            out = answer ? *answer : std::string(info(answer.error().code).text);
            loop.stop();
        });
        loop.run();
        return out;
    }
    std::string write(std::string const& path, std::string const& content) {
        std::string out;
        folders.write((top / "in").string(), path, content, [&](Result<void> answer) {
            out = answer ? "ok" : std::string(info(answer.error().code).text);
            loop.stop();
        });
        loop.run();
        return out;
    }

    fs::path top;
    AsioLoop loop;
    FolderHost folders{loop};
};

TEST_F(FolderTest, FilesInside_AreReadCreatedAndReplaced) {
    EXPECT_EQ(read("deep/a.txt"), "hello");
    EXPECT_EQ(read("deep/../deep/a.txt"), "hello");
    EXPECT_EQ(write("new.txt", "a longer text"), "ok");
    EXPECT_EQ(write("new.txt", "short"), "ok");
    EXPECT_EQ(get(top / "in/new.txt"), "short");
    fs::create_symlink("deep/a.txt", top / "in/inside");
    EXPECT_EQ(read("inside"), "hello");
}

TEST_F(FolderTest, PathsToTheOutside_AreRefused) {
    fs::create_symlink(top / "secret", top / "in/absolute");
    fs::create_symlink("../secret", top / "in/relative");
    fs::create_symlink("..", top / "in/up");
    fs::create_symlink("/proc/self/root", top / "in/magic");
    for (std::string const path : {"absolute", "relative", "../secret", "up/secret",
                                   "deep/../../secret", "/etc/passwd", "magic/etc/passwd"}) {
        EXPECT_EQ(read(path), "bad_value") << path;
        EXPECT_EQ(write(path, "x"), "bad_value") << path;
    }
    EXPECT_EQ(write("up/made", "x"), "bad_value");
    EXPECT_FALSE(fs::exists(top / "made"));
    EXPECT_EQ(get(top / "secret"), "not yours");
}

// A name checked first and opened later could become a link in between.
TEST_F(FolderTest, NameThatBecomesALink_IsNotFollowed) {
    fs::path const name = top / "in/name", link = top / "in/link", file = top / "in/file";
    std::atomic<bool> done = false;
    std::thread swapper([&] {
        while (!done) {
            put(file, "mine");
            fs::rename(file, name);
            fs::create_symlink(top / "secret", link);
            fs::rename(link, name);
        }
    });
    // The other thread may not run for long: until both states were met, within a limit.
    std::map<std::string, int> seen;
    auto const both = [&] { return seen["mine"] > 0 && seen["bad_value"] > 0; };
    for (int i = 0; i < 4'000 || (!both() && i < 2'000'000); ++i) {
        ++seen[read("name")];
        ++seen[write("name", "mine")];
    }
    done = true;
    swapper.join();
    EXPECT_EQ(get(top / "secret"), "not yours");
    EXPECT_FALSE(seen.contains("not yours"));
    EXPECT_GT(seen["mine"], 0);
    EXPECT_GT(seen["bad_value"], 0);
}

// A user who may rename the folder may put a link in its place.
TEST_F(FolderTest, FolderThatBecameALink_IsNotFollowed) {
    fs::create_directories(top / "other/deep");
    put(top / "other/deep/a.txt", "not yours");
    fs::rename(top / "in", top / "was");
    fs::create_directory_symlink("other", top / "in");
    EXPECT_EQ(read("deep/a.txt"), "bad_value");
    EXPECT_EQ(write("deep/a.txt", "x"), "bad_value");
    EXPECT_EQ(write("made", "x"), "bad_value");
    EXPECT_EQ(get(top / "other/deep/a.txt"), "not yours");
    EXPECT_FALSE(fs::exists(top / "other/made"));
}

TEST_F(FolderTest, RightsOfAnotherUser_LimitAccess) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can take the rights of another";
    constexpr uid_t nobody = 65'534;
    FolderHost theirs(loop, FileRights{nobody, nobody, {nobody}});
    for (fs::path const& folder : {top, top / "in"}) ::chmod(folder.c_str(), 0777);
    put(top / "in/private", "of root");
    ::chmod((top / "in/private").c_str(), 0600);
    std::string answers;
    auto const done = [&](auto const& answer) {
        answers += answer ? "ok;" : std::string(info(answer.error().code).text) + ";";
    };
    std::string const in = (top / "in").string();
    theirs.read(in, "private", 100, done);
    theirs.write(in, "private", "x", done);
    theirs.read(in, "deep/a.txt", 100, done);
    theirs.write(in, "deep/new", "x", done);
    theirs.write(in, "new", "x", [&](Result<void> const& answer) {
        done(answer);
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(answers, "internal;internal;ok;internal;ok;");
    EXPECT_EQ(get(top / "in/private"), "of root");
    struct stat made{};
    ASSERT_EQ(::stat((top / "in/new").c_str(), &made), 0);
    EXPECT_EQ(made.st_uid, nobody);
    EXPECT_EQ(made.st_gid, nobody);
    EXPECT_EQ(read("private"), "of root") << "other threads keep their rights";
}

TEST_F(FolderTest, MissingSpecialOrLargeFile_IsRefused) {
    EXPECT_EQ(read("none"), "not_found");
    EXPECT_EQ(read("deep"), "bad_value");
    EXPECT_EQ(write("deep", "x"), "bad_value");
    EXPECT_EQ(write("none/a", "x"), "not_found");
    ASSERT_EQ(::mkfifo((top / "in/pipe").c_str(), 0600), 0);
    EXPECT_EQ(read("pipe"), "bad_value");
    EXPECT_EQ(write("pipe", "x"), "bad_value");
    EXPECT_EQ(read("deep/a.txt", 5), "hello");
    EXPECT_EQ(read("deep/a.txt", 4), "too_large");
}

TEST_F(FolderTest, FolderHostEnded_FileWritten_NobodyIsCalled) {
    bool called = false;
    auto host = std::make_unique<FolderHost>(loop);
    host->write((top / "in").string(), "made", "x", [&](auto const&) { called = true; });
    while (get(top / "in/made") != "x") std::this_thread::yield();
    host.reset();
    loop.post([&] { loop.stop(); });
    loop.run();
    EXPECT_FALSE(called);
}

}  // namespace
}  // namespace dormouse::io
