#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>

// Each planted bug breaks one promise, and a checker must find it.
namespace dormouse::sim {
namespace {

struct Planted {
    Bug bug;
    std::string finding;   // beginning of a finding that reports it
    std::uint64_t within;  // number of seeds
    std::string name;
    std::uint64_t from = 1;  // of a rare finding or of long runs: the seeds from here on
    // 1: what others answer from memory that was never stored keeps a run of several busy for hours
    unsigned processes = 0;
};

bool tells(Report const& report, std::string const& finding) {
    return std::ranges::any_of(
        report.findings, [&](std::string const& found) { return found.starts_with(finding); });
}

class PlantedBugs : public testing::TestWithParam<Planted> {};

TEST_P(PlantedBugs, EachBug_IsFound) {
    auto const& [bug, finding, within, name, from, processes] = GetParam();
    std::uint64_t seed = from;
    while (seed < from + within && !tells(simulate({seed, bug, processes}), finding)) ++seed;
    EXPECT_LT(seed, from + within) << "no seed reports: " << finding;
    RecordProperty("seed", std::to_string(seed));
}

INSTANTIATE_TEST_SUITE_P(
    Simulator, PlantedBugs,
    testing::Values(
        Planted{Bug::ack_before_durable, "lost: a prompt", 400, "AckBeforeDurable", 1, 1},
        Planted{Bug::ack_before_durable, "lost: an outcome", 400, "OutcomeBeforeDurable", 1, 1},
        Planted{Bug::ack_before_durable, "effect: the model is asked before", 400,
                "AskBeforeDurable", 1, 1},
        Planted{Bug::failure_swallowed, "read: undurable events", 400, "FailureSwallowed"},
        Planted{Bug::fail_stop_hidden, "liveness: a store that failed", 400, "FailStopHidden"},
        Planted{Bug::wake_forgotten, "verify: wake_at", 400, "WakeForgotten"},
        Planted{Bug::wake_forgotten, "liveness: ", 400, "WakeForgottenStuck"},
        Planted{Bug::keys_forgotten, "repeat: the input", 400, "KeysForgotten"},
        Planted{Bug::keys_forgotten, "verify: keys", 400, "KeysMissing"},
        Planted{Bug::rows_forgotten, "answer: not_found", 400, "RowsForgotten"},
        Planted{Bug::rows_forgotten, "verify: pending row", 400, "RowsMissing"},
        Planted{Bug::outbox_forgotten, "lost: mail", 400, "MailForgotten"},
        Planted{Bug::outbox_forgotten, "lost: the end of task", 400, "TaskForgotten"},
        Planted{Bug::epoch_not_counted, "effect: one attempt", 400, "EpochNotCounted", 7},
        Planted{Bug::epoch_not_counted, "effect: a tool that never", 400, "NeverRunAgain", 92, 2},
        Planted{Bug::effect_started_twice, "effect: it was started twice", 400, "StartedTwice"},
        Planted{Bug::effect_before_intent, "effect: a tool runs before", 400, "RunBeforeIntent"},
        Planted{Bug::effect_not_started, "liveness: an outstanding effect", 400, "NotStarted"},
        Planted{Bug::timer_lost, "liveness: a time has passed", 400, "TimerLost"},
        Planted{Bug::no_fence, "driver: a process that is gone appends", 400, "NoFence"},
        Planted{Bug::driver_ignored, "driver: two processes decide", 400, "DriverIgnored"},
        Planted{Bug::intent_undriven, "driver: an intent of a process that does not", 400,
                "IntentUndriven"},
        Planted{Bug::stamp_ignored, "fork: an append follows events", 400, "StampIgnored", 200},
        Planted{Bug::runs_forgotten, "effect: one attempt of a tool", 1'000, "RunsForgotten", 100},
        Planted{Bug::runs_forgotten, "effect: a run of the lost history", 1'000, "LostRunRepeated"},
        Planted{Bug::signals_trusted, "stream: a reader does not get", 2'000, "SignalsTrusted",
                1'830},
        Planted{Bug::memory_trusted, "read: something acknowledged", 400, "MemoryTrusted"},
        Planted{Bug::starts_unchecked, "effect: a process that is gone", 1'000, "StartsUnchecked",
                1'060}),
    [](testing::TestParamInfo<Planted> const& info) { return info.param.name; });

}  // namespace
}  // namespace dormouse::sim
