#include "http/resources/shared_access.h"

#include "http/resources/testing/api_fixture.h"

#include <deque>

// Tests the order in which a process learns of tokens: by its own changes, by reading the store,
// and by looking one up.
namespace dormouse::http {
namespace {

// Reads at once; answers when the test says so.
class HeldReads final : public port::Journal {
public:
    explicit HeldReads(port::Store& store) : store_(store) {}

    void commit(std::vector<port::Append>,
                port::Fn<void(std::vector<port::AppendResult>)>) override {}
    void write(port::Fn<Result<void>(port::Store&)>, port::Fn<void(Result<void>)>) override {}
    void read(port::ReadKey, port::Fn<void(port::Store&)> work, port::Fn<void()> done) override {
        work(store_);
        held_.push_back(std::move(done));
    }
    void answer() {
        ASSERT_FALSE(held_.empty());
        auto done = std::move(held_.front());
        held_.pop_front();
        done();
    }
    [[nodiscard]] std::size_t held() const { return held_.size(); }

private:
    port::Store& store_;
    std::deque<port::Fn<void()>> held_;
};

class SharedAccessTest : public ApiTest {
protected:
    SharedAccessTest() {
        services.find_token =
            [this](Sha256 const& digest) -> Result<std::optional<port::TokenRow>> {
            if (fails) return dormouse::fail(Code::store_unavailable, "away");
            auto const rows = journal.store->tokens();
            for (port::TokenRow const& one : *rows)
                if (one.secret == digest) return one;
            return std::nullopt;
        };
    }
    port::TokenRow row(std::string id) const {
        port::TokenRow out{.id = id, .kind = "token", .name = "ci", .role = "answer"};
        out.secret = sha256("secret of " + id);
        out.created = clock.now();
        return out;
    }
    void store(std::string const& id) {
        ASSERT_TRUE(journal.store->change_tokens({.put = row(id), .audit = "{}"}));
    }
    void remove(std::string const& id) {
        ASSERT_TRUE(journal.store->change_tokens({.drop = id, .audit = "{}"}));
    }
    bool knows(std::string const& id) {
        return gate.tokens().find("token", "secret of " + id) != nullptr;
    }
    void refresh() {
        access.refresh([this](Result<void> const& done) { answers.push_back(bool(done)); });
    }
    void look_up(std::string const& id) {
        access.look_up("token", "secret of " + id,
                       [this](Result<void> const& done) { answers.push_back(bool(done)); });
    }

