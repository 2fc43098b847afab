#include "archive/archive.h"

#include "archive/names.h"
#include "archive/reindex.h"
#include "archive/writer.h"
#include "backup/gzip.h"
#include "base/text/text.h"
#include "io/clock.h"
#include "store/sealed/master_keys.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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
        auto writer = Writer::open(place(), encryption_);
        if (!writer) return std::unexpected(writer.error());
        std::uint64_t at = first;
        auto next = [&]() -> Result<std::optional<Writer::Session>> {
            if (at > last) return std::nullopt;
            Entry entry{.id = session(at), .project = "a/b", .title = "title of it", .head = at};
            return Writer::Session{entry, "lines of " + std::to_string(at++) + "\n"};
        };
        return writer->write("a/b", from_ms(1'768'000'000'000), origin(), frame(), next);
    }

    static Writer::Origin origin() { return {"1", from_ms(2)}; }
    static Writer::Frame frame() {
        return {"head", [](auto const& all) { return std::to_string(all.size()); }};
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (auto const& entry : fs::directory_iterator(place()))
            out.push_back(entry.path().filename());
        std::ranges::sort(out);
        return out;
    }

    fs::path folder_;
    Encryption encryption_;
};

TEST_F(Archives, MemberWithTheBeginningOfOthersInside_IsFoundByItsChecksum) {
    File const made = write(1, 3).value();
    Describe const describe{
        .head = [](std::string const&) { return Writer::Origin{"1", from_ms(2)}; },
        .session = [](std::string const&) { return Entry{.id = session(9), .head = 1}; }};
    EXPECT_EQ(unindexed(place()).value().size(), 0u);
    fs::remove(index_path(made.stem));
    auto const lost = unindexed(place()).value();
    ASSERT_EQ(lost.size(), 1u);
    EXPECT_EQ(lost[0].stem, made.stem);
    EXPECT_EQ(lost[0].version, 0u);
    EXPECT_EQ(read_data(lost[0], describe).error().code, Code::bad_value) << "they are no sessions";
    // Stored, not compressed: the text has the first bytes of a member.
    std::string const begin = backup::gzip("").substr(0, 10);
    std::string const text = R"({"type":"session"})" + begin + std::string(50, 'x') + begin;
    std::ofstream(lost[0].data, std::ios::binary)
        << backup::gzip("head\n") << backup::gzip(text) << backup::gzip("end\n");
    auto const read = read_data(lost[0], describe).value();
    ASSERT_EQ(read.index.sessions.size(), 1u);
    EXPECT_EQ(read.index.sessions[0].offset, backup::gzip("head\n").size());
    EXPECT_EQ(read.index.sessions[0].bytes, backup::gzip(text).size());
    EXPECT_TRUE(read.lost.empty());
    EXPECT_EQ(read.index.bytes, fs::file_size(lost[0].data));
}

using Keys = std::optional<store::MasterKeys>;

