#pragma once
// Sessions that have a history before they pause: created without a prompt, then given turns.

#include "cli/bench/job.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dormouse::cli {

// Creates `count` sessions without a prompt.
class CreateScript final : public LoadScript {
public:
    CreateScript(RequestWriter const& writer, std::int64_t count) : writer_(writer), left_(count) {}
    bool next(std::size_t connection, std::string& out) override;
    bool take(std::size_t connection, int status, std::string_view body, double took_us) override;

    std::vector<std::string> sessions;
    std::string wrong;  // why the run ended; empty: no error

private:
    RequestWriter const& writer_;
    std::int64_t left_;
};

struct Turns {
    int count = 1;
    std::string text;
};
// The turns of a history of this size in bytes: half of it prompts, half of them what the demo
// agent replies to those, in turns of 2 KiB. Pure. REQUIRES: `bytes` is positive.
[[nodiscard]] Turns turns_of(int bytes);

// Gives each session some turns, one after the other, and waits for the end of each.
class TurnScript final : public LoadScript {
public:
    TurnScript(RequestWriter const& writer, std::vector<std::string> const& sessions, Turns turns);
    bool next(std::size_t connection, std::string& out) override;
    bool take(std::size_t connection, int status, std::string_view body, double took_us) override;

    std::vector<Sleeper> sleepers;  // those that sleep after their last turn
    Samples latency;                // prompt → end of the turn
    std::string wrong;

private:
    struct Link {
        std::string session;
        int turns_left = 0;
        bool watches = false;
        double prompt_us = 0;
    };
    RequestWriter const& writer_;
    std::vector<std::string> const& sessions_;
    Turns turns_;
    std::string body_;
    std::size_t next_ = 0;
    std::vector<Link> links_;
};

}  // namespace dormouse::cli
