#pragma once
// The indexes that the configuration and the command line name, and what keeps them as the store
// is.

#include "config/config.h"
#include "index/follower.h"
#include "io/threads/thread_workers.h"
#include "port/index.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::app {

struct IndexPlan {
    std::unique_ptr<port::Index> index;
    // Servers that share the store share it, too: one of them writes it.
    bool shared = false;
};
// Checks that --index names indexes. It must contain no password, because other users of the
// machine can read it.
[[nodiscard]] Result<void> check_indexes(std::vector<std::string> const& places);
// Checks that the address in index_url_env can be read.
[[nodiscard]] Result<void> check_secret_index(config::Store const& store);
// Opens nothing yet. `data`: the data directory. Errors: bad_value.
[[nodiscard]] Result<std::vector<IndexPlan>> make_indexes(config::Store const& store,
                                                          std::string const& data);

// Each index has a thread of its own, so that one that stalls delays no other. On the loop.
class Indexes {
public:
    struct Services {
        port::Loop& loop;
        port::Clock const& clock;
        port::Journal& journal;
    };
    // All outlive this. `leads`: whether this process does what one does for all. `changed`: see
    // index::Follower::Options.
    Indexes(Services services, std::vector<IndexPlan> plans, std::function<bool()> const& leads,
            std::function<void(port::IndexStatus const&)> const& changed);

    void start();
    void appended();
    [[nodiscard]] std::vector<port::IndexStatus> status() const;
    // After the loop has ended: finishes what is being written.
    void end();

private:
    struct One {
        One(Services services, std::unique_ptr<port::Index> made, index::Follower::Options options);
        std::unique_ptr<port::Index> index;
        io::ToolThreads threads;
        io::ThreadWorkers workers;
        index::Follower follower;
    };
    std::vector<std::unique_ptr<One>> all_;
};

}  // namespace dormouse::app