// Returns a key of 32 equal bytes, in base64.
std::string key(char letter) {
    std::string const bytes(32, letter);
    return base64({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
}

class EncryptedArchives : public Archives {
protected:
    EncryptedArchives() { use(old_); }
    void use(Keys const& keys) { encryption_ = {&*keys, &entropy_}; }

    io::SystemEntropy entropy_;
    Keys old_ = store::MasterKeys::parse(key('o')).value();
    Keys both_ = store::MasterKeys::parse(key('n') + "," + key('o')).value();
    Keys fresh_ = store::MasterKeys::parse(key('n')).value();
};

TEST_F(EncryptedArchives, WithItsKey_IsRead) {
    auto const made = write(1, 3).value();
    EXPECT_EQ(made.path.filename(), "a%2Fb-2026-01.1.jsonl.gz.sealed");
    std::string const index = text_of(place() / "a%2Fb-2026-01.1.index.json");
    EXPECT_EQ(index.find("title of it"), std::string::npos);
    EXPECT_NE(index.find("\"format\":2"), std::string::npos);
    auto const all = Archive::open(place(), both_).value();
    auto const found = all.find(session(2).text()).value();
    EXPECT_EQ(found.entry->title, "title of it");
    EXPECT_EQ(Archive::read(found).value(), "lines of 2\n");
}

TEST_F(EncryptedArchives, MissingOrWrongKey_IsNamed) {
    write(1, 1).value();
    for (Keys const& keys : {Keys(), fresh_}) {
        auto const all = Archive::open(place(), keys).value();
        auto const error = Archive::read(all.find(session(1).text()).value()).error();
        EXPECT_EQ(error.code, Code::wrong_state);
        EXPECT_NE(error.detail.find("master key " + old_->first().id), std::string::npos);
        EXPECT_FALSE(check_key(all.files().front()));
    }
}

TEST_F(EncryptedArchives, ChangedOrExchangedBytes_DoNotOpen) {
    auto const made = write(1, 2).value();
    fs::path const path = place() / "a%2Fb-2026-01.1.index.json";
    Index index = made.index;
    std::swap(index.sessions[0].offset, index.sessions[1].offset);
    std::swap(index.sessions[0].bytes, index.sessions[1].bytes);
    std::swap(index.sessions[0].digest, index.sessions[1].digest);
    std::ofstream(path, std::ios::binary) << write_index(index);
    EXPECT_EQ(Archive::open(place(), old_).error().code, Code::bad_value);
    index = made.index;
    index.key->bytes[20] ^= 1;
    std::ofstream(path, std::ios::binary) << write_index(index);
    EXPECT_EQ(Archive::open(place(), old_).error().code, Code::bad_value);
    index = made.index;
    index.sessions.pop_back();
    std::ofstream(path, std::ios::binary) << write_index(index);
    EXPECT_EQ(Archive::open(place(), old_).error().code, Code::bad_value);
}

TEST_F(EncryptedArchives, Rewrap_NeedsTheNewKeyOnly) {
    write(1, 2).value();
    use(both_);
    {
        auto writer = Writer::open(place(), encryption_).value();
        auto const all = Archive::open(place(), both_).value();
        EXPECT_TRUE(writer.rewrap(all.files().front()).value());
    }
    auto const all = Archive::open(place(), fresh_).value();
    EXPECT_EQ(Archive::read(all.find(session(2).text()).value()).value(), "lines of 2\n");
    EXPECT_FALSE(Writer::open(place(), encryption_).value().rewrap(all.files().front()).value());
    EXPECT_FALSE(check_key(Archive::open(place(), old_).value().files().front()));
}

TEST_F(EncryptedArchives, PlainFileWrittenAgain_IsEncrypted) {
    encryption_ = {};
    auto const made = write(1, 2).value();
    use(old_);
    auto writer = Writer::open(place(), encryption_).value();
    auto const same = [](Writer::Session one) { return one; };
    EXPECT_TRUE(writer.rewrite(made, origin(), frame(), same, Writer::OnDamage::refuse));
    EXPECT_EQ(names(), (std::vector<std::string>{"a%2Fb-2026-01.1.1.jsonl.gz.sealed",
                                                 "a%2Fb-2026-01.1.index.json", "lock"}));
    auto const all = Archive::open(place(), old_).value();
    EXPECT_EQ(Archive::read(all.find(session(1).text()).value()).value(), "lines of 1\n");
    EXPECT_EQ(all.files().front().index.sessions[1].title, "title of it");
}

TEST_F(Archives, Sessions_AreFoundAndRead) {
    auto const made = write(1, 3).value();
    EXPECT_EQ(made.path.filename(), "a%2Fb-2026-01.1.jsonl.gz");
    EXPECT_EQ(write(4, 4).value().path.filename(), "a%2Fb-2026-01.2.jsonl.gz");
    auto const all = Archive::open(place(), {}).value();
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
    auto const all = Archive::open(place(), {}).value();
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
        EXPECT_EQ(Archive::open(place(), {}).error().code, Code::bad_value) << size;
    }
    std::string newer = good;
    newer.replace(newer.find("\"format\":1"), 10, "\"format\":3");
    std::ofstream(path, std::ios::binary) << newer;
    EXPECT_EQ(Archive::open(place(), {}).error().code, Code::newer_format);
}

TEST_F(Archives, TwoWriters_AndForeignDirectories_AreRefused) {
    auto const first = Writer::open(place(), {});
    ASSERT_TRUE(first);
    EXPECT_EQ(Writer::open(place(), {}).error().code, Code::wrong_state);
    std::ofstream(folder_ / "notes.txt") << "mine";
    EXPECT_EQ(Writer::open(folder_, {}).error().code, Code::wrong_state);
    EXPECT_EQ(Archive::open(folder_ / "nothing", {}).error().code, Code::not_found);
}

TEST_F(Archives, WhatFailedInBetween_LeavesNoFile) {
    auto writer = Writer::open(place(), {}).value();
    auto next = []() -> Result<std::optional<Writer::Session>> {
        return fail(Code::store_unavailable, "gone");
    };
    EXPECT_FALSE(writer.write("a", {}, origin(), frame(), next));
    EXPECT_EQ(Archive::open(place(), {}).error().code, Code::not_found);
    for (auto const& entry : fs::directory_iterator(place()))
        EXPECT_EQ(entry.path().filename(), "lock");
}

TEST_F(Archives, Rewrite_ReplacesTheFileAsAWhole) {
    auto const made = write(1, 3).value();
    auto writer = Writer::open(place(), {}).value();
    auto const refuse = [](Writer::Session one) -> Result<Writer::Session> {
        if (one.entry.head == 3) return fail(Code::bad_value, "no");
        return one;
    };
    EXPECT_FALSE(writer.rewrite(made, origin(), frame(), refuse, Writer::OnDamage::refuse));
    EXPECT_EQ(names().size(), 3u) << "the former file, its index and the lock";
    auto const change = [](Writer::Session one) -> Result<Writer::Session> {
        if (one.entry.head != 2) return one;
        return Writer::Session{one.entry, "other lines\n"};
    };
    auto const again =
        writer.rewrite(made, origin(), frame(), change, Writer::OnDamage::refuse).value();
    EXPECT_EQ(again.path.filename(), "a%2Fb-2026-01.1.1.jsonl.gz");
    EXPECT_FALSE(fs::exists(made.path));
    auto const all = Archive::open(place(), {}).value();
    EXPECT_EQ(Archive::read(all.find(session(2).text()).value()).value(), "other lines\n");
    EXPECT_EQ(Archive::read(all.find(session(3).text()).value()).value(), "lines of 3\n");
    EXPECT_TRUE(Archive::check_size(all.files().front()));
}

TEST_F(Archives, Rewrite_LeavesSessionsOut) {
    auto const made = write(1, 3).value();
    auto writer = Writer::open(place(), {}).value();
    auto const same = [](Writer::Session one) { return one; };
    std::set<SessionId> const without{session(1), session(3)};
    ASSERT_TRUE(writer.rewrite(made, origin(), frame(), same, Writer::OnDamage::refuse, without));
    auto const all = Archive::open(place(), {}).value();
    ASSERT_EQ(all.files().front().index.sessions.size(), 1u);
    EXPECT_EQ(Archive::read(all.find(session(2).text()).value()).value(), "lines of 2\n");
    EXPECT_FALSE(all.find(session(1).text()));
    EXPECT_TRUE(Archive::check_size(all.files().front()));
}

TEST_F(Archives, Removed_FileAndIndexAreGone) {
    auto const made = write(1, 3).value();
    auto writer = Writer::open(place(), {}).value();
    ASSERT_TRUE(writer.remove(made));
    EXPECT_EQ(names(), std::vector<std::string>{"lock"});
    EXPECT_TRUE(writer.remove(made)) << "as after a kill";
}

TEST_F(Archives, FormerFileOfACrash_IsRemovedByTheNextWriter) {
    auto const made = write(1, 1).value();
    std::string const good = text_of(made.path);
    auto const same = [](Writer::Session one) { return one; };
    EXPECT_TRUE(Writer::open(place(), {})
                    .value()
                    .rewrite(made, origin(), frame(), same, Writer::OnDamage::refuse));
    std::ofstream(made.path, std::ios::binary) << good;
    std::ofstream(place() / "a%2Fb-2026-02.1.jsonl.gz") << "of a run that was cut off";
    EXPECT_TRUE(Writer::open(place(), {}));
    EXPECT_EQ(names(),
              (std::vector<std::string>{"a%2Fb-2026-01.1.1.jsonl.gz", "a%2Fb-2026-01.1.index.json",
                                        "a%2Fb-2026-02.1.jsonl.gz", "lock"}));
}

TEST_F(Archives, IndexOfACrash_IsPutInItsPlaceByTheNextWriter) {
    write(1, 2).value();
    fs::path const index = place() / "a%2Fb-2026-01.1.index.json";
    fs::rename(index, index.string() + ".new");
    EXPECT_FALSE(Archive::open(place(), {}));
    EXPECT_TRUE(Writer::open(place(), {}));
    auto const all = Archive::open(place(), {}).value();
    EXPECT_EQ(Archive::read(all.find(session(2).text()).value()).value(), "lines of 2\n");
    EXPECT_EQ(names(), (std::vector<std::string>{"a%2Fb-2026-01.1.index.json",
                                                 "a%2Fb-2026-01.1.jsonl.gz", "lock"}));
}

TEST_F(Archives, NewIndexWithoutItsData_IsRemoved) {
    write(1, 2).value();
    fs::path const index = place() / "a%2Fb-2026-01.1.index.json";
    fs::copy(index, place() / "a%2Fb-2026-01.2.index.json.new");
    std::ofstream(index.string() + ".new") << "half";
    EXPECT_TRUE(Writer::open(place(), {}));
    EXPECT_EQ(names(), (std::vector<std::string>{"a%2Fb-2026-01.1.index.json",
                                                 "a%2Fb-2026-01.1.jsonl.gz", "lock"}));
}

TEST_F(Archives, Survey_NamesEachFileOfAPairThatIsAlone) {
    for (std::uint64_t i = 1; i <= 4; ++i) write(i, i).value();
    EXPECT_TRUE(survey(place(), {}).value().findings.empty());
    fs::remove(place() / "a%2Fb-2026-01.1.index.json");
    fs::remove(place() / "a%2Fb-2026-01.2.jsonl.gz");
    std::ofstream(place() / "a%2Fb-2026-01.3.index.json") << "damaged";
    auto const found = survey(place(), {}).value();
    EXPECT_EQ(found.files.size(), 1u);
    ASSERT_EQ(found.findings.size(), 3u);
    EXPECT_TRUE(found.findings[0].contains("a%2Fb-2026-01.2.jsonl.gz: it is missing"));
    EXPECT_TRUE(found.findings[1].contains("a%2Fb-2026-01.3.index.json"));
    EXPECT_TRUE(found.findings[2].contains("a%2Fb-2026-01.1.jsonl.gz: its index is missing"));
    EXPECT_FALSE(survey(folder_, {})) << "no archive";
}

}  // namespace
}  // namespace dormouse::archive
