#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Rules 1, 2 and 8: outcomes submitted for a pending call: once, twice, early, late, and invalid.
namespace dormouse::session::testing {
namespace {

class SubmitTest : public SessionTest {
protected:
    Submit offer(PendingId const& to, Submission what) {
        return {to, std::move(what), "webhook", "d-1", {}, {}};
    }
    // A call that waits for `reason`.
    void waits(PauseReason reason) {
        asks_for({pausing(reason)});
        (void)pauses(1, pause_for(reason));
    }
};

TEST_F(SubmitTest, Result_ReceiptAndConsequences_AreOneAppend) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    auto const d = when(offer(pending_id, result("ok")));
    EXPECT_EQ(types(d), "submitted model_requested");
    Receipt const receipt = d.answer->receipt.value();
    EXPECT_EQ(receipt.pending, pending_id);
    EXPECT_EQ(receipt.status, CallStatus::completed);
    EXPECT_EQ(receipt.digest, result("ok").digest);
    EXPECT_EQ(receipt.seq, d.events.front().seq);
    EXPECT_EQ(receipt.at, now);
    EXPECT_EQ(receipt.by, by);
    EXPECT_EQ(receipt.via, "webhook");
    EXPECT_EQ(receipt.delivery_id, "d-1");
}

TEST_F(SubmitTest, Error_Settles) {
    waits_for({job()});
    auto const d = submit(pending(1), error("no quota"));
    EXPECT_EQ(types(d), "submitted model_requested");
    EXPECT_EQ(d.answer->receipt->status, CallStatus::failed);
}

TEST_F(SubmitTest, DuplicateResult_SamePayload_ReturnsFirstReceipt) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    auto const once = submit(pending_id, result("ok"));
    by.name = "bob";
    now += Duration(3'600'000);
    auto const again = submit(pending_id, result("ok"));
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(again.answer->receipt, once.answer->receipt);
    EXPECT_EQ(types(again.events).find("submitted"), std::string::npos);
}

TEST_F(SubmitTest, OtherPayload_IsAConflictWithTheFirstDigestAndANote) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)submit(pending_id, result("ok"));
    auto const d = submit(pending_id, result("not ok"));
    EXPECT_EQ(answer_of(d), "conflict");
    EXPECT_EQ(d.answer.error().extra.text(),
              "{\"digest\":\"" + digest_text(result("ok").digest) + "\"}");
    EXPECT_EQ(types(d), "note");
    EXPECT_EQ(first<Note>(d).about, "conflict");
}

TEST_F(SubmitTest, Notes_OncePerDigest_AtMostEight) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)submit(pending_id, result("ok"));
    for (std::uint32_t i = 0; i < limits::notes_per_pause_max; ++i) {
        std::string const text = "other " + std::to_string(i);
        EXPECT_EQ(types(submit(pending_id, result(text))), "note");
        EXPECT_EQ(types(submit(pending_id, result(text))), "")
            << "endless retries store nothing more";
    }
    auto const d = submit(pending_id, result("one more"));
    EXPECT_EQ(answer_of(d), "conflict");
    EXPECT_EQ(types(d), "");
}

TEST_F(SubmitTest, AfterTheDeadline_IsExpired) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)later(limits::pause_timeout_default);
    auto const d = submit(pending_id, result("ok"));
    EXPECT_EQ(answer_of(d), "expired");
    EXPECT_EQ(first<Note>(d).about, "late_result");
}

TEST_F(SubmitTest, AfterACancel_IsCancelled) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)cancel_call(pending_id);
    EXPECT_EQ(answer_of(submit(pending_id, result("ok"))), "cancelled");
}

TEST_F(SubmitTest, UnknownIdAndWrongNonce_LookTheSame) {
    waits_for({job()});
    PendingId guessed = pending(1);
    guessed.nonce[3] ^= 1;
    EXPECT_EQ(answer_of(submit(guessed, result("ok"))), "not_found");
    EXPECT_EQ(answer_of(submit({id, 8, 1, {}}, result("ok"))), "not_found");
    PendingId next = pending(1);
    ++next.generation;
    EXPECT_EQ(answer_of(submit(next, result("ok"))), "not_found");
    EXPECT_EQ(state.waiting, 1U);
}

