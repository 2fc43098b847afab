#pragma once
// Keeps a shared database for this process alone, as long as it runs.

#include "base/scope.h"
#include "io/clock.h"
#include "port/nodes.h"
#include "port/world.h"
#include "runtime/nodes/start_permission.h"

#include <functional>

namespace dormouse::runtime {

// On the loop. Asks the store each second whether this process still owns it.
class SoleOwner final : public port::Nodes {
public:
    // Asks the store; wrong_state: another process owns it. Answers on the loop.
    using Ask = std::function<void(std::function<void(Result<void>)> answer)>;

    // `loop` outlives this. Without `ask`, no other process can take the store over.
    SoleOwner(port::Loop& loop, Epoch epoch, Ask ask,
              std::function<Duration()> clock = io::boot_time)
        : loop_(loop), epoch_(epoch), ask_(std::move(ask)), clock_(std::move(clock)) {
        if (!ask_) permission_.extend(Duration::max());
    }

    // Begins to ask. `lost` is called once, when another process has taken over: nothing can be
    // written any more.
    void start(std::function<void()> lost);
    // The store is a restored copy: nothing is started until release().
    void hold() { held_ = true; }
    void release() { held_ = false; }

    [[nodiscard]] Epoch epoch() const override { return epoch_; }
    [[nodiscard]] std::string const& name() const override { return name_; }
    // False: answers are compared with the store before they leave.
    [[nodiscard]] bool alone() const override { return !ask_; }
    // Returns true for each earlier process: the store refuses its writes.
    [[nodiscard]] bool gone(Epoch epoch) const override { return epoch < epoch_; }
    [[nodiscard]] bool works(Epoch epoch) const override { return epoch == epoch_; }
    // Returns false while the copy is held, and after a while without a reply of the store: another
    // process may own it by then.
    [[nodiscard]] bool may_start() const override { return !held_ && permission_.holds(); }
    // See SharedNodes::start_permission().
    [[nodiscard]] std::function<bool()> start_permission() const { return permission_.given(); }
    [[nodiscard]] bool has_share(std::uint64_t /*number*/) const override { return true; }
    [[nodiscard]] bool leads() const override { return !held_; }
    [[nodiscard]] bool held() const override { return held_; }
    // A process that was replaced takes no part again.
    void rejoin(port::Fn<void()> done) override;

private:
    void ask();
    void answered(Duration sent, Result<void> const& answer);
    void report();

    port::Loop& loop_;
    Epoch const epoch_;
    std::string const name_ = {};
    Ask const ask_;
    std::function<Duration()> const clock_;
    StartPermission permission_{clock_};
    std::function<void()> lost_ = {};
    bool reported_ = false;
    bool held_ = false;
    Scope scope_;
};

}  // namespace dormouse::runtime
