#include "runner/testing/lane_fixture.h"
#include "session/testing/build.h"
#include "store/memory/memory_store.h"

#include <utility>

// Models that compute their replies: what they are asked, what they reply and the calls of it are
// one append.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using testing::Fault;

class ComputedReplies
    : public testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>> {
protected:
    ComputedReplies() {
        host.work.computed = [this](port::ModelRequest const& request) {
            views.push_back(request.view.messages.size());
            return reply(request.ask,
                         views.size() == 1 ? std::vector{plain()} : std::vector<CallSpec>());
        };
    }
    static Command::Body reply(AskModel const& ask, std::vector<CallSpec> calls) {
        Json const parts = Json::trusted(R"([{"type":"text","text":"well"}])");
        return ModelReply{ask.turn, ask.step,         ask.attempt, FinishReason::stop,
                          parts,    std::move(calls), {}};
    }
    [[nodiscard]] std::size_t appends() const { return host.store.sent.size(); }
    [[nodiscard]] std::size_t ended() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(host.lane->recent(), [](wire::RecordPtr const& record) {
                return std::holds_alternative<TurnEnded>(record->event.body);
            }));
    }

    std::vector<std::size_t> views;  // how many messages each request had
};

TEST_F(ComputedReplies, PromptAndItsCall_AreOneAppend) {
    (void)create();
    host.store.hold = true;
    tell(prompt("call it"));
    host.loop.run();
    EXPECT_TRUE(host.work.ran.empty()) << "the intent to run the tool is not durable";
    host.store.release();
    EXPECT_EQ(appends(), 2U);
    EXPECT_EQ(host.work.ran.size(), 1U);
    EXPECT_TRUE(host.work.requests.empty());
}

TEST_F(ComputedReplies, OutcomeAndEndOfTheTurn_AreOneAppend) {
    (void)create();
    (void)ask(prompt("call it"));
    host.work.finish(Done{Json::trusted("1")});
    host.loop.run();
    EXPECT_EQ(appends(), 3U);
    EXPECT_EQ(ended(), 1U);
    EXPECT_EQ(views, (std::vector<std::size_t>{1, 2}));
}

TEST_F(ComputedReplies, LostAppend_IsDecidedAgainByTheNextProcess) {
    (void)create();
    host.store.hold = true;
    tell(prompt("call it"));
    host.loop.run();
    host.store.fault = Fault::lost;
    host.store.release();
    host.store.hold = false;
    EXPECT_EQ(answers.back(), "store_unavailable");
    views.clear();
    restart();
    EXPECT_EQ(ask(prompt("call it")), "applied");
    EXPECT_EQ(host.work.ran.size(), 1U);
}

TEST_F(ComputedReplies, QueuedPrompts_AreAllAnswered) {
    (void)create();
    views.push_back(0);  // no call
    host.store.hold = true;
    for (int i = 0; i < 100; ++i) tell(prompt("again"));
    host.loop.run();
    host.store.hold = false;
    host.store.release();
    host.loop.run();
    EXPECT_EQ(ended(), 100U);
    EXPECT_TRUE(host.work.requests.empty());
}

TEST_F(ComputedReplies, DrainingRunner_AsksNothing) {
    (void)create();
    host.drains = true;
    (void)ask(prompt("call it"));
    EXPECT_TRUE(views.empty());
    EXPECT_TRUE(host.work.ran.empty());
}

}  // namespace
}  // namespace dormouse::runner
