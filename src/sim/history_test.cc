#include "sim/history.h"

#include <gtest/gtest.h>

// The checker itself: histories that one register explains, and one for each way in which none
// does.
namespace dormouse::sim {
namespace {

using session::CallStatus;
using Kind = Operation::Kind;
using Verdict = Operation::Verdict;

Seen completed(std::string const& payload) { return {CallStatus::completed, sha256(payload)}; }
Seen expired() { return {CallStatus::expired, {}}; }

Operation submit(std::string const& payload, std::uint64_t call, std::uint64_t ret, Verdict verdict,
                 Seen seen = {}) {
    return {Kind::submit, sha256(payload), call, ret, verdict, seen, {}};
}
Operation look(std::uint64_t call, std::uint64_t ret, Verdict verdict, Seen seen = {}) {
    return {Kind::look, {}, call, ret, verdict, seen, {}};
}
Operation unanswered(Operation operation) {
    operation.verdict = Verdict::unknown;
    operation.ret = Operation::never;
    return operation;
}
Operation runtime() { return {Kind::runtime, {}, 0, Operation::never, Verdict::unknown, {}, {}}; }

std::string check(std::vector<Operation> const& operations) { return check_register(operations); }

TEST(Register, TakesAHistoryWithoutOutcome) {
    EXPECT_EQ(check({}), "");
    EXPECT_EQ(check({look(1, 2, Verdict::open), unanswered(submit("a", 3, 4, Verdict::won))}), "");
}

TEST(Register, TakesOneWinnerADuplicateAndAConflict) {
    EXPECT_EQ(check({look(1, 2, Verdict::open), submit("a", 3, 6, Verdict::won, completed("a")),
                     submit("a", 4, 7, Verdict::settled, completed("a")),
                     submit("b", 5, 8, Verdict::settled, completed("a"))}),
              "");
}

TEST(Register, TakesAnUnansweredOneAsTheWinner) {
    EXPECT_EQ(check({unanswered(submit("a", 1, 2, Verdict::won)),
                     submit("a", 3, 4, Verdict::settled, completed("a"))}),
              "");
}

TEST(Register, TakesAnExpiryByTheRuntime) {
    EXPECT_EQ(check({submit("a", 1, 2, Verdict::settled, expired()), runtime()}), "");
}

TEST(Register, FindsTwoWinners) {
    EXPECT_EQ(check({submit("a", 1, 2, Verdict::won, completed("a")),
                     submit("a", 3, 4, Verdict::won, completed("a"))}),
              "two operations won");
}

TEST(Register, FindsTwoOutcomes) {
    EXPECT_EQ(check({submit("a", 1, 2, Verdict::won, completed("a")),
                     look(3, 4, Verdict::settled, completed("b"))}),
              "two outcomes were seen");
    EXPECT_EQ(check({submit("a", 1, 2, Verdict::won, completed("a")),
                     look(3, 4, Verdict::settled, expired())}),
              "two outcomes were seen");
}

TEST(Register, FindsAnOutcomeThatNobodyOffered) {
    EXPECT_EQ(check({look(1, 2, Verdict::settled, completed("a"))}),
              "an outcome was seen that nobody offered");
    EXPECT_EQ(check({unanswered(submit("b", 1, 2, Verdict::won)),
                     look(3, 4, Verdict::settled, completed("a"))}),
              "an outcome was seen that nobody offered");
}

TEST(Register, FindsAnOutcomeSeenBeforeItWasOffered) {
    EXPECT_EQ(check({look(1, 2, Verdict::settled, completed("a")),
                     submit("a", 3, 4, Verdict::won, completed("a"))}),
              "an outcome was seen before it was offered");
    EXPECT_EQ(check({look(1, 2, Verdict::settled, completed("a")),
                     unanswered(submit("a", 3, 4, Verdict::won))}),
              "an outcome was seen before it was offered");
}

TEST(Register, FindsASettledCallThatWaitsAgain) {
    EXPECT_EQ(check({submit("a", 1, 2, Verdict::won, completed("a")), look(3, 4, Verdict::open)}),
              "it waited again after it was settled");
}

TEST(Register, TakesALookThatWasUnderWayWhenItSettled) {
    EXPECT_EQ(check({look(1, 9, Verdict::open), submit("a", 2, 3, Verdict::won, completed("a"))}),
              "");
}

TEST(History, KeepsAnOperationOpenWhoseAnswerSaysNothing) {
    History history;
    PendingId const pending;
    std::size_t const place = history.begin(pending, submit("a", 1, 2, Verdict::unknown));
    history.end(pending, place, 5, Verdict::open);
    EXPECT_EQ(history.all().at(pending).front().ret, 5U);
    std::size_t const second = history.begin(pending, unanswered(submit("a", 6, 7, Verdict::won)));
    history.end(pending, second, 8, Verdict::unknown);
    EXPECT_EQ(history.all().at(pending).back().ret, Operation::never);
}

}  // namespace
}  // namespace dormouse::sim
