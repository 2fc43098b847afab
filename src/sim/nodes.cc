#include "sim/nodes.h"

#include <algorithm>
#include <string>
#include <utility>

namespace dormouse::sim {

namespace {

constexpr Duration beat_every{1'000};
constexpr Duration start_limit{4'000};  // the newest heartbeat was sent less than this ago
constexpr Duration gone_after{5'000};   // a counter has not changed for this long
constexpr Duration gap{2'000};          // between heartbeats: this process did not watch

}  // namespace

SharedNodes::SharedNodes(Machine& machine, store::MemoryStore& store, Beats& beats,
                         unsigned const& failed)
    : machine_(machine), store_(store), beats_(beats), failed_(failed) {
    arrived(machine_.monotonic());
    machine_.after(beat_every, [this] { beat(); });
}

// One that joined after the newest heartbeat is not known, and not gone.
bool SharedNodes::gone(Epoch epoch) const { return !known_.contains(epoch) && epoch <= newest_; }

bool SharedNodes::may_start() const { return sent_ && machine_.monotonic() - *sent_ < start_limit; }

void SharedNodes::rejoin(port::Fn<void()> done) {
    auto join = [this, done = std::move(done)]() mutable {
        store_.join();
        others_.clear();
        since_.reset();
        arrived(machine_.monotonic());
        done();
    };
    machine_.after(machine_.world().between(Duration(0), Duration(200)), std::move(join));
}

void SharedNodes::beat() {
    machine_.after(beat_every, [this] { beat(); });
    World& world = machine_.world();
    if (cut_ || world.happens(failed_)) return;
    auto const arrive = [this, sent = machine_.monotonic()] {
        if (!cut_) arrived(sent);
    };
    machine_.after(world.between(Duration(0), Duration(100)), arrive);
}

// One statement in the database: counts, and reads the others.
void SharedNodes::arrived(Duration sent) {
    std::set<Epoch> const taking_part = store_.nodes();
    if (!taking_part.contains(epoch())) return sent_.reset();  // the next append says so
    Duration const now = machine_.monotonic();
    if (!since_ || !sent_ || sent - *sent_ > gap) {
        since_ = now;
        others_.clear();
    }
    sent_ = sent;
    known_ = taking_part;
    newest_ = std::max(newest_, *known_.rbegin());
    ++beats_[epoch()];
    judge(now);
}

void SharedNodes::judge(Duration now) {
    std::erase_if(others_, [&](auto const& entry) { return !known_.contains(entry.first); });
    for (Epoch const other : std::set(known_)) {
        if (other == epoch()) continue;
        auto const [seen, fresh] = others_.try_emplace(other, Other{beats_[other], now});
        if (seen->second.counter != beats_[other]) seen->second = {beats_[other], now};
        if (fresh || now - seen->second.since < gone_after || now - *since_ < gone_after) continue;
        store_.declare_gone(other);
        machine_.world().trace("gone " + std::to_string(other));
        known_.erase(other);
    }
}

}  // namespace dormouse::sim
