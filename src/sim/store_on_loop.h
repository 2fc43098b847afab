#pragma once
// A blocking store behind virtual time: the twin of io::StoreThread. Work takes time, answers come
// later, and both may fail in every way that a store may fail.

#include "port/world.h"
#include "sim/flaky_store.h"
#include "sim/world.h"

#include <functional>

namespace dormouse::sim {

// Chances per mille, of each commit or read.
struct StoreFaults {
    unsigned commit_lost = 0;    // nothing became durable, and the answer says so
    unsigned commit_hidden = 0;  // it became durable, and the answer says that it failed
    unsigned append_lost = 0;    // one append of the batch falls alone
    unsigned sync_failed = 0;    // fail_stop, until the process is another
    unsigned slow = 0;           // a stall of seconds
    unsigned read_failed = 0;    // of each question to the store
};

class StoreOnLoop final : public port::Journal {
public:
    using Durable = std::function<void(port::Append const&)>;
    // All outlive this. `durable` hears of each append at the instant at which it can no more be
    // lost.
    StoreOnLoop(World& world, port::Store& store, StoreFaults const& faults, Durable durable);

    void commit(std::vector<port::Append> appends,
                port::Fn<void(std::vector<Result<void>>)> done) override;
    void write(port::Fn<Result<void>(port::Store&)> work,
               port::Fn<void(Result<void>)> done) override;
    void read(port::Fn<void(port::Store&)> work, port::Fn<void()> done) override;

    // The next commit's sync fails.
    void break_down() { breaks_ = true; }
    // A sync has failed: this store writes nothing any more.
    [[nodiscard]] bool stopped() const { return stopped_; }

private:
    [[nodiscard]] std::vector<Result<void>> write(std::span<port::Append const> appends);
    void put(port::Append const& append, Result<void>& result);
    [[nodiscard]] Duration delay(Duration most);
    // A time not before the one given out last for the same kind: answers keep the order of calls.
    [[nodiscard]] Duration in_order(Duration delay, Duration& last) const;

    World& world_;
    port::Store& store_;
    StoreFaults const& faults_;
    Durable durable_;
    FlakyStore flaky_;
    bool breaks_ = false;
    bool stopped_ = false;
    Duration last_commit_{0};
    Duration last_read_{0};
};

}  // namespace dormouse::sim