    HeldReads reads{*journal.store};
    Services services{loop, reads, catalogue, *runner, gate, metrics, log, entropy, clock};
    SharedAccess access{services, [] {}};
    std::vector<bool> answers;
    bool fails = false;
};

TEST_F(SharedAccessTest, ChangeEndsWhileTheStoreIsRead_OlderViewDoesNotCount) {
    auto change = access.changing();
    access.on_heartbeat(1);  // reads before the change is stored
    store("tok_a");
    change.reset();
    gate.tokens().add(row("tok_a"));
    reads.answer();
    EXPECT_TRUE(knows("tok_a"));
    loop.advance(Duration(200));
    reads.answer();
    EXPECT_TRUE(knows("tok_a"));
}

TEST_F(SharedAccessTest, ChangeElsewhereWhileTheStoreIsRead_IsReadToo) {
    store("tok_a");
    access.on_heartbeat(1);
    remove("tok_a");
    access.on_heartbeat(2);
    reads.answer();
    loop.advance(Duration(50));
    ASSERT_EQ(reads.held(), 1U);
    reads.answer();
    EXPECT_FALSE(knows("tok_a"));
}

TEST_F(SharedAccessTest, UnknownToken_IsLookedUpOnceForAllWhoAsk) {
    store("tok_a");
    look_up("tok_a");
    look_up("tok_a");
    EXPECT_EQ(reads.held(), 1U);
    reads.answer();
    EXPECT_EQ(answers, (std::vector{true, true}));
    EXPECT_TRUE(knows("tok_a"));
}

TEST_F(SharedAccessTest, BuiltInTokenRevokedElsewhere_IsInvalidAndNotLookedUpAgain) {
    gate.tokens().add_built_in("first", "secret of tok_a");
    auto revoked = row("tok_a");
    revoked.kind = revoked_kind;
    ASSERT_TRUE(journal.store->change_tokens({.put = revoked, .audit = "{}"}));
    access.on_heartbeat(1);
    reads.answer();
    EXPECT_FALSE(knows("tok_a"));
    look_up("tok_a");
    ASSERT_EQ(reads.held(), 1U);
    reads.answer();
    EXPECT_FALSE(knows("tok_a"));
    look_up("tok_a");
    EXPECT_EQ(reads.held(), 0U) << "a secret that is refused costs no reads";
}

TEST_F(SharedAccessTest, MissingToken_IsAskedForAgainAfterASecond) {
    look_up("tok_a");
    reads.answer();
    EXPECT_FALSE(knows("tok_a"));
    store("tok_a");
    look_up("tok_a");
    EXPECT_EQ(reads.held(), 0U);
    loop.advance(Duration(1'000));
    look_up("tok_a");
    reads.answer();
    EXPECT_TRUE(knows("tok_a"));
}

TEST_F(SharedAccessTest, StoreIsAway_NobodyIsToldThatTheTokenIsMissing) {
    fails = true;
    look_up("tok_a");
    reads.answer();
    EXPECT_EQ(answers, std::vector{false});
    fails = false;
    store("tok_a");
    look_up("tok_a");
    reads.answer();
    EXPECT_TRUE(knows("tok_a"));
}

TEST_F(SharedAccessTest, RevokedWhileLookedUp_IsRefused) {
    store("tok_a");
    look_up("tok_a");
    remove("tok_a");
    {
        auto const change = access.changing();  // this process revokes it
        gate.tokens().remove("tok_a");
    }
    reads.answer();
    loop.advance(Duration(50));
    reads.answer();
    EXPECT_FALSE(knows("tok_a"));
    EXPECT_EQ(answers, std::vector{true});
}

TEST_F(SharedAccessTest, RevokedElsewhereWhileLookedUp_IsRefusedSoon) {
    store("tok_a");
    look_up("tok_a");
    remove("tok_a");
    reads.answer();
    loop.advance(Duration(200));
    reads.answer();
    EXPECT_FALSE(knows("tok_a"));
}

TEST_F(SharedAccessTest, Refresh_KnowsWhatOthersChangedBeforeIt) {
    store("tok_a");
    refresh();
    EXPECT_TRUE(answers.empty());
    reads.answer();
    EXPECT_TRUE(knows("tok_a"));
    EXPECT_EQ(answers, std::vector{true});
}

TEST_F(SharedAccessTest, RefreshWhileTheStoreIsRead_WaitsForTheNextRead) {
    access.on_heartbeat(1);
    store("tok_a");
    refresh();
    reads.answer();
    EXPECT_TRUE(answers.empty()) << "it was read before the change";
    loop.advance(Duration(50));
    reads.answer();
    EXPECT_TRUE(knows("tok_a"));
    EXPECT_EQ(answers, std::vector{true});
}

TEST_F(SharedAccessTest, RefreshWhileThisProcessChanges_IsReadAgain) {
    auto change = access.changing();
    refresh();
    store("tok_a");
    change.reset();
    reads.answer();
    EXPECT_TRUE(answers.empty());
    loop.advance(Duration(100));
    reads.answer();
    EXPECT_TRUE(knows("tok_a"));
    EXPECT_EQ(answers, std::vector{true});
}

TEST_F(SharedAccessTest, RefreshWhileThisProcessAlwaysChanges_EndsAfterTwentyReads) {
    auto const change = access.changing();
    refresh();
    for (int reads_done = 0; reads_done < 20; ++reads_done) {
        EXPECT_TRUE(answers.empty());
        reads.answer();
        loop.advance(Duration(100));
    }
    EXPECT_EQ(answers, std::vector{true});
}

TEST_F(SharedAccessTest, RefreshOfTheOnlyProcess_ReadsNothing) {
    services.find_token = {};
    refresh();
    EXPECT_EQ(answers, std::vector{true});
    EXPECT_EQ(reads.held(), 0U);
}

}  // namespace
}  // namespace dormouse::http
