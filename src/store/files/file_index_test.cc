#include "store/files/file_index.h"

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace dormouse::store {
namespace {

using port::PendingStatus;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

SessionId session(std::uint64_t number) { return SessionId::make(number, {}); }
PendingId call(std::uint64_t number, CallNo no = 1) { return {session(number), no, 1, {}}; }
port::CallDocument document(PendingId const& id, std::string text = R"({"a":1})",
                            PendingStatus status = PendingStatus::waiting) {
    return {id, status, {}, std::move(text)};
}

class FileIndexTest : public ::testing::Test {
protected:
    FileIndexTest() {
        auto name = (std::filesystem::temp_directory_path() / "dormouse-index-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) std::abort();
        top = name;
    }
    ~FileIndexTest() override {
        std::error_code ignored;
        std::filesystem::remove_all(top, ignored);
    }

    // An index with the calls of sessions 1 and 2.
    void fill(FileIndex& index) {
        ASSERT_EQ(index.open().value(), "");
        ASSERT_TRUE(index.begin_rebuild());
        ASSERT_TRUE(index.apply({.calls = {document(call(1)), document(call(2))},
                                 .sessions = {{session(1), "p", "{}"}, {session(2), "p", "{}"}},
                                 .position = "one"}));
    }
    [[nodiscard]] std::filesystem::path calls() const { return top / "storage/pending_tool"; }
    [[nodiscard]] std::filesystem::path file(PendingId const& id) const {
        return calls() / (id.text() + ".json");
    }
    [[nodiscard]] static std::string text(std::filesystem::path const& path) {
        std::ifstream in(path);
        std::ostringstream out;
        out << in.rdbuf();
        return out.str();
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (auto const& entry : std::filesystem::recursive_directory_iterator(top / "storage"))
            if (!entry.is_directory()) out.push_back(entry.path().filename().string());
        return out;
    }

    // A file that is replaced has another inode.
    struct Written {
        std::size_t files = 0;
        std::uintmax_t bytes = 0;
        friend bool operator==(Written const&, Written const&) = default;
    };
    using Inodes = std::map<std::string, ino_t>;
    [[nodiscard]] Inodes inodes() const {
        Inodes out;
        for (auto const& entry : std::filesystem::recursive_directory_iterator(top / "storage")) {
            struct stat found{};
            if (entry.is_regular_file() && stat(entry.path().c_str(), &found) == 0)
                out[entry.path()] = found.st_ino;
        }
        return out;
    }
    [[nodiscard]] Written since(Inodes const& before) const {
        Written out;
        for (auto const& [path, inode] : inodes()) {
            auto const old = before.find(path);
            if (old != before.end() && old->second == inode) continue;
            ++out.files;
            out.bytes += std::filesystem::file_size(path);
        }
        return out;
    }

    std::filesystem::path top;
};

TEST_F(FileIndexTest, Batch_IsThereAfterReopening) {
    {
        FileIndex index(top);
        fill(index);
        ASSERT_TRUE(
            index.apply({.calls = {document(call(1), R"({"a":2})", PendingStatus::completed)},
                         .position = "two"}));
        EXPECT_TRUE(index.flush_within());
        ASSERT_TRUE(index.flush());
        EXPECT_FALSE(index.flush_within());
    }
    FileIndex again(top);
    EXPECT_EQ(again.open().value(), "two");
    EXPECT_EQ(text(file(call(1))), R"({"a":2})");
    EXPECT_THAT(text(calls() / "index.json"),
                HasSubstr("\"completed\":[\"" + call(1).text() + "\"]"));
}

TEST_F(FileIndexTest, CrashBeforeFlush_FallsBackToTheOlderPosition) {
    {
        FileIndex index(top);
        fill(index);
        ASSERT_TRUE(index.apply({.calls = {document(call(3))}, .position = "two"}));
    }
    FileIndex again(top);
    EXPECT_EQ(again.open().value(), "one");
}

TEST_F(FileIndexTest, DeletedSession_LosesItsFilesOnly) {
    FileIndex index(top);
    fill(index);
    ASSERT_TRUE(index.apply({.deleted = {{session(1), "p"}}, .position = "two"}));
    ASSERT_TRUE(index.flush());
    EXPECT_THAT(names(), UnorderedElementsAre("index.json", call(2).text() + ".json",
                                              session(2).text() + ".json"));
}

TEST_F(FileIndexTest, Rebuild_RemovesWhatIsNotInIt) {
    FileIndex index(top);
    fill(index);
    ASSERT_TRUE(index.begin_rebuild());
    ASSERT_TRUE(index.apply(
        {.calls = {document(call(2))}, .sessions = {{session(2), "p", "{}"}}, .position = ""}));
    EXPECT_TRUE(std::filesystem::exists(file(call(1)))) << "until the end";
    ASSERT_TRUE(index.apply({.position = "two"}));
    EXPECT_THAT(names(), UnorderedElementsAre("index.json", call(2).text() + ".json",
                                              session(2).text() + ".json"));
}

TEST_F(FileIndexTest, CallWithoutFile_MeansRebuild) {
    FileIndex index(top);
    fill(index);
    std::filesystem::remove(file(call(2)));
    EXPECT_EQ(index.open().value(), "");
}

TEST_F(FileIndexTest, SessionWithoutFile_MeansRebuild) {
    FileIndex index(top);
    fill(index);
    std::filesystem::remove(top / "storage/session/p" / (session(2).text() + ".json"));
    EXPECT_EQ(index.open().value(), "");
}

TEST_F(FileIndexTest, FileInTheWay_IsAnErrorThatNamesIt) {
    std::ofstream(top / "storage") << "x";
    FileIndex index(top);
    auto const opened = index.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::store_unavailable);
    EXPECT_THAT(opened.error().detail, HasSubstr("storage: something else has this name"));
}

TEST_F(FileIndexTest, WriteFails_OldFileStaysWhole) {
    FileIndex index(top);
    fill(index);
    // A limit on the size of files is reported as a full disk is: by write(), after a part.
    auto const former = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit const small{4'096, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    auto const large = document(call(1), "\"" + std::string(100'000, 'x') + "\"");
    auto const done = index.apply({.calls = {large}, .position = "two"});
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)std::signal(SIGXFSZ, former);
    EXPECT_FALSE(done);
    EXPECT_EQ(text(file(call(1))), R"({"a":1})");
    EXPECT_FALSE(std::filesystem::exists(calls() / files::temporary_name(call(1).text() + ".json")))
        << "it would fill the disk";
    EXPECT_TRUE(index.apply({.calls = {large}, .position = "two"})) << "the disk has room again";
}

