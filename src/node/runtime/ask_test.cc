#include "runtime/testing/runtime_fixture.h"

#include <future>

// Calls that the program makes itself.
namespace dormouse::runtime {
namespace {

class AskTest : public RuntimeTest {
protected:
    AskTest() {
        on_disk();
        open();
    }
    static Question deploy() {
        return {.text = "Deploy **4.2**?",
                .tool = "deploy",
                .arguments = Json::trusted(R"({"version":"4.2"})"),
                .key = "deploy-4.2",
                .by = "ci"};
    }
    void refused(Question const& question, std::string const& word) {
        auto const made = runtime->ask(question);
        ASSERT_FALSE(made) << word;
        EXPECT_EQ(made.error().code, Code::bad_value) << made.error().detail;
        EXPECT_TRUE(made.error().detail.contains(word)) << made.error().detail;
        EXPECT_TRUE(runtime->waiting().value().calls.empty());
    }
};

TEST_F(AskTest, Approval_SurvivesARestart_AndIsDecidedOnce) {
    PendingId const pending = runtime->ask(deploy()).value();
    open();
    auto const call = runtime->call(pending).value();
    EXPECT_FALSE(call.receipt);
    EXPECT_EQ(call.call.message, "Deploy **4.2**?");
    EXPECT_EQ(call.call.tool, "deploy");
    EXPECT_EQ(call.call.reason, PauseReason::approval);
    EXPECT_EQ(runtime->waiting().value().calls.size(), 1U);
    ASSERT_TRUE(runtime->decide(pending, {.approved = true, .reason = "go", .by = "ann"}));
    auto const late = runtime->decide(pending, {.approved = false, .by = "bob"});
    EXPECT_EQ(code_of(late), "conflict");
    EXPECT_TRUE(runtime->call(pending).value().receipt);
    EXPECT_EQ(runtime->session(pending.session).value().lifecycle, "completed");
    EXPECT_TRUE(runtime->waiting().value().calls.empty());
}

TEST_F(AskTest, SameKey_ReturnsTheSameCall_AlsoWhenSettled) {
    PendingId const pending = runtime->ask(deploy()).value();
    EXPECT_EQ(runtime->ask(deploy()).value(), pending);
    ASSERT_TRUE(runtime->decide(pending, {.approved = false}));
    open();
    EXPECT_EQ(runtime->ask(deploy()).value(), pending);
    Question other = deploy();
    other.arguments = Json::trusted(R"({"version":"4.3"})");
    EXPECT_EQ(code_of(runtime->ask(other)), "idempotency_mismatch");
    other.key = {};
    EXPECT_NE(runtime->ask(other).value(), pending);
}

TEST_F(AskTest, Result_IsCheckedAgainstItsSchema) {
    Question job{.text = "Build it",
                 .kind = PauseReason::tool_result,
                 .schema = Json::trusted(R"({"type":"object","required":["status"]})"),
                 .options = {.ref = "build-7", .within = Duration(60'000)}};
    PendingId const pending = runtime->ask(job).value();
    EXPECT_EQ(code_of(runtime->submit(pending, Json::trusted("{}"))), "invalid_result");
    ASSERT_TRUE(runtime->submit(pending, output("ok")));
    EXPECT_EQ(runtime->call(pending).value().output, output("ok"));
}

TEST_F(AskTest, Votes_AreCounted) {
    Question question = deploy();
    question.options = {.answerers = {"ann", "bob"}, .need = 2};
    PendingId const pending = runtime->ask(question).value();
    EXPECT_EQ(code_of(runtime->decide(pending, {.approved = true, .by = "eve"})),
              "not_an_answerer");
    EXPECT_TRUE(runtime->decide(pending, {.approved = true, .by = "ann"}).value().counted);
    EXPECT_FALSE(runtime->decide(pending, {.approved = true, .by = "bob"}).value().counted);
}

TEST_F(AskTest, Completion_GetsTheId) {
    std::promise<Result<PendingId>> promise;
    runtime->ask(deploy(), [&](Result<PendingId> made) { promise.set_value(std::move(made)); });
    auto const made = promise.get_future().get();
    ASSERT_TRUE(made) << made.error().detail;
    EXPECT_FALSE(runtime->call(*made).value().receipt);
}

TEST_F(AskTest, InvalidQuestions_AreRefusedByName_AndNothingWaits) {
    auto const with = [](auto change) {
        Question question = deploy();
        change(question);
        return question;
    };
    refused(with([](Question& q) { q.text = " \n"; }), "text must not be empty");
    refused(with([](Question& q) { q.text = std::string(20'000, 'x'); }), "text must be at most");
    refused(with([](Question& q) { q.text = "\xff"; }), "UTF-8");
    refused(with([](Question& q) { q.project = "a/b"; }), "project");
    refused(with([](Question& q) { q.tool = "rm -rf"; }), "tool");
    refused(with([](Question& q) { q.kind = PauseReason::handoff; }), "kind");
    refused(with([](Question& q) { q.arguments = Json::trusted("[1]"); }), "arguments");
    refused(with([](Question& q) { q.arguments = Json::trusted("{1}"); }), "arguments");
    refused(with([](Question& q) { q.schema = Json::trusted("{}"); }), "schema");
    refused(with([](Question& q) { q.options.need = 0; }), "need");
    refused(with([](Question& q) { q.options.message = "x"; }), "message");
    refused(with([](Question& q) { q.options.within = Duration(0); }), "within");
    refused(with([](Question& q) { q.options.webhook_url = "ftp://x"; }), "webhook_url");
    refused(with([](Question& q) { q.options.form = Json::trusted("{"); }), "form");
}

TEST_F(AskTest, Authorizer_IsAsked) {
    std::string who;
    settings.authorize = [&](Operation operation, std::string const& by,
                             PendingCall const&) -> Result<void> {
        who = by;
        if (operation == Operation::create_session) return fail(Code::forbidden, "not you");
        return {};
    };
    open();
    EXPECT_EQ(code_of(runtime->ask(deploy())), "forbidden");
    EXPECT_EQ(who, "ci");
    EXPECT_TRUE(runtime->waiting().value().calls.empty());
}

}  // namespace
}  // namespace dormouse::runtime
