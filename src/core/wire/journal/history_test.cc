#include "wire/journal/history.h"

#include "session/testing/letters.h"
#include "wire/testing/story.h"

#include <gtest/gtest.h>
#include <algorithm>

namespace dormouse::wire {
namespace {

using namespace dormouse::session;
using namespace dormouse::session::testing;

class HistoryTest : public ::testing::Test, protected Given {
protected:
    void TearDown() override { EXPECT_EQ(broken(), ""); }
    History history() const { return wire::testing::history_of(*this); }
    // The pause of call `no` with that generation, in the history.
    static PauseView pause_of(History const& history, CallNo no, Generation generation = 1) {
        for (PauseView const& pause : history.calls().at(no).pauses) {
            if (pause.pending.generation == generation) return pause;
        }
        return {};
    }
};

TEST_F(HistoryTest, PromptAndReply_AreTwoMessagesOfOneTurn) {
    (void)create();
    (void)prompt("hello");
    (void)reply();
    History const h = history();
    ASSERT_EQ(h.messages().size(), 2U);
    MessageView const& input = h.messages().begin()->second;
    MessageView const& answer = h.messages().rbegin()->second;
    EXPECT_FALSE(input.assistant);
    EXPECT_EQ(input.by.name, "ann");
    EXPECT_TRUE(answer.assistant);
    EXPECT_EQ(answer.usage->input_tokens, 10);
    TurnView const& turn = h.turns().at(1);
    EXPECT_EQ(turn.input, input.seq);
    EXPECT_EQ(turn.messages, (std::vector<Seq>{input.seq, answer.seq}));
    EXPECT_EQ(turn.finish, FinishReason::stop);
    EXPECT_EQ(turn.usage.output_tokens, 5);
    EXPECT_EQ(turn.steps, 1U);
    EXPECT_TRUE(turn.started && turn.ended);
}

TEST_F(HistoryTest, Call_IsPendingThenRunsThenWaitsThenSettles) {
    terms.tool_concurrency = 1;
    asks_for({job("a"), job("b")});
    EXPECT_NE(history().calls().at(1).started, 0U);
    EXPECT_EQ(history().calls().at(2).started, 0U);
    PauseTerms pause;
    pause.placeholder = Json::trusted(R"({"status":"queued"})");
    pause.timeout = Duration(5'000);
    (void)pauses(1, pause);
    History h = history();
    EXPECT_TRUE(h.calls().at(1).waiting());
    EXPECT_EQ(h.calls().at(1).placeholder().text(), R"({"status":"queued"})");
    EXPECT_EQ(pause_of(h, 1).deadline, now + Duration(5'000));
    Submission what = result("live");
    what.title = "Deployed";
    what.metadata = Json::trusted("{}");
    (void)submit(pending(1), what);
    h = history();
    CallView const& call = h.calls().at(1);
    EXPECT_FALSE(call.waiting());
    EXPECT_EQ(call.output.text(), "\"live\"");
    EXPECT_EQ(call.title, "Deployed");
    EXPECT_FALSE(call.error);
    EXPECT_EQ(pause_of(h, 1).receipt->seq, call.settled);
    EXPECT_EQ(pause_of(h, 1).receipt->by, by);
    EXPECT_EQ(h.pause(pause_of(h, 1).pending)->what.output.text(), "\"live\"");
}

TEST_F(HistoryTest, FailedCalls_HaveTheirReason) {
    asks_for({plain("a"), job("b"), job("c"), gated(plain("d"))});
    (void)tool_fails(1, false);
    (void)pauses(2);
    (void)pauses(3);
    PendingId const cancelled = pending(3);
    (void)cancel_call(cancelled);
    (void)gate(4, GateOutcome::Deny{"denied: no"});
    (void)later(Duration(25 * 3'600'000LL));
    History const h = history();
    std::vector<ErrorReason> const reasons{ErrorReason::failed, ErrorReason::expired,
                                           ErrorReason::cancelled, ErrorReason::denied};
    std::vector<std::string> const texts{"refused", "Tool execution timed out", "cancelled",
                                         "denied: no"};
    for (CallNo no = 1; no <= 4; ++no) {
        EXPECT_EQ(h.calls().at(no).error, reasons[no - 1]) << no;
        EXPECT_EQ(h.calls().at(no).error_text, texts[no - 1]);
    }
    EXPECT_EQ(pause_of(h, 3).receipt->status, CallStatus::cancelled);
}

TEST_F(HistoryTest, ExpiredQuestionToPeople_SaysThatNobodyAnswered) {
    asks_for({pausing(PauseReason::approval), pausing(PauseReason::approval), job()});
    PauseTerms asks = pause_for(PauseReason::approval);
    asks.timeout = Duration(1'000);
    (void)pauses(2, asks);
    asks.on_deadline = OnDeadline::deny;
    (void)pauses(1, asks);
    (void)pauses(3);
    (void)later(Duration(25 * 3'600'000LL));
    History const h = history();
    EXPECT_EQ(h.calls().at(1).error_text, "denied: nobody answered in time");
    EXPECT_EQ(h.calls().at(2).error_text, "nobody answered in time");
    EXPECT_EQ(h.calls().at(3).error_text, "Tool execution timed out");
}

TEST_F(HistoryTest, ChainedPause_HasTwoReceiptsAndOneOutcome) {
    asks_for({gated(job())});
    (void)gate(1, pause_for(PauseReason::approval));
    (void)submit(pending(1), decision(true, "fine"));
    (void)gate(1, GateOutcome::Allow{});
    (void)pauses(1);
    History h = history();
    EXPECT_EQ(pause_of(h, 1, 1).what.reason, "fine");
    EXPECT_EQ(pause_of(h, 1, 1).gate, "approve");
    EXPECT_EQ(h.calls().at(1).settled, 0U);
    EXPECT_TRUE(h.calls().at(1).waiting());
    (void)submit(pending(1), result("live"));
    h = history();
    ASSERT_EQ(h.calls().at(1).pauses.size(), 2U);
    EXPECT_TRUE(pause_of(h, 1, 2).receipt);
    EXPECT_EQ(h.calls().at(1).output.text(), "\"live\"");
}

TEST_F(HistoryTest, Pause_KeepsVotesClaimAndLastTwentyProgresses) {
    asks_for({pausing(PauseReason::approval), job()});
    PauseTerms two = pause_for(PauseReason::approval);
    two.answer.need = 2;
    (void)pauses(1, two);
    (void)pauses(2);
    (void)submit(pending(1), decision(true));
    (void)when(Claim{pending(2), Duration(30'000)});
    for (int i = 0; i < 25; ++i) {
        now += Duration(1'000);
        (void)when(Progress{pending(2), Json::trusted(std::to_string(i)), "k" + std::to_string(i)});
    }
    History const h = history();
    ASSERT_EQ(pause_of(h, 1).votes.size(), 1U);
    EXPECT_EQ(pause_of(h, 1).votes[0].by.name, "ann");
    EXPECT_EQ(pause_of(h, 1).votes, call(1).votes) << "with time and digest";
    EXPECT_EQ(pause_of(h, 2).claimed_by, "ann");
    EXPECT_EQ(pause_of(h, 2).progress_count, 25U);
    ASSERT_EQ(pause_of(h, 2).progress.size(), 20U);
    EXPECT_EQ(pause_of(h, 2).progress.front().payload.text(), "5");
    EXPECT_EQ(pause_of(h, 2).progress.back().key, "k24");
}

TEST_F(HistoryTest, EarlyOutcome_IsTheCallsOutcome) {
    asks_for({job()});
    PendingId const early = pending(1);
    ASSERT_EQ(answer_of(submit(early, result("fast"))), "applied");
    History const h = history();
    EXPECT_EQ(h.calls().at(1).output.text(), "\"fast\"");
    ASSERT_NE(h.pause(early), nullptr);
    EXPECT_TRUE(h.pause(early)->receipt);
}

TEST_F(HistoryTest, Crash_CallThatMayHaveRun_IsInDoubtUntilItsOutcome) {
    asks_for({with_policy(job(), CrashPolicy::ask)});
    (void)restart();
    History h = history();
    EXPECT_TRUE(pause_of(h, 1).in_doubt);
    EXPECT_EQ(pause_of(h, 1, 2).terms.reason, PauseReason::elicitation);
    PendingId const run = pending(1);
    (void)submit(run, result("it had worked"));
    h = history();
    EXPECT_EQ(h.calls().at(1).output.text(), "\"it had worked\"");
    EXPECT_EQ(pause_of(h, 1, 2).receipt->status,
              CallStatus::cancelled);  // the question is superseded
    EXPECT_NE(h.calls().at(1).settled, pause_of(h, 1, 2).receipt->seq);
}

TEST_F(HistoryTest, RunAgainThatPauses_IsNotInDoubt) {
    asks_for({with_policy(job(), CrashPolicy::ask)});
    (void)restart();
    (void)submit(call(1).question->pending, doubt_decision("run_again"));
    (void)pauses(1);
    EXPECT_FALSE(call(1).in_doubt);
    EXPECT_FALSE(pause_of(history(), 1).in_doubt);
}

TEST_F(HistoryTest, DroppedPrompt_HasATurnThatNeverRan) {
    waits_for({job()});
    (void)prompt("later", PromptMode::queue);
    EXPECT_EQ(history().turns().at(2).started, std::nullopt);
    (void)when(Cancel{Cancel::Scope::all, {}});
    TurnView const turn = history().turns().at(2);
    EXPECT_TRUE(turn.dropped);
    EXPECT_EQ(turn.finish, FinishReason::cancelled);
    EXPECT_TRUE(turn.ended);
}

TEST_F(HistoryTest, CancelWithAReason_IsInTheCallAndTheTurn) {
    waits_for({job()});
    (void)prompt("later", PromptMode::queue);
    (void)when(Cancel{Cancel::Scope::all, {}, "wrong repository"});
    History const h = history();
    EXPECT_EQ(h.calls().at(1).error, ErrorReason::cancelled);
    EXPECT_EQ(h.calls().at(1).error_text, "cancelled: wrong repository");
    EXPECT_EQ(pause_of(h, 1).what.reason, "wrong repository");
    EXPECT_EQ(h.turns().at(1).cancel_reason, "wrong repository");
    EXPECT_EQ(h.turns().at(2).cancel_reason, "wrong repository") << "a prompt that was queued";
}

TEST_F(HistoryTest, RetriedTurn_IsOpenAgain) {
    (void)create();
    (void)prompt("please");
    (void)model_fails(false);
    ASSERT_EQ(history().turns().at(1).finish, FinishReason::error);
    (void)move(Move::To::retry);
    TurnView const turn = history().turns().at(1);
    EXPECT_FALSE(turn.finish || turn.ended || turn.error);
    EXPECT_TRUE(turn.started);
}

// Rule 6: the first committed step that sees it, or the end of the turn.
TEST_F(HistoryTest, Receipt_IsConsumedByTheFirstCommittedStep) {
    waits_for({job()});
    PendingId const answered = pending(1);
    (void)submit(answered, result("ok"));
    Seq const settled = history().pause(answered)->receipt->seq;
    EXPECT_FALSE(history().consumed(settled));
    (void)model_fails(true);
    EXPECT_FALSE(history().consumed(settled));
    (void)later(Duration(60'000));
    (void)reply();
    auto const consumed = history().consumed(settled);
    ASSERT_TRUE(consumed);
    EXPECT_EQ(consumed->turn, 1U);
    EXPECT_EQ(consumed->step, 2U);
    EXPECT_EQ(consumed->at, now);
}

TEST_F(HistoryTest, EndOfTheTurn_ConsumesUnseenReceipts) {
    waits_for({job()});
    PendingId const answered = pending(1);
    (void)submit(answered, result("ok"));
    (void)cancel_turn();
    History const h = history();
    auto const consumed = h.consumed(h.pause(answered)->receipt->seq);
    ASSERT_TRUE(consumed);
    EXPECT_EQ(consumed->step, 0U);
    EXPECT_EQ(consumed->seq, h.turns().at(1).ended_seq);
}

TEST_F(HistoryTest, CloseCallsAfter_OpenCalls_BecomeErrors) {
    terms.join = {1, false};
    waits_for({job("a"), job("b")});
    (void)submit(pending(1), result("one"));
    Seq const at = state.head;
    (void)submit(pending(2), result("two"));
    History h = history();
    h.close_calls_after(at, "stays with session S");
    EXPECT_FALSE(h.calls().at(1).error);
    EXPECT_EQ(h.calls().at(2).error_text, "stays with session S");
    EXPECT_TRUE(h.calls().at(2).error);
}

void expect_agreement(CallView const& shown, Call const& call) {
    EXPECT_EQ(shown.spec.tool, call.spec.tool);
    EXPECT_EQ(shown.spec.input.text(), call.spec.input.text());
    bool const waits = call.phase == CallPhase::waiting;
    EXPECT_EQ(shown.waiting(), waits || call.question);
    if (!waits || shown.pauses.empty()) return;
    auto const pause = std::ranges::find(shown.pauses, call.pending, &PauseView::pending);
    ASSERT_NE(pause, shown.pauses.end());
    EXPECT_FALSE(pause->receipt);
    EXPECT_EQ(pause->deadline, call.pause->deadline);
    EXPECT_EQ(pause->votes.size(), call.votes.size());
    EXPECT_EQ(pause->in_doubt, call.in_doubt);
}

void expect_agreement(TaskView const& shown, Task const& task) {
    EXPECT_EQ(shown.child, task.child);
    EXPECT_EQ(shown.status, task.status);
    EXPECT_EQ(shown.run, task.run);
    EXPECT_EQ(shown.queued, task.queued != 0);
    EXPECT_EQ(shown.gone, task.gone);
    EXPECT_EQ(shown.result.text(), task.result.text());
    EXPECT_EQ(shown.error, task.error);
    EXPECT_EQ(shown.progress, task.progress);
}

// Calls, tasks and turns that are open in the state are open in the history, with equal values.
TEST(HistoryProperty, AnyScenario_ShowsWhatIsOpenInTheState) {
    std::size_t calls = 0, tasks = 0, turns = 0;
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        auto const sample = wire::testing::story(seed, 50);
        History const h = wire::testing::history_of(sample);
        State const& state = sample.state;
        for (auto const& [no, call] : state.calls) expect_agreement(h.calls().at(no), call);
        ASSERT_EQ(h.tasks().size(), state.tasks.size());
        for (auto const& [no, task] : state.tasks) expect_agreement(h.tasks().at(no), task);
        calls += state.calls.size();
        tasks += state.tasks.size();
        if (!state.turn) continue;
        ++turns;
        TurnView const& turn = h.turns().at(state.turn->no);
        EXPECT_EQ(turn.input, state.turn->input);
        EXPECT_EQ(turn.step, state.turn->step);
        EXPECT_EQ(turn.usage, state.turn->usage);
        EXPECT_FALSE(turn.ended);
    }
    EXPECT_GT(calls, 50U);
    EXPECT_GT(tasks, 50U);
    EXPECT_GT(turns, 50U);
}

// The counters of the core and the lists of the API agree.
TEST(HistoryProperty, AnyScenario_AgreesWithTheState) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        auto const sample = wire::testing::story(seed, 50);
        History const h = wire::testing::history_of(sample);
        State const& state = sample.state;
        EXPECT_EQ(wire::testing::listed(h), message_count(state));
        EXPECT_EQ(h.calls().size(), state.calls_ever);
        EXPECT_EQ(h.turns().size(), state.turns);
        for (auto const& [no, call] : h.calls()) {
            EXPECT_EQ(call.settled == 0, state.calls.contains(no)) << "call " << no;
        }
        for (auto const& [pending, receipt] : sample.archive.receipts) {
            ASSERT_NE(h.pause(pending), nullptr);
            EXPECT_EQ(h.pause(pending)->receipt, receipt);
        }
        for (auto const& [no, turn] : h.turns()) {
            EXPECT_EQ(turn.ended.has_value(), turn.finish.has_value());
            if (!turn.ended) continue;
            EXPECT_FALSE(state.turn && state.turn->no == no);
        }
    }
}

// Mail counts once a turn has read it.
TEST(HistoryProperty, MessageCount_WithMail_IsThatOfTheList) {
    std::size_t unread = 0, expired = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 chance(seed);
        World world(seed % 12);
        Letters letters(world);
        History h(world.session.id);
        std::size_t added = 0;
        for (int i = 0; i < 60; ++i) {
            auto const a = static_cast<std::uint32_t>(chance() % 64);
            auto const b = static_cast<std::uint32_t>(chance() % 64);
            if (chance() % 2 == 0) letters.step(a, b);
            world.step({static_cast<Deed>(chance() % 11), a, b});
            auto const& log = world.session.archive.log;
            for (; added < log.size(); ++added) h.add(*record(world.session.id, log[added]));
            ASSERT_EQ(wire::testing::listed(h), message_count(world.session.state)) << "step " << i;
        }
        unread += world.session.state.inbox.size();
        for (auto const& [seq, mail] : h.mails()) expired += mail.expired ? 1 : 0;
    }
    EXPECT_GT(unread, 10U);
    EXPECT_GT(expired, 10U);
}

// From any place on: messages and calls that were seen from their start equal those of the whole
// history, and nothing after that place is missing.
TEST(HistoryFromTheMiddle, AnyStart_AgreesWithTheWholeHistory) {
    std::size_t compared = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        auto const records = wire::testing::records_of(wire::testing::story(seed, 50));
        History whole{SessionId()};
        for (RecordPtr const& one : records) whole.add(*one);
        for (std::size_t from = 0; from < records.size(); from += 3) {
            History part = History(SessionId());
            for (std::size_t i = from; i < records.size(); ++i) part.add(*records[i]);
            for (auto const& [seq, message] : part.messages()) {
                MessageView const& same = whole.messages().at(seq);
                ASSERT_EQ(message.dropped, same.dropped);
                ASSERT_EQ(message.shown, same.shown) << seed << " from " << from << " at " << seq;
                ASSERT_EQ(message.turn, same.turn);
                ASSERT_EQ(message.parts, same.parts);
                ASSERT_EQ(message.calls, same.calls);
                ++compared;
            }
            for (auto const& [no, call] : part.calls()) {
                CallView const& same = whole.calls().at(no);
                ASSERT_EQ(call.settled, same.settled);
                ASSERT_EQ(call.output, same.output);
                ASSERT_EQ(call.error_text, same.error_text);
                ASSERT_EQ(call.waiting(), same.waiting());
            }
            for (auto const& [no, turn] : part.turns()) {
                if (turn.input == 0) continue;
                TurnView const& same = whole.turns().at(no);
                ASSERT_EQ(turn.messages, same.messages);
                ASSERT_EQ(turn.step, same.step);
                ASSERT_EQ(turn.ended, same.ended);
                ASSERT_EQ(turn.finish, same.finish);
            }
        }
    }
    EXPECT_GT(compared, 1'000U);
}

}  // namespace
}  // namespace dormouse::wire