TEST_F(SubmitTest, WrongNonce_OfASettledCall_IsUnknown) {
    waits_for({job()});
    PendingId guessed = pending(1);
    guessed.nonce[3] ^= 1;
    (void)submit(pending(1), result("ok"));
    EXPECT_EQ(answer_of(submit(guessed, result("ok"))), "not_found");
}

struct KindRow {
    PauseReason reason;
    SubmissionKind kind;
    char const* answer;
};

class EveryKind : public SubmitTest, public ::testing::WithParamInterface<KindRow> {};

TEST_P(EveryKind, Kind_SettlesOnlyWhatItFits) {
    auto const& row = GetParam();
    waits(row.reason);
    Submission what = result("x");
    if (row.kind == SubmissionKind::error) what = error("x");
    if (row.kind == SubmissionKind::decision) what = decision(true);
    auto const d = submit(pending(1), what);
    EXPECT_EQ(answer_of(d), row.answer);
    EXPECT_EQ(state.waiting, d.answer ? 0U : 1U) << "what is refused still waits";
}

constexpr auto R = SubmissionKind::result;
constexpr auto E = SubmissionKind::error;
constexpr auto D = SubmissionKind::decision;

INSTANTIATE_TEST_SUITE_P(Reasons, EveryKind,
                         ::testing::Values(KindRow{PauseReason::tool_result, R, "applied"},
                                           KindRow{PauseReason::tool_result, E, "applied"},
                                           KindRow{PauseReason::tool_result, D, "wrong_kind"},
                                           KindRow{PauseReason::user_input, R, "applied"},
                                           KindRow{PauseReason::user_input, E, "wrong_kind"},
                                           KindRow{PauseReason::user_input, D, "wrong_kind"},
                                           KindRow{PauseReason::approval, R, "wrong_kind"},
                                           KindRow{PauseReason::approval, E, "wrong_kind"},
                                           KindRow{PauseReason::approval, D, "applied"},
                                           KindRow{PauseReason::elicitation, R, "wrong_kind"},
                                           KindRow{PauseReason::elicitation, E, "wrong_kind"},
                                           KindRow{PauseReason::elicitation, D, "applied"}),
                         [](auto const& row) {
                             return std::string(text(row.param.reason)) + "_" +
                                    std::string(text(row.param.kind));
                         });

TEST_F(SubmitTest, Handoff_IsAnsweredOnlyByTheRuntime) {
    asks_for({pausing(PauseReason::handoff)});
    PauseTerms terms = pause_for(PauseReason::handoff);
    terms.timeout = Duration(1'000);
    (void)pauses(1, terms);
    EXPECT_EQ(answer_of(submit(pending(1), result("x"))), "not_an_answerer");
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "not_an_answerer");
}

TEST_F(SubmitTest, EarlyResult_DeclaredPause_Settles) {
    asks_for({job()});
    auto const d = submit(pending(1), result("done already"));
    EXPECT_EQ(types(d), "submitted model_requested");
    EXPECT_TRUE(state.calls.empty());
    EXPECT_EQ(find_effect<RunTool>(), std::nullopt) << "the function is stopped";
}

TEST_F(SubmitTest, EarlyError_DeclaredPause_Settles) {
    asks_for({job()});
    EXPECT_EQ(answer_of(submit(pending(1), error("quota"))), "applied");
}

TEST_F(SubmitTest, OtherEarlySubmission_IsNotReadyWithARetryTime) {
    asks_for({job(), plain(), pausing(PauseReason::approval)});
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "not_ready");
    EXPECT_EQ(answer_of(submit(pending(2), result("x"))), "not_ready");
    auto const d = submit(pending(3), decision(true));
    EXPECT_EQ(answer_of(d), "not_ready");
    EXPECT_GT(d.answer.error().retry_after_ms, 0);
    EXPECT_EQ(types(d), "");
}

