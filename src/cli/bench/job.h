#pragma once
// The measured job. Pause phase: a session is created and prompted, its model calls a tool, the
// call pauses. Resume phase: the result is submitted from outside, the session continues and
// answers. A phase ends when the client has seen the new state, not when the server has accepted
// the request.

#include "cli/bench/load.h"
#include "cli/bench/measure.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dormouse::cli {

// One sleeping session.
struct Sleeper {
    std::string session;
    std::string pending;
};

// Builds the bytes of HTTP requests, each for the server of its connection (LoadClient). Pure.
class RequestWriter {
public:
    // REQUIRES: `servers` is not empty.
    RequestWriter(std::vector<Address> const& servers, std::string const& token);
    [[nodiscard]] std::string get(std::size_t connection, std::string_view target) const;
    [[nodiscard]] std::string post(std::size_t connection, std::string_view target,
                                   std::string_view body) const;

private:
    std::vector<std::string> headers_;  // of each server
};

// Says which reply ended a run. Pure.
[[nodiscard]] std::string unexpected_answer(std::string_view what, int status,
                                            std::string_view body);

// Pause phase: creates `count` sessions and waits until each sleeps. Keeps the last `kept_max` of
// them.
class PauseScript final : public LoadScript {
public:
    PauseScript(RequestWriter const& writer, std::int64_t count, std::size_t kept_max);
    bool next(std::size_t connection, std::string& out) override;
    bool take(std::size_t connection, int status, std::string_view body, double took_us) override;

    std::vector<Sleeper> kept;
    Samples latency;
    std::int64_t done = 0;
    std::string wrong;                          // why the run ended; empty: no error
    std::function<void(std::int64_t)> on_done;  // called with each new count, if set

private:
    RequestWriter const& writer_;
    std::int64_t left_;
    std::size_t kept_max_;
};

// Resume phase: submits a result to each sleeper; with `observe` then waits until its session is
// idle.
class ResumeScript final : public LoadScript {
public:
    ResumeScript(RequestWriter const& writer, std::vector<Sleeper> const& sleepers, bool observe);
    bool next(std::size_t connection, std::string& out) override;
    bool take(std::size_t connection, int status, std::string_view body, double took_us) override;

    Samples ack;    // result submitted → durable receipt
    Samples whole;  // result submitted → session idle
    std::string wrong;

private:
    struct Link {
        std::size_t sleeper = 0;
        bool watches = false;
        double ack_us = 0;
    };
    RequestWriter const& writer_;
    std::vector<Sleeper> const& sleepers_;
    bool observe_;
    std::size_t next_ = 0;
    std::vector<Link> links_;
};

// Reads sessions back and counts those whose activity is `activity`.
class ReadBackScript final : public LoadScript {
public:
    ReadBackScript(RequestWriter const& writer, std::vector<std::string> sessions,
                   std::string activity);
    bool next(std::size_t connection, std::string& out) override;
    bool take(std::size_t connection, int status, std::string_view body, double took_us) override;

    std::size_t as_expected = 0;
    std::string first_other;  // the first reply with another activity

private:
    RequestWriter const& writer_;
    std::vector<std::string> sessions_;
    std::string expected_;  // as written in the reply
    std::size_t next_ = 0;
};

// Figures of one round at one number of connections.
struct JobFigures {
    int connections = 0;
    std::int64_t jobs = 0;
    double pauses_per_s = 0, pause_p50_us = 0, pause_p99_us = 0;
    double resumes_per_s = 0, resume_p50_us = 0, resume_p99_us = 0;
    double ack_p50_us = 0, ack_p99_us = 0;  // within the resume phase
    double acks_per_s = 0, ack_alone_p50_us = 0, ack_alone_p99_us = 0;
    double client_us_per_request = 0;  // CPU
    double server_us_per_phase = 0;    // CPU, over pauses and resumes
};

struct JobTarget {
    std::vector<Address> servers;  // which share their sessions
    std::string token;
    pid_t server = -1;  // whose CPU time is measured; -1: unknown
};
struct JobPlan {
    int connections = 1;
    std::int64_t jobs = 1;
    int history = 0;  // bytes of text in each session before it pauses
};
// Runs both phases. At the end reads back a sample of at most 1000 sessions; all must be idle.
[[nodiscard]] Outcome<JobFigures> run_job(JobTarget const& target, JobPlan const& plan);
// Returns the median of each member. REQUIRES: `rounds` is not empty; all have the same
// connections.
[[nodiscard]] JobFigures median(std::vector<JobFigures> const& rounds);

}  // namespace dormouse::cli
