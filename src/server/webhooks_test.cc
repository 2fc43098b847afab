#include "server/webhooks.h"

#include "server/api_fixture.h"

// Deliveries that come before their calls, and what happens while the store is asked or written.
namespace dormouse::server {
namespace {

using namespace dormouse::session;

class WebhooksTest : public ApiTest {
protected:
    WebhooksTest() {
        webhook::Source source{.id = "ci"};
        source.external_ref = "/ref";
        source.output = "/output";
        api.services().sources.push_back(std::move(source));
    }

    static PauseTerms waits_for(std::string reference) {
        PauseTerms terms;
        terms.external_ref = std::move(reference);
        return terms;
    }
    // Asks for a call, which a gate holds first if `spec` names one.
    SessionId session_with(CallSpec spec) {
        std::string const id = create();
        (void)send("POST", prompt_path(id), R"({"text":"please"})");
        effects.reply({std::move(spec)});
        loop.run();
        return SessionId::parse(id).value();
    }
    void keep(std::string const& reference) {
        port::KeptRow row;
        row.delivery.key = {1};
        row.delivery_id = "d1";
        row.at = clock.now();
        row.source = "ci";
        row.project = "default";
        row.reference = reference;
        row.body = R"({"ref":")" + reference + R"(","output":"built"})";
        api.webhooks().keep(std::move(row),
                            [this](Result<void> kept) { kept_ = kept.has_value(); });
    }
    [[nodiscard]] std::string output(PendingId const& pending) {
        return member(send("GET", "/async-tool/pending/" + pending.text()), "/result/output");
    }

    bool kept_ = false;
};

// The handler found no call; the call paused before its delivery was written.
TEST_F(WebhooksTest, CallThatCameDuringTheWrite_GetsTheDelivery) {
    (void)session_with(session::testing::job());
    PendingId const pending = effects.ran.back().run.pending;
    keep("build 7");
    effects.finish(waits_for("build 7"));
    loop.run();
    EXPECT_TRUE(kept_);
    EXPECT_EQ(output(pending), "built");
    EXPECT_FALSE(api.webhooks().keeps({1})) << "it is used";
}

TEST_F(WebhooksTest, PauseSettledDuringTheLookUp_TheNextPauseGetsNothing) {
    SessionId const session = session_with(session::testing::gated(session::testing::job()));
    auto gate = std::move(effects.gated.back());
    gate.done(GateOutcome{gate.ask.call, gate.ask.gate, waits_for("build 7")});
    loop.run();
    std::shared_ptr<runner::Lane> lane;
    runner->look(session, [&](Result<std::shared_ptr<runner::Lane>> got) { lane = *got; });
    loop.run();
    PendingId const approval = lane->state().calls.begin()->second.pending;
    journal.hold_reads = true;
    keep("build 7");
    loop.run();
    ASSERT_TRUE(kept_) << "and its call has been asked for";
    Submission approved;
    approved.kind = SubmissionKind::decision;
    approved.approved = true;
    runner->command(session, Submit{approval, approved, "http", {}, {}, {}}, ann(),
                    [this](Result<Answer> answer) { answers.push_back(said(answer)); });
    loop.run();
    ASSERT_EQ(answers.back(), "applied");
    effects.finish(PauseTerms());
    loop.run();
    PendingId const job = lane->state().calls.begin()->second.pending;
    ASSERT_NE(job.generation, approval.generation);
    journal.release_reads();
    EXPECT_TRUE(lane->state().calls.contains(job.call)) << "it waits for its own result";
    EXPECT_TRUE(api.webhooks().keeps({1}));
}

}  // namespace
}  // namespace dormouse::server