TEST_F(SubmitTest, InvalidResult_TheCallContinuesToWait) {
    waits_for({job()});
    Submit const bad = offer(pending(1), result("x"));
    checked.invalid = json(R"([{"pointer":"/url","message":"missing"}])");
    auto const d = when(bad);
    EXPECT_EQ(answer_of(d), "invalid_result");
    EXPECT_EQ(d.answer.error().extra.text(),
              R"({"errors":[{"pointer":"/url","message":"missing"}]})");
    EXPECT_EQ(types(d), "");
    EXPECT_EQ(answer_of(submit(pending(1), result("ok"))), "applied");
}

TEST_F(SubmitTest, EarlyInvalidResult_IsRefusedByTheSchema) {
    asks_for({job()});
    Submit const bad = offer(pending(1), result("x"));
    checked.invalid = json(R"([{"pointer":"","message":"a string"}])");
    EXPECT_EQ(answer_of(when(bad)), "invalid_result");
    EXPECT_EQ(state.calls.size(), 1U);
}

TEST_F(SubmitTest, Kind_IsCheckedBeforeTheSchema) {
    waits_for({job()});
    Submit const bad = offer(pending(1), decision(true));
    checked.invalid = json("[]");
    EXPECT_EQ(answer_of(when(bad)), "wrong_kind");
}

TEST_F(SubmitTest, Receipt_IsFoundBeforeAnyCheck) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)submit(pending_id, result("ok"));
    Submit const bad = offer(pending_id, result("ok"));
    checked.invalid = json("[]");
    EXPECT_EQ(answer_of(when(bad)), "duplicate");
}

TEST_F(SubmitTest, ValuesThatCannotBeCheckedNow_LeaveTheCallWaiting) {
    waits_for({job()});
    checked.refused = Error{Code::reentry_gone, "The tool is not configured."};
    EXPECT_EQ(answer_of(submit(pending(1), result("ok"))), "reentry_gone");
    EXPECT_EQ(answer_of(submit(pending(1), result("ok"))), "applied");
}

TEST_F(SubmitTest, RoleAmongTheAnswerers_OnlyItsCallersMayAnswer) {
    asks_for({gated(plain())});
    PauseTerms terms = pause_for(PauseReason::approval);
    terms.answer.from = {"role:approve", "bob"};
    (void)gate(1, terms);
    roles = std::vector<std::string>{"role:answer"};
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "not_an_answerer");
    roles->push_back("role:approve");
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "applied");
}

TEST_F(SubmitTest, PromptThatAnswersARole_OnlyItsCallersMayAnswer) {
    asks_for({pausing(PauseReason::user_input)});
    PauseTerms question = pause_for(PauseReason::user_input);
    question.continuation = Continuation::message;
    question.answer.from = {"role:operate"};
    (void)pauses(1, question);
    roles = std::vector<std::string>{"role:answer"};
    EXPECT_EQ(answer_of(prompt("blue")), "not_an_answerer");
    EXPECT_EQ(call(1).phase, CallPhase::waiting);
    roles->push_back("role:operate");
    EXPECT_EQ(answer_of(prompt("blue")), "applied");
}

TEST_F(SubmitTest, CallToCheck_OnlyIfTheValuesDecide) {
    waits_for({job()});
    auto const checks = [&](Submit what) {
        auto const [command, context] = request_of(std::move(what));
        return call_to_check(state, command, context) != nullptr;
    };
    EXPECT_TRUE(checks(offer(pending(1), result("ok"))));
    EXPECT_FALSE(checks(offer(pending(1), decision(true)))) << "another kind is asked for";
    PendingId unknown = pending(1);
    ++unknown.call;
    EXPECT_FALSE(checks(offer(unknown, result("ok"))));
    PendingId const pending_id = pending(1);
    (void)submit(pending_id, result("ok"));
    EXPECT_FALSE(checks(offer(pending_id, result("ok")))) << "the receipt answers";
}

