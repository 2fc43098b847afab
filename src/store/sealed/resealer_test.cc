#include "store/sealed/resealer.h"

#include "store/sealed/sealed_store.h"
#include "store/sealed/testing/full_append.h"
#include "store/sealed/testing/memory_keys.h"
#include "store/sqlite/rewrite.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tests/test_directory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>

namespace dormouse::store {
namespace {

class ResealerTest : public testing::Test {
protected:
    ResealerTest() {
        auto append = full_append(a_, content_);
        EXPECT_TRUE(open()->commit({&append, 1}).front());
    }

    [[nodiscard]] std::shared_ptr<SqliteStore> open() const {
        return SqliteStore::open(directory_.path()).value();
    }

    // Encrypts the directory; returns how many pieces it changed.
    [[nodiscard]] Result<std::uint64_t> reseal(std::string const& masters) const {
        auto const store = open();
        auto const sealer = make_sealer(*store, masters, false);
        if (!sealer) return std::unexpected(sealer.error());
        Resealer resealer(**sealer);
        auto const changed = sqlite::rewrite(directory_.path(), resealer);
        if (changed)
            if (auto const keys = (*sealer)->rewrap(true); !keys)
                return std::unexpected(keys.error());
        return changed;
    }

    [[nodiscard]] bool file_has(std::string const& text) const {
        std::ifstream file(directory_.file(), std::ios::binary);
        std::string const bytes(std::istreambuf_iterator<char>(file), {});
        return bytes.contains(text);
    }

    void expect_whole(std::string const& masters) const {
        auto const inner = open();
        SealedStore store(inner, nullptr, make_sealer(*inner, masters, false).value());
        auto const loaded = store.load(a_).value();
        EXPECT_EQ(loaded.row->title, content_);
        EXPECT_EQ(loaded.snapshot->state, "{\"" + content_ + "\"}");
        EXPECT_EQ(store.page(a_, 1, 1).value().front().bytes, "[[\"" + content_ + "\",1,{}]]");
        EXPECT_EQ(store.newest(std::vector{a_}).value().front().head, 2U);
        EXPECT_EQ(store.artifact(a_, 2).value(), content_);
        EXPECT_EQ(store.outbox_message({a_, 1, 0}).value()->body, content_);
        EXPECT_EQ(store.outbox_message({a_, 1, 0}).value()->last_error, content_);
        EXPECT_EQ(store.secret(a_, 1, 1).value(), content_);
        EXPECT_EQ(store.rules().value().front().body, content_);
        EXPECT_EQ(inner->feed_and_audit_findings().value(), std::vector<std::string>());
    }

    TestDirectory directory_;
    SessionId a_ = session(1);
    std::string content_ = "Xq7marker";
};

TEST_F(ResealerTest, PlainStore_IsReadWithAKey) {
    EXPECT_TRUE(file_has(content_));
    expect_whole(key_a);
}

TEST_F(ResealerTest, RewrittenStore_HasNoPlainContentAndReadsTheSame) {
    EXPECT_EQ(reseal(key_a).value(), 7U);
    EXPECT_FALSE(file_has(content_));
    expect_whole(key_a);
    EXPECT_EQ(reseal(key_a).value(), 0U) << "all is encrypted";
    expect_whole(key_a);
}

TEST_F(ResealerTest, Rotation_ChangesKeysAndNoContent) {
    ASSERT_TRUE(reseal(key_a));
    EXPECT_FALSE(reseal(key_b)) << "the old key is needed";
    EXPECT_EQ(reseal(key_b + "," + key_a).value(), 0U);
    EXPECT_FALSE(reseal(key_a));
    expect_whole(key_b);
}

TEST_F(ResealerTest, DamagedFrame_IsNamedAndStays) {
    directory_.run("UPDATE journal SET data = replace(data, 'Xq7', 'Yq7')");
    auto const done = reseal(key_a);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::internal);
    EXPECT_TRUE(done.error().detail.contains(a_.text() + ", event 1"));
    EXPECT_TRUE(directory_.text("SELECT data FROM journal").starts_with("[[\"Yq7"));
}

TEST_F(ResealerTest, ViewsForSql_ShowNoContentAndNoError) {
    ASSERT_TRUE(reseal(key_a));
    EXPECT_EQ(directory_.text("SELECT count(*) FROM agent_session_messages"), "0");
    EXPECT_EQ(directory_.text("SELECT count(*) FROM agent_sessions"), "1");
    EXPECT_EQ(directory_.text("SELECT count(*) FROM pending_tool_calls"), "0");
}

}  // namespace
}  // namespace dormouse::store
