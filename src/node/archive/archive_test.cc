#include "archive/archive.h"

#include "backup/gzip.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace dormouse::archive {
namespace {

namespace fs = std::filesystem;

SessionId session(std::uint64_t number) { return SessionId::make(number, {}); }

std::string text_of(fs::path const& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
}

class Archives : public ::testing::Test {
protected:
    Archives() {
        std::string name = (fs::temp_directory_path() / "archive.XXXXXX").string();
        folder_ = fs::path(::mkdtemp(name.data()));
    }
    ~Archives() override { fs::remove_all(folder_); }

    [[nodiscard]] fs::path place() const { return folder_ / "archive"; }

    Result<File> write(std::uint64_t first, std::uint64_t last) {
        auto writer = Writer::open(place());
        if (!writer) return std::unexpected(writer.error());
        std::uint64_t at = first;
        auto next = [&]() -> Result<std::optional<Writer::Session>> {
            if (at > last) return std::nullopt;
            Entry entry{.id = session(at), .project = "a/b", .title = "", .head = at};
            return Writer::Session{entry, "lines of " + std::to_string(at++) + "\n"};
        };
        return writer->write("a/b", from_ms(1'768'000'000'000), "1", from_ms(2),
                             {"head", [](auto const& all) { return std::to_string(all.size()); }},
                             next);
    }

    fs::path folder_;
};

TEST_F(Archives, Sessions_AreFoundAndRead) {
    auto const made = write(1, 3).value();
    EXPECT_EQ(made.path.filename(), "a%2Fb-2026-01.1.jsonl.gz");
    EXPECT_EQ(write(4, 4).value().path.filename(), "a%2Fb-2026-01.2.jsonl.gz");
    auto const all = Archive::open(place()).value();
    ASSERT_EQ(all.files().size(), 2u);
    for (std::uint64_t number = 1; number <= 4; ++number) {
        auto const found = all.find(session(number).text()).value();
        EXPECT_EQ(found.entry->head, number);
        EXPECT_EQ(Archive::read(found).value(), "lines of " + std::to_string(number) + "\n");
    }
    EXPECT_EQ(all.find(session(5).text()).error().code, Code::not_found);
    EXPECT_EQ(all.find("ses_").error().code, Code::bad_value);
    for (File const& file : all.files()) EXPECT_TRUE(Archive::check_size(file));
}

TEST_F(Archives, DamagedAndTruncatedFiles_AreNamed) {
    auto const made = write(1, 3).value();
    auto const all = Archive::open(place()).value();
    auto const found = all.find(session(2).text()).value();
    std::string const good = text_of(made.path);
    std::string bad = good;
    bad[found.entry->offset + 12] ^= 1;
    std::ofstream(made.path, std::ios::binary) << bad;
    EXPECT_EQ(Archive::read(found).error().code, Code::bad_value);
    EXPECT_TRUE(Archive::read(all.find(session(1).text()).value()));
    fs::resize_file(made.path, found.entry->offset + 5);
    EXPECT_NE(Archive::read(found).error().detail.find("truncated"), std::string::npos);
    EXPECT_FALSE(Archive::check_size(all.files().front()));
}

TEST_F(Archives, IndexThatWasChangedOrIsNewer_IsRefused) {
    auto const made = write(1, 1).value();
    fs::path const path = place() / "a%2Fb-2026-01.1.index.json";
    std::string const good = text_of(path);
    for (std::size_t size = 0; size < good.size(); size += 7) {
        std::ofstream(path, std::ios::binary) << good.substr(0, size);
        EXPECT_EQ(Archive::open(place()).error().code, Code::bad_value) << size;
    }
    std::string newer = good;
    newer.replace(newer.find("\"format\":1"), 10, "\"format\":2");
    std::ofstream(path, std::ios::binary) << newer;
    EXPECT_EQ(Archive::open(place()).error().code, Code::newer_format);
}

TEST_F(Archives, TwoWriters_AndForeignDirectories_AreRefused) {
    auto const first = Writer::open(place());
    ASSERT_TRUE(first);
    EXPECT_EQ(Writer::open(place()).error().code, Code::wrong_state);
    std::ofstream(folder_ / "notes.txt") << "mine";
    EXPECT_EQ(Writer::open(folder_).error().code, Code::wrong_state);
    EXPECT_EQ(Archive::open(folder_ / "nothing").error().code, Code::not_found);
}

TEST_F(Archives, WhatFailedInBetween_LeavesNoFile) {
    auto writer = Writer::open(place()).value();
    auto next = []() -> Result<std::optional<Writer::Session>> {
        return fail(Code::store_unavailable, "gone");
    };
    EXPECT_FALSE(writer.write("a", {}, "1", {}, {"", [](auto const&) { return ""; }}, next));
    EXPECT_EQ(Archive::open(place()).error().code, Code::not_found);
    for (auto const& entry : fs::directory_iterator(place()))
        EXPECT_EQ(entry.path().filename(), "lock");
}

}  // namespace
}  // namespace dormouse::archive
