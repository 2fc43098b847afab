#include "base/test_wait.h"
#include "runtime/testing/runtime_fixture.h"

#include <mutex>

// The scripted model: streaming, errors, counters, assertions.
namespace dormouse::runtime {
namespace {

class ScriptTest : public RuntimeTest {
protected:
    ~ScriptTest() override { runtime.reset(); }  // ends observers before the members they use

    // Observers run on a thread of their own, so this waits.
    template <class Test> static bool eventually(Test const& test) {
        wait_while([&] { return !test(); });
        return test();
    }

    // The text that a reader of the session sees while a reply is streamed.
    struct Received {
        std::mutex mutex;
        std::vector<std::string> pieces;  // protected by mutex
        std::string all() {
            std::lock_guard const lock(mutex);
            std::string out;
            for (std::string const& piece : pieces) out += piece;
            return out;
        }
        std::size_t count() {
            std::lock_guard const lock(mutex);
            return pieces.size();
        }
    };
    void play() {
        settings.agents[0].model = own.model();
        open();
    }
    Following listen(SessionId session) {
        auto following = runtime->follow(
            session, 0, [](Event const&) {},
            [this](std::string const& piece) {
                std::lock_guard const lock(received.mutex);
                received.pieces.push_back(piece);
            });
        EXPECT_TRUE(following);
        return *std::move(following);
    }
    SessionId idle() { return runtime->create({.agent = "ops"}).value(); }

    Script own;
    Received received;
};

TEST_F(ScriptTest, Text_IsStreamedInPiecesOfWholeCharacters) {
    own.otherwise().says("Grüße aus Köln").streams(3, Duration(1));
    play();
    auto const session = idle();
    auto const following = listen(session);
    ASSERT_TRUE(runtime->prompt(session, "hello"));
    at_rest(session);
    wait_while([&] { return received.all().size() < 17; });
    EXPECT_EQ(received.all(), "Grüße aus Köln") << "each piece once, and the whole text not again";
    EXPECT_GT(received.count(), 4U);
    for (std::string const& piece : received.pieces) {
        EXPECT_LE(piece.size(), 3U);
        EXPECT_NE(static_cast<unsigned char>(piece.front()) & 0xC0, 0x80) << piece;
    }
    EXPECT_EQ(runtime->last_reply(session).value(), "Grüße aus Köln");
}

TEST_F(ScriptTest, Pieces_ComeBeforeTheReply) {
    own.otherwise().says("one two").streams(4, Duration(300));
    play();
    auto const session = idle();
    auto const following = listen(session);
    ASSERT_TRUE(runtime->prompt(session, "hello"));
    EXPECT_TRUE(eventually([&] { return received.count() != 0; }));
    EXPECT_EQ(received.all(), "one ");
    EXPECT_EQ(runtime->last_reply(session).value(), "") << "nothing is durable yet";
}

TEST_F(ScriptTest, BrokenStream_IsAskedAgainAndCommittedOnce) {
    auto rule = own.otherwise();
    rule.says("one two three").streams(4).breaking_off(2);
    play();
    auto const session = idle();
    auto const following = listen(session);
    ASSERT_TRUE(runtime->prompt(session, "hello"));
    EXPECT_EQ(at_rest(session).activity, Activity::idle);
    EXPECT_EQ(rule.asked(), 2U);
    EXPECT_EQ(count(session, "model_failed"), 1U);
    EXPECT_EQ(count(session, "model_replied"), 1U);
    EXPECT_EQ(runtime->last_reply(session).value(), "one two three");
    bool const came = eventually([&] { return received.all().starts_with("one two one two"); });
    EXPECT_TRUE(came) << received.all();
}

TEST_F(ScriptTest, Refusal_EndsTheTurn) {
    own.on("bad").refuses("I will not");
    own.otherwise().says("Fine.");
    play();
    auto const view = start("bad idea");
    EXPECT_EQ(own.asked(), 1U);
    EXPECT_EQ(count(view.id, "turn_ended"), 1U);
    ASSERT_TRUE(runtime->prompt(view.id, "hello"));
    at_rest(view.id);
    EXPECT_EQ(runtime->last_reply(view.id).value(), "Fine.");
    EXPECT_TRUE(own.used_up());
}

TEST_F(ScriptTest, CancelledTurn_EndsTheDelay) {
    own.otherwise().says("late").after(Duration(600'000));
    play();
    auto const session = runtime->create({.agent = "ops", .prompt = "hello"}).value();
    wait_while([&] { return own.asked() == 0; });
    ASSERT_TRUE(runtime->cancel(session));
    EXPECT_EQ(at_rest(session).activity, Activity::idle);
}  // the runtime ends here, which waits for the thread

TEST_F(ScriptTest, SpentRule_NextRuleAnswers) {
    auto first = own.on("hello");
    first.says("first").times(1);
    own.on("hello").says("then");
    play();
    auto const view = start("hello");
    EXPECT_EQ(runtime->last_reply(view.id).value(), "first");
    EXPECT_FALSE(own.used_up());
    ASSERT_TRUE(runtime->prompt(view.id, "hello again"));
    at_rest(view.id);
    EXPECT_EQ(runtime->last_reply(view.id).value(), "then");
    EXPECT_EQ(first.asked(), 1U);
    EXPECT_TRUE(own.used_up());
}

TEST_F(ScriptTest, UsedUp_NamesWhatWasNotPlayed) {
    own.on("hello").says("Hi.");
    own.on("never").says("?");
    own.when_answered("job").says("?");
    play();
    start("hello");
    start("something else");
    auto const result = own.used_up();
    ASSERT_FALSE(result);
    for (std::string const& part : {R"(on("never") answered 0 times)", R"(when_answered("job"))",
                                    R"(no rule fitted "something else")"})
        EXPECT_TRUE(result.error().detail.contains(part)) << result.error().detail;
    EXPECT_FALSE(result.error().detail.contains(R"(on("hello"))"));
}

TEST_F(ScriptTest, StreamingModelFunction_ShowsItsPieces) {
    settings.agents[0].model = streaming_model_from(
        [](ModelQuestion const&, std::function<void(std::string)> const& say, std::stop_token) {
            say("a");
            say("");
            say("b");
            return Result<ModelAnswer>(ModelAnswer{"ab", {}});
        });
    open();
    auto const session = idle();
    auto const following = listen(session);
    ASSERT_TRUE(runtime->prompt(session, "hello"));
    at_rest(session);
    wait_while([&] { return received.count() < 2; });
    EXPECT_EQ(received.pieces, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(runtime->last_reply(session).value(), "ab");
}

}  // namespace
}  // namespace dormouse::runtime
