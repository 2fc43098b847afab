#pragma once
// Recent failures of turns and of requests to models, for GET /api/doctor. Forgotten at a restart.
// On the loop.

#include "session/state.h"
#include "wire/journal/record.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

class Troubles {
public:
    // `state`: of the session of these records, after them.
    void appended(session::State const& state, std::vector<wire::RecordPtr> const& records);

    struct FailedTurn {
        Time at{};
        SessionId session;
        std::string why;
    };
    // Returns the newest failed turns since `since`, the newest last.
    [[nodiscard]] std::vector<FailedTurn> failed_since(Time since) const;
    // Why the provider of the agent's model refused its key; without agents whose model has
    // replied since.
    [[nodiscard]] std::map<std::string, std::string> const& rejected_keys() const {
        return rejected_;
    }

    static constexpr std::size_t turns_max = 100;
    static constexpr std::size_t agents_max = 100;

private:
    void note(session::State const& state, session::Event const& event);

    std::deque<FailedTurn> turns_;
    std::map<std::string, std::string> rejected_;  // by agent
};

// Receivers of webhooks and notifications that accepted nothing since their newest attempts failed.
class FailingReceivers {
public:
    struct Failing {
        std::string target;  // as in OutboxRow
        std::string why;     // of the newest attempt
        std::uint32_t attempts = 0;
        Time since{};
        Time newest{};
    };
    // `attempts`: how often the message was sent, also by an earlier process.
    void refused(std::string const& target, std::uint32_t attempts, std::string_view why, Time now);
    void accepted(std::string const& target) { failing_.erase(target); }
    // Returns the receivers with several failures whose newest one is less than a day old, in the
    // order of their first failures.
    [[nodiscard]] std::vector<Failing> failing(Time now) const;

    static constexpr std::uint32_t attempts_min = 3;  // or, after `minutes`, two
    static constexpr Duration minutes{3LL * 60'000};
    static constexpr Duration kept{24LL * 3'600'000};  // attempts are at most ten hours apart
    static constexpr std::size_t receivers_max = 1'000;

private:
    std::map<std::string, Failing, std::less<>> failing_;  // by target
};

// How fast the free space of a disk shrinks.
class DiskTrend {
public:
    // Keeps the first sample of each ten minutes, for a day.
    void note(Time now, std::uint64_t free);
    // Returns the time until nothing is free; nullopt if the free space does not shrink, or was
    // measured for too short a time.
    [[nodiscard]] std::optional<Duration> until_full(Time now, std::uint64_t free) const;

    static constexpr Duration every{600'000};
    static constexpr Duration kept{24LL * 3'600'000};

private:
    struct Sample {
        Time at{};
        std::uint64_t free = 0;
    };
    std::deque<Sample> samples_;
};

}  // namespace dormouse::http
