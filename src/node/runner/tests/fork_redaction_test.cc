#include "runner/runner.h"

#include "runner/lane/redact/redact.h"
#include "runner/read/reading.h"
#include "runner/testing/two_runners_fixture.h"

// A session is forked on one server while another one removes content from it.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using Server = testing::SharedServer;

class ForkAndRedaction : public testing::TwoRunners {
protected:
    // A session with the message "go" and an answer to it.
    void begin_with_answer() {
        begin({});
        while (!a.effects.requests.empty()) {
            a.effects.reply();
            loop.run();
        }
    }
    [[nodiscard]] Create draft(Server& server) {
        auto const past = read_past(*server.journal.store, session, stored().head);
        EXPECT_TRUE(past && *past);
        Create out{{}, "default", "demo", {}, {}, {}, {}, {}, {}};
        out.fork = **past;
        return out;
    }
    Result<Created> fork(Server& server, Create create) {
        Result<Created> out = std::unexpected(Error{Code::internal, "no answer"});
        server.runner->create(std::move(create), {{ActorType::token, "bob"}},
                              [&out](Result<Created> made) { out = std::move(made); });
        loop.run();
        return out;
    }
    void begin_redaction(Redactor& redactor, RedactionAsk const& ask) {
        redactor.redact(session, ask, {{ActorType::token, "ann"}},
                        [this](Result<RedactionReport> done) { report = std::move(done); });
        loop.run();
    }
    [[nodiscard]] bool has_content(SessionId id) {
        auto const frames = b.journal.store->page(id, 1, SIZE_MAX);
        EXPECT_TRUE(frames);
        return std::ranges::any_of(
            *frames, [](port::Frame const& frame) { return frame.bytes.contains("\"go\""); });
    }

    Result<RedactionReport> report = std::unexpected(Error{Code::internal, "no answer"});
};

TEST_F(ForkAndRedaction, ReadBeforeAndStoredAfter_IsRefusedAndReadAgain) {
    begin_with_answer();
    Create const early = draft(b);
    Redactor redactor(*a.runner, a.journal);
    begin_redaction(redactor, {.message = 2, .forks = true});
    ASSERT_TRUE(report) << report.error().detail;
    auto const refused = fork(b, early);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::precondition_failed);
    auto const made = fork(b, draft(b));
    ASSERT_TRUE(made) << made.error().detail;
    EXPECT_FALSE(has_content(made->session));
}

// The search for forks is over when the fork is stored, and the redaction is not stored yet.
TEST_F(ForkAndRedaction, StoredAfterTheSearch_LosesItToo) {
    begin_with_answer();
    Redactor redactor(*a.runner, a.journal);
    a.journal.hold = true;
    begin_redaction(redactor, {.message = 2, .forks = true});
    ASSERT_EQ(a.journal.held(), 1U);
    auto const made = fork(b, draft(b));
    ASSERT_TRUE(made) << made.error().detail;
    EXPECT_TRUE(has_content(made->session));
    a.journal.hold = false;
    a.journal.release();
    ASSERT_TRUE(report) << report.error().detail;
    ASSERT_EQ(report->copies.size(), 1U);
    EXPECT_EQ(report->copies.front().session, made->session);
    EXPECT_NE(report->copies.front().seq, 0U);
    EXPECT_FALSE(has_content(made->session));
    EXPECT_FALSE(has_content(session));
}

// A fork of the fork from which it was removed first.
TEST_F(ForkAndRedaction, ForkOfAFork_StoredAfterTheSearch_LosesItToo) {
    begin_with_answer();
    auto const first = fork(b, draft(b));
    ASSERT_TRUE(first);
    Redactor redactor(*a.runner, a.journal);
    a.journal.hold = true;
    begin_redaction(redactor, {.message = 2, .forks = true});
    ASSERT_EQ(a.journal.held(), 1U);
    auto const past = read_past(*b.journal.store, first->session, 2);
    ASSERT_TRUE(past && *past);
    Create create{{}, "default", "demo", {}, {}, {}, {}, {}, {}};
    create.fork = **past;
    auto const second = fork(b, create);
    ASSERT_TRUE(second) << second.error().detail;
    a.journal.hold = false;
    a.journal.release();
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->copies.size(), 2U);
    for (SessionId const id : {session, first->session, second->session})
        EXPECT_FALSE(has_content(id)) << id.text();
}

TEST_F(ForkAndRedaction, StoredAfterTheSearch_WithoutForks_IsNamed) {
    begin_with_answer();
    Redactor redactor(*a.runner, a.journal);
    a.journal.hold = true;
    begin_redaction(redactor, {.message = 2});
    auto const made = fork(b, draft(b));
    ASSERT_TRUE(made) << made.error().detail;
    a.journal.hold = false;
    a.journal.release();
    ASSERT_TRUE(report) << report.error().detail;
    ASSERT_EQ(report->copies.size(), 1U);
    EXPECT_EQ(report->copies.front().session, made->session);
    EXPECT_EQ(report->copies.front().seq, 0U);
    EXPECT_TRUE(has_content(made->session)) << "nobody asked for it";
}

// The parent changes between the read of its history and the append of the task's session.
TEST_F(ForkAndRedaction, TaskThatForks_ParentChanges_IsCopiedAgain) {
    begin({job()});
    TaskAsk ask;
    ask.agent = "demo";
    ask.parts = Given::parts("look it up");
    ask.fork = true;
    a.journal.hold = true;
    a.effects.finish(ask);
    loop.run();
    ASSERT_EQ(a.journal.held(), 1U);
    a.journal.release();
    ASSERT_EQ(a.journal.held(), 1U) << "the session of the task";
    ASSERT_TRUE(a.journal.sent.back().source);
    ASSERT_EQ(b.ask(session, prompt()), "applied");
    a.journal.hold = false;
    a.journal.release();
    auto const tasks = stored().tasks;
    ASSERT_EQ(tasks.size(), 1U);
    SessionId const child = tasks.begin()->second.child;
    EXPECT_TRUE(read_session(*b.journal.store, child)->state.parent);
    auto const& sent = a.journal.sent;
    auto const copies = std::ranges::count_if(
        sent, [&](port::Append const& append) { return append.session == child && append.source; });
    EXPECT_GE(copies, 2);
}

}  // namespace
}  // namespace dormouse::runner
