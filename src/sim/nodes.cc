#include "sim/nodes.h"

#include "base/check.h"

#include <string>
#include <utility>
#include <vector>

namespace dormouse::sim {

using runner::Membership;

SharedNodes::SharedNodes(Machine& machine, store::MemoryStore& store, Beats& beats,
                         unsigned const& failed, Listener listener)
    : machine_(machine),
      store_(store),
      beats_(beats),
      failed_(failed),
      listener_(std::move(listener)) {
    CHECK(arrived(machine_.monotonic()));
    machine_.after(Membership::beat_every, [this] { beat(); });
}

void SharedNodes::rejoin(port::Fn<void()> done) {
    auto join = [this, done = std::move(done)]() mutable {
        store_.join();
        members_.rejoined();
        CHECK(arrived(machine_.monotonic()));
        done();
    };
    machine_.after(machine_.world().between(Duration(0), Duration(200)), std::move(join));
}

void SharedNodes::beat() {
    machine_.after(Membership::beat_every, [this] { beat(); });
    World& world = machine_.world();
    if (cut_ || world.happens(failed_)) return;
    auto const arrive = [this, sent = machine_.monotonic()] {
        if (cut_) return;
        arrived(sent) ? listener_.beaten() : listener_.fenced();
    };
    machine_.after(world.between(Duration(0), Duration(100)), arrive);
}

// One statement in the database: counts, and reads the others.
bool SharedNodes::arrived(Duration sent) {
    std::set<Epoch> const taking_part = store_.nodes();
    if (!store_.takes_part()) {
        members_.fenced();
        return false;
    }
    beats_[epoch()] = ++sent_;
    std::vector<Membership::Node> table;
    for (Epoch const one : taking_part) table.push_back({one, beats_[one]});
    for (auto const& silent : members_.arrived(epoch(), sent, machine_.monotonic(), table)) {
        store_.declare_gone(silent.epoch);
        members_.removed(silent.epoch);
        machine_.world().trace("gone " + std::to_string(silent.epoch));
    }
    return true;
}

}  // namespace dormouse::sim
