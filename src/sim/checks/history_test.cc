#include "sim/checks/history.h"

#include <gtest/gtest.h>

// The checker itself: valid histories, and one for each kind of contradiction.
namespace dormouse::sim {
namespace {

using session::CallStatus;
using Kind = Operation::Kind;
using Observed = Operation::Observed;

Seen completed(std::string const& payload) { return {CallStatus::completed, sha256(payload)}; }
Seen expired() { return {CallStatus::expired, {}}; }

Operation submit(std::string const& payload, std::uint64_t call, std::uint64_t ret,
                 Observed observed, Seen seen = {}) {
    return {Kind::submit, sha256(payload), call, ret, observed, seen, {}};
}
Operation read_call(std::uint64_t call, std::uint64_t ret, Observed observed, Seen seen = {}) {
    return {Kind::read, {}, call, ret, observed, seen, {}};
}
Operation unanswered(Operation operation) {
    operation.observed = Observed::unknown;
    operation.ret = Operation::never;
    return operation;
}
Operation runtime() { return {Kind::runtime, {}, 0, Operation::never, Observed::unknown, {}, {}}; }

std::string check(std::vector<Operation> const& operations) { return check_register(operations); }

TEST(Register, Accepts_NoOutcome) {
    EXPECT_EQ(check({}), "");
    EXPECT_EQ(
        check({read_call(1, 2, Observed::open), unanswered(submit("a", 3, 4, Observed::won))}), "");
}

TEST(Register, Accepts_OneWinnerADuplicateAndAConflict) {
    EXPECT_EQ(
        check({read_call(1, 2, Observed::open), submit("a", 3, 6, Observed::won, completed("a")),
               submit("a", 4, 7, Observed::settled, completed("a")),
               submit("b", 5, 8, Observed::settled, completed("a"))}),
        "");
}

TEST(Register, Accepts_AnUnansweredSubmissionAsWinner) {
    EXPECT_EQ(check({unanswered(submit("a", 1, 2, Observed::won)),
                     submit("a", 3, 4, Observed::settled, completed("a"))}),
              "");
}

TEST(Register, Accepts_AnExpiryByTheRuntime) {
    EXPECT_EQ(check({submit("a", 1, 2, Observed::settled, expired()), runtime()}), "");
}

TEST(Register, Finds_TwoWinners) {
    EXPECT_EQ(check({submit("a", 1, 2, Observed::won, completed("a")),
                     submit("a", 3, 4, Observed::won, completed("a"))}),
              "two operations won");
}

TEST(Register, Finds_TwoOutcomes) {
    EXPECT_EQ(check({submit("a", 1, 2, Observed::won, completed("a")),
                     read_call(3, 4, Observed::settled, completed("b"))}),
              "two outcomes were seen");
    EXPECT_EQ(check({submit("a", 1, 2, Observed::won, completed("a")),
                     read_call(3, 4, Observed::settled, expired())}),
              "two outcomes were seen");
}

TEST(Register, Finds_AnOutcomeThatNoOperationOffered) {
    EXPECT_EQ(check({read_call(1, 2, Observed::settled, completed("a"))}),
              "an outcome was seen that no operation offered");
    EXPECT_EQ(check({unanswered(submit("b", 1, 2, Observed::won)),
                     read_call(3, 4, Observed::settled, completed("a"))}),
              "an outcome was seen that no operation offered");
}

TEST(Register, Finds_AnOutcomeSeenBeforeItWasOffered) {
    EXPECT_EQ(check({read_call(1, 2, Observed::settled, completed("a")),
                     submit("a", 3, 4, Observed::won, completed("a"))}),
              "an outcome was seen before it was offered");
    EXPECT_EQ(check({read_call(1, 2, Observed::settled, completed("a")),
                     unanswered(submit("a", 3, 4, Observed::won))}),
              "an outcome was seen before it was offered");
}

TEST(Register, Finds_ASettledCallThatWaitsAgain) {
    EXPECT_EQ(
        check({submit("a", 1, 2, Observed::won, completed("a")), read_call(3, 4, Observed::open)}),
        "it waited again after it was settled");
}

TEST(Register, Accepts_AReadDuringTheSettlement) {
    EXPECT_EQ(
        check({read_call(1, 9, Observed::open), submit("a", 2, 3, Observed::won, completed("a"))}),
        "");
}

TEST(History, UnknownResult_KeepsTheOperationOpen) {
    History history;
    PendingId const pending;
    std::size_t const place = history.begin(pending, submit("a", 1, 2, Observed::unknown));
    history.end(pending, place, 5, Observed::open);
    EXPECT_EQ(history.all().at(pending).front().ret, 5U);
    std::size_t const second = history.begin(pending, unanswered(submit("a", 6, 7, Observed::won)));
    history.end(pending, second, 8, Observed::unknown);
    EXPECT_EQ(history.all().at(pending).back().ret, Operation::never);
}

}  // namespace
}  // namespace dormouse::sim
