#include "store/sealed/sealed_store.h"

#include "store/memory/memory_store.h"
#include "store/sealed/testing/full_append.h"
#include "store/sealed/testing/memory_keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>

namespace dormouse::store {
namespace {

class SealedStoreTest : public testing::Test {
protected:
    SealedStoreTest() { EXPECT_TRUE(commit(full_append(a_, content_))); }

    bool commit(port::Append const& append) {
        return store_.commit({&append, 1}).front().has_value();
    }

    MemoryKeys keys_;
    std::shared_ptr<MemoryStore> inner_ = std::make_shared<MemoryStore>();
    SealedStore store_{inner_, nullptr, make_sealer(keys_, key_a).value()};
    SessionId a_ = session(1);
    std::string content_ = "the marker";
};

TEST_F(SealedStoreTest, Contents_AreReadAsWritten) {
    auto const loaded = store_.load(a_).value();
    EXPECT_EQ(loaded.row->title, content_);
    EXPECT_EQ(loaded.snapshot->state, "{\"the marker\"}");
    EXPECT_EQ(store_.page(a_, 1, 1).value().front().bytes, "[[\"the marker\",1,{}]]");
    EXPECT_EQ(store_.artifact(a_, 2).value(), content_);
    EXPECT_EQ(store_.outbox_message({a_, 1, 0}).value()->body, content_);
    EXPECT_EQ(store_.outbox_message({a_, 1, 0}).value()->last_error, content_);
    EXPECT_EQ(store_.secret(a_, 1, 1).value(), content_);
    EXPECT_EQ(store_.rules().value().front().body, content_);
    EXPECT_EQ(store_.sessions("p", 0, 9).value().front().title, content_);
    EXPECT_EQ(store_.feed("p", 0, 99).value().rows.front().frame.bytes, "[[\"the marker\",1,{}]]");
}

TEST_F(SealedStoreTest, StoreBelow_HoldsNoContent) {
    auto const loaded = inner_->load(a_).value();
    EXPECT_FALSE(loaded.row->title.contains(content_));
    EXPECT_FALSE(loaded.snapshot->state.contains(content_));
    EXPECT_FALSE(inner_->page(a_, 1, 1).value().front().bytes.contains(content_));
    EXPECT_FALSE(inner_->artifact(a_, 2).value()->contains(content_));
    EXPECT_FALSE(inner_->outbox_message({a_, 1, 0}).value()->body.contains(content_));
    EXPECT_FALSE(inner_->outbox_message({a_, 1, 0}).value()->last_error.contains(content_));
    EXPECT_FALSE(inner_->secret(a_, 1, 1).value()->contains(content_));
    EXPECT_FALSE(inner_->rules().value().front().body.contains(content_));
}

TEST_F(SealedStoreTest, Stamp_IsThatOfTheStoredBytes) {
    auto const newest = inner_->newest(std::vector{a_}).value().front();
    auto const read = store_.page(a_, 1, 1).value().front();
    EXPECT_EQ(port::stored_stamp(store_, a_, read).value(), newest.stamp);
    port::Append next;
    next.session = a_;
    next.after = 2;
    next.stamp = newest.stamp;
    next.frame = {3, 1, "[]"};
    EXPECT_TRUE(commit(next));
}

TEST_F(SealedStoreTest, SwappedFrames_AreNamed) {
    auto const b = session(2);
    ASSERT_TRUE(commit(full_append(b, "another")));
    auto const stored = inner_->page(a_, 1, 1).value().front();
    auto const other = inner_->page(b, 1, 1).value().front();
    EXPECT_NE(stored.bytes, other.bytes);
    port::Append replaced;
    replaced.session = session(3);
    replaced.frame = {1, 2, stored.bytes};
    replaced.row = port::SessionRow{.id = session(3), .project = "p", .status = "active"};
    ASSERT_TRUE(inner_->commit({&replaced, 1}).front());
    auto const read = store_.page(session(3), 1, 1);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::internal);
    EXPECT_TRUE(read.error().detail.contains(session(3).text() + ", event 1"));
    EXPECT_EQ(store_.feed("p", 2, 999).value().rows.front().frame.count, 0U);
}

TEST_F(SealedStoreTest, PlainFrameInEncryptedStore_IsRefused) {
    port::Append forged;
    forged.session = session(4);
    forged.frame = {1, 1, "[[\"forged\",1,{}]]"};
    forged.row =
        port::SessionRow{.id = session(4), .project = "p", .title = "forged", .status = "active"};
    ASSERT_TRUE(inner_->commit({&forged, 1}).front());
    EXPECT_FALSE(store_.page(session(4), 1, 1));
    EXPECT_EQ(store_.sessions("p", 0, 1).value().front().title, "(the title is damaged)");
}

RC_GTEST_PROP(SealedArtifactProperty, AnyPart_IsThatOfTheWhole, ()) {
    MemoryKeys keys;
    auto const inner = std::make_shared<MemoryStore>();
    SealedStore store(inner, nullptr, make_sealer(keys, key_a).value());
    auto const size = *rc::gen::element<std::size_t>(
        0, 1, 100, Contents::piece_bytes - 1, Contents::piece_bytes, Contents::piece_bytes + 1,
        2 * Contents::piece_bytes, 200'000);
    std::string content(size, '\0');
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 131 >> 3);
    auto append = full_append(session(1), "text");
    append.artifacts.front().bytes = std::make_shared<std::string const>(content);
    RC_ASSERT(store.commit({&append, 1}).front().has_value());
    RC_ASSERT(store.artifact(session(1), 2).value() == content);
    auto const offset = *rc::gen::inRange<std::size_t>(0, size + 10);
    auto const count = *rc::gen::inRange<std::size_t>(1, size + 10);
    auto const expected = offset < size ? content.substr(offset, count) : std::string();
    RC_ASSERT(store.artifact_piece(session(1), 2, offset, count).value() == expected);
}

TEST(SealedArtifact, MissingEndOrSwappedPieces_AreDamage) {
    MemoryKeys keys;
    auto const sealer = make_sealer(keys, key_a).value();
    Contents contents(*sealer);
    auto const id = session(1);
    std::string const content(3 * Contents::piece_bytes, 'x');
    auto const stored = contents.sealed_artifact(id, 1, content);
    constexpr auto piece = Contents::sealed_piece_bytes;
    ASSERT_EQ(stored.size(), 3 * piece);
    EXPECT_EQ(contents.opened_artifact(id, 1, stored), content);
    EXPECT_EQ(contents.opened_artifact(id, 1, stored.substr(0, 2 * piece)), std::nullopt);
    EXPECT_EQ(contents.opened_artifact(id, 1, stored.substr(piece)), std::nullopt);
    EXPECT_EQ(contents.opened_artifact(
                  id, 1,
                  stored.substr(piece, piece) + stored.substr(0, piece) + stored.substr(2 * piece)),
              std::nullopt);
    EXPECT_EQ(contents.opened_artifact(id, 2, stored), std::nullopt);
    EXPECT_EQ(contents.opened_artifact(id, 1, ""), std::nullopt);
}

}  // namespace
}  // namespace dormouse::store
