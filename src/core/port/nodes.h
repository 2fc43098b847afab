#pragma once
// The processes that share a store, as one of them knows them.

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
    // The epoch of this process. It changes if the others took it for gone.
    [[nodiscard]] virtual Epoch epoch() const = 0;
    // Names this process also after a restart; empty if it is alone().
    [[nodiscard]] virtual std::string const& name() const = 0;
    // Whether this process alone ever uses the store while it lives.
    [[nodiscard]] virtual bool alone() const = 0;
    // Whether the process of this epoch works no longer, and may not append again.
    [[nodiscard]] virtual bool gone(Epoch epoch) const = 0;
    // Whether effects may start: the others cannot take this process for gone yet.
    [[nodiscard]] virtual bool may_start() const = 0;
    // Whether work of the session with this number that falls due is for this process to do. The
    // processes share it; what is overdue is for any of them.
    [[nodiscard]] virtual bool has_share(std::uint64_t number) const = 0;
    // Whether this process does what one process does for all, such as retention.
    [[nodiscard]] virtual bool leads() const = 0;
    // Whether the store is a restored copy that holds: requests are served, and nothing else is
    // done until a person releases it.
    [[nodiscard]] virtual bool held() const = 0;
    // Takes part again, under a new epoch, because the others took this process for gone. Calls
    // `done` when epoch() is the new one.
    virtual void rejoin(Fn<void()> done) = 0;
};

// Of a store that one process at a time opens: those before it are gone.
class OneNode final : public Nodes {
public:
    explicit OneNode(Epoch epoch) : epoch_(epoch) {}

    [[nodiscard]] Epoch epoch() const override { return epoch_; }
    [[nodiscard]] std::string const& name() const override { return name_; }
    [[nodiscard]] bool alone() const override { return true; }
    [[nodiscard]] bool gone(Epoch epoch) const override { return epoch < epoch_; }
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
