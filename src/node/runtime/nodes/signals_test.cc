#include "runtime/nodes/signals.h"

#include "runner/testing/world.h"
#include "runtime/testing/agreeing_store.h"

#include <gtest/gtest.h>

namespace dormouse::runtime {
namespace {

using runner::testing::TestLoop;
using Texts = std::vector<std::string>;

class SayingStore final : public AgreeingStore {
public:
    [[nodiscard]] Result<port::HeartbeatReply> beat(Self const& /*self*/) override {
        return port::HeartbeatReply{};
    }
    [[nodiscard]] Result<bool> remove(port::NodeRow const& /*seen*/) override { return false; }
    [[nodiscard]] Result<Epoch> join() override { return Epoch{0}; }
    [[nodiscard]] Result<port::FeedPage> others(std::uint64_t /*after*/,
                                                std::size_t /*max_bytes*/) override {
        return port::FeedPage{};
    }
    [[nodiscard]] Result<void> publish(std::span<std::string const> texts) override {
        published.emplace_back(texts.begin(), texts.end());
        return {};
    }

    std::vector<Texts> published;  // of each call
};

class LoopWorkers final : public port::Workers {
public:
    explicit LoopWorkers(TestLoop& loop) : loop_(loop) {}
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override {
        loop_.post([job = std::move(job), done = std::move(done)]() mutable {
            job(std::stop_token());
            done(true);
        });
        return std::stop_source(std::nostopstate);
    }

private:
    TestLoop& loop_;
};

class SignalsTest : public ::testing::Test {
protected:
    SignalsTest() {
        signals.start({[this] { ++moved; },
                       [this](Epoch from, std::string_view text) {
                           received.push_back(std::to_string(from) + ":" + std::string(text));
                       }});
    }

    TestLoop loop;
    SayingStore store;
    LoopWorkers thread{loop};
    Signals signals{{loop, store, thread}};
    int moved = 0;
    Texts received;
};

TEST_F(SignalsTest, ManyAppends_AreSaidAtOnceAndThenTogether) {
    for (int n = 0; n < 100; ++n) signals.moved(7);
    loop.run();
    EXPECT_EQ(store.published, (std::vector<Texts>{{"a7"}}));
    loop.advance(Signals::apart);
    EXPECT_EQ(store.published, (std::vector<Texts>{{"a7"}, {"a7"}}));
    loop.advance(Signals::apart * 10);
    EXPECT_EQ(store.published.size(), 2U) << "nothing is new";
}

TEST_F(SignalsTest, Texts_AreSaidInOrder) {
    signals.publish(7, "one");
    signals.publish(7, "two");
    signals.moved(7);
    loop.run();
    loop.advance(Signals::apart);
    EXPECT_EQ(store.published, (std::vector<Texts>{{"t7 one"}, {"t7 two", "a7"}}));
}

TEST_F(SignalsTest, MoreThanTheLimit_IsLost) {
    std::string const text(Signals::text_max, 'x');
    for (std::size_t n = 0; n <= 2 * Signals::waiting_max / text.size(); ++n)
        signals.publish(7, text);
    loop.run();
    loop.advance(Signals::apart);
    std::size_t bytes = 0;
    for (Texts const& texts : store.published)
        for (std::string const& one : texts) bytes += one.size();
    EXPECT_LE(bytes, Signals::waiting_max + 2 * port::SharedStore::message_bytes_max);
    signals.publish(7, "later");
    loop.advance(Signals::apart);
    EXPECT_EQ(store.published.back(), Texts{"t7 later"});
}

TEST_F(SignalsTest, Heard_OwnIsLeftOut) {
    for (auto const* const message : {"a7", "a8", "t7 own", "t8 two words", "t8", "t8 "})
        EXPECT_TRUE(signals.on_message(7, message)) << message;
    EXPECT_EQ(moved, 1);
    EXPECT_EQ(received, (Texts{"8:two words", "8:", "8:"}));
}

TEST_F(SignalsTest, HeardOfAnotherRelease_IsIgnored) {
    for (auto const* const message : {"x", "a", "ax", "t", "t-1 x", "t99999999999999999999999 x"})
        signals.on_message(7, message);
    EXPECT_FALSE(signals.on_message(7, "z8"));
    EXPECT_FALSE(signals.on_message(7, ""));
    EXPECT_EQ(moved, 0);
    EXPECT_TRUE(received.empty());
}

}  // namespace
}  // namespace dormouse::runtime