TEST_F(FileIndexTest, MoreFilesThanMayBeOpenAtOnce_AreWritten) {
    FileIndex index(top);
    fill(index);
    port::IndexBatch batch{.position = "two"};
    for (CallNo no = 1; no <= 200; ++no) batch.calls.push_back(document(call(9, no)));
    ASSERT_TRUE(index.apply(batch));
    EXPECT_EQ(names().size(), 200U + 5U);
}

TEST_F(FileIndexTest, Call_WritesAsMuchBesideManyAsBesideFew) {
    FileIndex index(top);
    fill(index);
    CallNo no = 1;
    auto const one = [&] {
        auto const before = inodes();
        ++no;
        EXPECT_TRUE(index.apply({.calls = {document(call(1, no)), document(call(2))},
                                 .sessions = {{session(1), "p", "{}"}},
                                 .position = "more"}));
        return since(before);
    };
    Written const beside_few = one();
    EXPECT_EQ(beside_few.files, 3U);
    port::IndexBatch many{.position = "many"};
    for (std::uint64_t n = 3; n < 500; ++n) {
        many.calls.push_back(document(call(n)));
        many.sessions.push_back({session(n), "p", "{}"});
    }
    ASSERT_TRUE(index.apply(many));
    EXPECT_EQ(one(), beside_few);
    ASSERT_TRUE(index.flush());
    EXPECT_EQ(one(), beside_few);
}

}  // namespace
}  // namespace dormouse::store
