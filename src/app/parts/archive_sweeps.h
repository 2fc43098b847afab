#pragma once
// [archive]: the server itself moves completed sessions into files.

#include "app/archive_run.h"
#include "base/scope.h"
#include "config/config.h"
#include "port/archiving.h"
#include "port/effects.h"
#include "port/world.h"
#include "runner/runner.h"
#include "serve/serving.h"

#include <dormouse/error.h>

#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::app {

// Errors: bad_value.
[[nodiscard]] Result<void> check_archive(config::Config const& config);

// On the loop; files are written on a thread of the workers. One server of a cluster sweeps.
class ArchiveSweeps {
public:
    struct Services {
        port::Loop& loop;
        port::Clock const& clock;
        port::Workers& workers;
        runner::Runner& runner;
        std::function<bool()> leads;  // whether this server does what one server does for all
        std::function<void(std::string const& why)> warn;
    };
    // REQUIRES: check_archive() succeeded. `data`: the data directory.
    ArchiveSweeps(Services services, config::Config const& config, std::string data);

    void attach_to(serve::ServingSettings& settings);
    // The first sweep begins at once.
    void start();
    void apply(config::Config const& config);
    // The sweep that works stops between two sessions.
    void stop();

private:
    enum class Phase : std::uint8_t { unstarted, waiting, sweeping, stopped };
    struct Job;

    void sweep();
    void begin_job();
    void begin(std::shared_ptr<Job> const& job);
    void begin_check(Job const& swept);
    void written(std::shared_ptr<Job> const& job, bool ran);
    void remove_next(std::shared_ptr<Job> const& job);
    void finish(Job const& job);
    void count(Job const& job);
    void fail(std::string const& why);
    void wait();

    Services const services_;
    std::string const data_;
    config::Archive settings_;
    config::Store store_;
    port::ArchiveStatus status_ = {};
    Phase phase_ = Phase::unstarted;
    std::set<SessionId> skipped_ = {};  // could not be moved in this round of all sessions
    std::stop_source job_{std::nostopstate};
    Scope timer_;
    Scope scope_;
};

}  // namespace dormouse::app
