#include "cli/client/child.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <filesystem>
#include <fstream>

namespace dormouse::cli {
namespace {

// Runs a shell script in place of the server.
class Child : public testing::Test {
protected:
    Child() : folder_(TemporaryFolder::make(std::filesystem::temp_directory_path().string())) {}

    Outcome<ChildServer> start(std::string const& script) {
        auto const path = folder_->path() + "/program";
        std::ofstream(path) << "#!/bin/sh\nfor last; do :; done\n" << script;
        ::chmod(path.c_str(), 0700);
        ChildServer::Options options;
        options.program = path;
        options.data = folder_->path();
        options.ready_limit = Duration(5000);
        return ChildServer::start(options);
    }

    Outcome<TemporaryFolder> folder_;
};

std::string const ready = "eval \"echo ready http://127.0.0.1:1 >&$last\"\n";

TEST_F(Child, ReadyLine_StartReturns_StopSendsSigterm) {
    auto server = start("trap 'exit 0' TERM\n" + ready + "while :; do sleep 0.01; done\n");
    ASSERT_TRUE(server) << server.error().what;
    EXPECT_EQ(server->url(), "http://127.0.0.1:1");
    EXPECT_GT(server->start_ms(), 0);
    auto const stopped = server->stop();
    EXPECT_TRUE(stopped) << stopped.error().what;
}

TEST_F(Child, EndsAtStart_ErrorQuotesItsLog) {
    auto const server = start("echo 'the database is newer' >&2\nexit 1\n");
    ASSERT_FALSE(server);
    EXPECT_NE(server.error().what.find("the database is newer"), std::string::npos);
}

TEST_F(Child, Kill_ProcessEnds) {
    auto server = start(ready + "while :; do sleep 0.01; done\n");
    ASSERT_TRUE(server) << server.error().what;
    auto const pid = server->pid();
    server->kill();
    EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(pid)));
}

TEST_F(Child, NonzeroExit_IsReportedByStop) {
    auto server = start("trap 'exit 3' TERM\n" + ready + "while :; do sleep 0.01; done\n");
    ASSERT_TRUE(server) << server.error().what;
    EXPECT_FALSE(server->stop());
}

TEST(TemporaryFolderTest, Folder_IsRemovedUnlessKept) {
    auto const parent = std::filesystem::temp_directory_path().string();
    std::string gone;
    std::string stays;
    {
        auto folder = TemporaryFolder::make(parent);
        ASSERT_TRUE(folder);
        gone = folder->path();
        std::ofstream(gone + "/file") << "x";
        auto kept = TemporaryFolder::make(parent);
        ASSERT_TRUE(kept);
        kept->keep();
        stays = kept->path();
    }
    EXPECT_FALSE(std::filesystem::exists(gone));
    EXPECT_TRUE(std::filesystem::exists(stays));
    std::filesystem::remove_all(stays);
}

TEST(ReadyLine, Line_ContainsTheAddress) {
    EXPECT_EQ(ready_url("ready http://127.0.0.1:80\n"), "http://127.0.0.1:80");
    EXPECT_EQ(ready_url("ready http://127.0.0.1:80"), "");
    EXPECT_EQ(ready_url("not ready\n"), "");
}

}  // namespace
}  // namespace dormouse::cli