TEST_F(SubmitTest, Decision_IsBoundToTheArgumentsThatWereShown) {
    asks_for({gated(plain())});
    (void)gate(1, pause_for(PauseReason::approval));
    Submit shown = offer(pending(1), decision(true));
    shown.input_digest = sha256("other arguments");
    auto const d = when(shown);
    EXPECT_EQ(answer_of(d), "input_changed");
    EXPECT_EQ(types(d), "");
    shown.input_digest = plain().input_digest;
    EXPECT_EQ(answer_of(when(shown)), "applied");
}

TEST_F(SubmitTest, OnlyAnswerers_MayAnswer) {
    asks_for({pausing(PauseReason::approval)});
    PauseTerms terms = pause_for(PauseReason::approval);
    terms.answer.from = {"bob"};
    (void)pauses(1, terms);
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "not_an_answerer");
    by.name = "bob";
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "applied");
}

TEST_F(SubmitTest, Output_OverOneMebibyte_IsTooLargeAndTheCallWaits) {
    waits_for({job()});
    EXPECT_EQ(answer_of(submit(pending(1), result(std::string(limits::output_bytes_max, 'x')))),
              "too_large");
    EXPECT_EQ(state.waiting, 1U);
}

TEST_F(SubmitTest, PausedSession_Accepts_ContinuesAfterResume) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)move(Move::To::pause);
    EXPECT_EQ(types(submit(pending_id, result("ok"))), "submitted");
    EXPECT_EQ(types(move(Move::To::resume)), "status_changed model_requested");
}

TEST_F(SubmitTest, SessionInError_Accepts_ContinuesAfterRetry) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)move(Move::To::fail);
    EXPECT_EQ(types(submit(pending_id, result("ok"))), "submitted");
    EXPECT_EQ(types(move(Move::To::retry)), "status_changed model_requested");
}

TEST_F(SubmitTest, CompletedSession_IsCancelled_DeletedSession_IsNotFound) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)move(Move::To::end);
    EXPECT_EQ(answer_of(submit(pending_id, result("ok"))), "cancelled");
    (void)when(Delete{});
    EXPECT_EQ(answer_of(submit(pending_id, result("ok"))), "not_found");
}

TEST_F(SubmitTest, Results_SettleTheirOwnCallsInAnyOrder) {
    waits_for({job(), job(), job()});
    PendingId const one = pending(1), two = pending(2), three = pending(3);
    EXPECT_EQ(types(submit(two, result("b"))), "submitted");
    EXPECT_EQ(types(submit(three, result("c"))), "submitted");
    EXPECT_EQ(types(submit(one, result("a"))), "submitted model_requested");
    EXPECT_EQ(answer_of(submit(two, result("b"))), "duplicate");
}

TEST_F(SubmitTest, ForbidRequester_RequesterMayNotAnswer) {
    asks_for({pausing(PauseReason::approval)});
    PauseTerms terms = pause_for(PauseReason::approval);
    terms.answer.forbid_requester = true;
    (void)pauses(1, terms);
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "not_an_answerer");
    by.name = "bob";
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "applied");
}

TEST_F(SubmitTest, Capability_SettlesJobsOnly) {
    asks_for({job(), pausing(PauseReason::user_input)});
    PendingId const pending_id = pending(2);
    (void)pauses(1);
    (void)pauses(2, pause_for(PauseReason::user_input));
    by = {ActorType::capability, ""};
    EXPECT_EQ(answer_of(submit(pending_id, result("x"))), "wrong_kind");
    EXPECT_EQ(answer_of(submit(pending(1), result("x"))), "applied");
}

TEST_F(SubmitTest, Capability_SevenDaysAfterSettlement_IsUnknown) {
    waits_for({job()});
    PendingId const key = pending(1);
    by = {ActorType::capability, ""};
    (void)submit(key, result("x"));
    now += limits::capability_grace_period;
    EXPECT_EQ(answer_of(submit(key, result("x"))), "duplicate");
    EXPECT_EQ(answer_of(submit(key, result("y"))), "conflict");
    now += Duration(1);
    EXPECT_EQ(answer_of(submit(key, result("x"))), "not_found");
    by = {ActorType::token, "ann"};
    EXPECT_EQ(answer_of(submit(key, result("x"))), "duplicate");
}

}  // namespace
}  // namespace dormouse::session::testing
