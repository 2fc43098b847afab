#pragma once
// [backup]: the continuous copy of the server's data directory.

#include "backup/copy/copier.h"
#include "config/config.h"
#include "io/clock.h"
#include "port/copies.h"
#include "serve/serving.h"

#include <atomic>
#include <memory>
#include <string>

namespace dormouse::app {

// Errors: bad_value.
[[nodiscard]] Result<void> check_copies(config::Config const& config);

// The parts of a continuous copy besides the services. Made before the store is opened, which then
// reports its changes to `changes`.
struct CopyPlan {
    std::shared_ptr<store::sqlite::Changes> changes = {};  // null: nothing is copied
    backup::Sealing sealing = {};
};
// REQUIRES: check_copies() succeeded. `data`: the data directory. Errors: bad_value, and those of
// reading the key.
[[nodiscard]] Result<CopyPlan> plan_copies(config::Config const& config, std::string const& data);

class Copies {
public:
    // `clock` outlives it.
    Copies(CopyPlan plan, config::Config const& config, std::string const& data,
           port::Clock const& clock);

    void attach_to(serve::ServingSettings& settings);
    // Begins to copy. A restored copy that holds is not copied: its place may be the original's.
    void start();
    // After the store's last write, while it is open.
    void end();

private:
    std::atomic<bool> stop_ = false;
    bool started_ = false;
    io::SystemEntropy entropy_;
    CopyPlan const plan_;
    std::unique_ptr<backup::Copier> copier_;  // null: nothing is copied
};

}  // namespace dormouse::app
