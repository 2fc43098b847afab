#pragma once
// The processes that share a store, as seen by one of them.

#include <dormouse/id.h>

#include "base/check.h"
#include "port/world.h"

#include <cstdint>
#include <string>

namespace dormouse::port {

// On the loop.
class Nodes {
public:
    virtual ~Nodes() = default;
    // The epoch of this process. It changes when the other processes have declared this one dead.
    [[nodiscard]] virtual Epoch epoch() const = 0;
    // Names this process also after a restart; empty if it is alone().
    [[nodiscard]] virtual std::string const& name() const = 0;
    // Returns true if no other process uses the store while this one runs.
    [[nodiscard]] virtual bool alone() const = 0;
    // Returns true if the process of this epoch was declared dead: its appends are refused.
    [[nodiscard]] virtual bool gone(Epoch epoch) const = 0;
    // Returns true if the process of this epoch was at work at the newest heartbeat, or may have
    // joined since then.
    [[nodiscard]] virtual bool works(Epoch epoch) const = 0;
    // Returns true if effects may start: the others cannot declare this process dead yet.
    [[nodiscard]] virtual bool may_start() const = 0;
    // Returns true if this process handles the due work of that session. Overdue work is handled by
    // any process.
    [[nodiscard]] virtual bool has_share(std::uint64_t number) const = 0;
    // Returns true if this process does the work that one process does for all, such as retention.
    [[nodiscard]] virtual bool leads() const = 0;
    // Returns true if the store is a restored copy: requests are served, and nothing else is done
    // until a person releases it.
    [[nodiscard]] virtual bool held() const = 0;
    // Takes part again, under a new epoch, after the others declared this process dead. Calls
    // `done` when epoch() is the new one.
    virtual void rejoin(Fn<void()> done) = 0;
};

// The nodes of a store that one process at a time opens: earlier processes are dead.
class OneNode final : public Nodes {
public:
    explicit OneNode(Epoch epoch) : epoch_(epoch) {}

    [[nodiscard]] Epoch epoch() const override { return epoch_; }
    [[nodiscard]] std::string const& name() const override { return name_; }
    [[nodiscard]] bool alone() const override { return true; }
    [[nodiscard]] bool gone(Epoch epoch) const override { return epoch < epoch_; }
    [[nodiscard]] bool works(Epoch epoch) const override { return epoch == epoch_; }
    [[nodiscard]] bool may_start() const override { return true; }
    [[nodiscard]] bool has_share(std::uint64_t /*number*/) const override { return true; }
    [[nodiscard]] bool leads() const override { return true; }
    [[nodiscard]] bool held() const override { return false; }
    void rejoin(Fn<void()>) override { CHECK(false); }  // there is nobody else

private:
    Epoch const epoch_;
    std::string const name_ = {};
};

}  // namespace dormouse::port
