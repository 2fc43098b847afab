// Changing all contents in place (PostgresStore::rewrite).
#include "store/postgres/testing/test_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace dormouse::store::postgres {
namespace {

// Writes "new" instead of "old".
class Newer final : public port::Rewriter {
public:
    Changed frame(SessionId, port::Frame const& frame) override { return newer(frame.bytes); }
    Changed snapshot(SessionId, port::SnapshotRow const& row) override { return newer(row.state); }
    Changed artifact(SessionId, Seq, std::string const& bytes) override { return newer(bytes); }
    Changed title(SessionId, std::string const& title) override { return newer(title); }
    Changed message(port::OutboxKey const&, std::string const& body) override {
        return newer(body);
    }
    Changed message_error(port::OutboxKey const&, std::string const& text) override {
        return newer(text);
    }
    Changed secret(SessionId, port::SecretRow const& row) override { return newer(row.secret); }
    Changed sent(SessionId, port::SentRow const& row) override { return newer(row.body); }
    Changed kept(Bits128 const&, std::string const& body) override { return newer(body); }
    Changed rule(std::string const&, std::string const& body) override { return newer(body); }
    std::optional<port::DeviceRow> device(port::DeviceRow const& device) override {
        auto out = device;
        out.auth = newer(device.auth).value_or(device.auth);
        return out.auth == device.auth ? std::nullopt : std::optional(out);
    }

private:
    static Changed newer(std::string const& text) {
        auto const at = text.find("old");
        if (at == std::string::npos) return std::nullopt;
        return std::string(text).replace(at, 3, "new");
    }
};

class RewritingTest : public PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped()) return;
        url_ = server().fresh_url();
        store_ = open_store(url_, {.sole = true});
        for (std::uint8_t number = 1; number <= sessions; ++number) add(number);
    }
    void add(std::uint8_t number) {
        auto append = create(number, "acme");
        auto const id = append.session;
        append.frame.bytes = R"(["old"])";
        append.row->title = "old title";
        append.snapshot = port::SnapshotRow{append.frame.first, 1, R"({"old":1})"};
        append.artifacts.push_back({1, std::make_shared<std::string const>("old bytes")});
        append.outbox.push_back({.key = {id, 1, 0},
                                 .kind = "webhook",
                                 .target = "https://e.org",
                                 .body = "old body",
                                 .last_error = "old error"});
        append.secrets.push_back({1, 1, "old secret"});
        append.rules.push_back(
            {.id = "rul_" + std::to_string(number), .body = "old rule", .session = id});
        ASSERT_TRUE(store_->commit({&append, 1}).front());
    }
    void sql(std::string const& statements) const {
        server().run("SET search_path TO " + parse_address(url_)->schema + ";" + statements);
    }
    void expect_new(std::uint8_t number) {
        auto const id = session(number);
        auto const loaded = store_->load(id).value();
        EXPECT_EQ(loaded.row->title, "new title");
        EXPECT_EQ(loaded.snapshot->state, R"({"new":1})");
        EXPECT_EQ(store_->page(id, 1, 1).value().front().bytes, R"(["new"])");
        EXPECT_EQ(store_->artifact(id, 1).value(), "new bytes");
        EXPECT_EQ(store_->outbox_message({id, 1, 0}).value()->body, "new body");
        EXPECT_EQ(store_->outbox_message({id, 1, 0}).value()->last_error, "new error");
        EXPECT_EQ(store_->secret(id, 1, 1).value(), "new secret");
    }

    static constexpr std::uint8_t sessions = 3;
    std::string url_;
    std::unique_ptr<PostgresStore> store_;
    Newer newer_;
};

TEST_F(RewritingTest, AllContents_AreChangedWithTheirChecksums) {
    EXPECT_EQ(store_->rewrite(newer_).value(), sessions * 7U);
    for (std::uint8_t number = 1; number <= sessions; ++number) expect_new(number);
    EXPECT_EQ(store_->rules().value().front().body, "new rule");
    EXPECT_EQ(store_->feed_and_audit_findings().value(), std::vector<std::string>());
    EXPECT_EQ(store_->rewrite(newer_).value(), 0U) << "nothing is old";
    EXPECT_TRUE(store_->drop_old_versions().value());
    expect_new(1);
}

TEST_F(RewritingTest, SessionThatWasRewritten_TakesAppends) {
    ASSERT_TRUE(store_->rewrite(newer_));
    auto const loaded = store_->load(session(1)).value();
    auto next = append(1, 1);
    next.stamp = loaded.stamp;
    EXPECT_TRUE(store_->commit({&next, 1}).front());
}

TEST_F(RewritingTest, DamagedRow_IsNamedAndStays) {
    sql("UPDATE journal SET data = '[\"older\"]' WHERE no = 2");
    auto const done = store_->rewrite(newer_);
    ASSERT_EQ(code(done), Code::internal);
    EXPECT_TRUE(done.error().detail.contains(session(2).text() + ", event 1"))
        << done.error().detail;
}

TEST_F(RewritingTest, AfterAnError_TheNextCallContinues) {
    sql("CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN RAISE EXCEPTION 'stop'; END$$;"
        "CREATE TRIGGER stop BEFORE UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION stop()");
    EXPECT_FALSE(store_->rewrite(newer_));
    EXPECT_EQ(store_->artifact(session(1), 1).value(), "new bytes");
    EXPECT_EQ(store_->outbox_message({session(1), 1, 0}).value()->body, "old body");
    sql("DROP TRIGGER stop ON posts");
    EXPECT_EQ(store_->rewrite(newer_).value(), sessions * 3U);
    for (std::uint8_t number = 1; number <= sessions; ++number) expect_new(number);
}

TEST_F(RewritingTest, ProcessThatWasDeclaredDead_ChangesNothing) {
    sql("UPDATE writers SET incarnation = '', epoch = NULL");
    EXPECT_FALSE(store_->rewrite(newer_));
    EXPECT_TRUE(store_->fenced());
    EXPECT_EQ(store_->artifact(session(1), 1).value(), "old bytes");
}

}  // namespace
}  // namespace dormouse::store::postgres
