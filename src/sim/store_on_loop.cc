#include "sim/store_on_loop.h"

#include <utility>

namespace dormouse::sim {

StoreOnLoop::StoreOnLoop(Machine& machine, port::Store& store, StoreFaults const& faults,
                         Durable durable)
    : world_(machine.world()),
      machine_(machine),
      store_(store),
      faults_(faults),
      durable_(std::move(durable)),
      flaky_(store, [this] { return world_.happens(faults_.read_failed); }) {}

Duration StoreOnLoop::delay(Duration most) {
    if (world_.happens(faults_.slow)) return world_.between(Duration(1'000), Duration(8'000));
    return world_.between(Duration(0), most);
}

Duration StoreOnLoop::in_order(Duration delay, Duration& last) const {
    last = std::max(last, machine_.monotonic() + delay);
    return last - machine_.monotonic();
}

void StoreOnLoop::reach(Duration delay, port::Fn<void()> work) {
    machine_.after(delay, [this, work = std::move(work)]() mutable {
        if (!cut_) return work();
        waiting_.push_back(std::move(work));
    });
}

void StoreOnLoop::reconnect() {
    cut_ = false;
    for (auto& work : std::exchange(waiting_, {})) machine_.post(std::move(work));
}

// Time passes between durability and the result: a kill may happen in between.
void StoreOnLoop::commit(std::vector<port::Append> appends,
                         port::Fn<void(std::vector<port::AppendResult>)> done) {
    auto work = [this, appends = std::move(appends), done = std::move(done)]() mutable {
        auto results = write(appends);
        auto answer = [this, results = std::move(results), says = stopped_,
                       done = std::move(done)]() mutable {
            failure_reported_ = failure_reported_ || says;
            done(std::move(results));
        };
        reach(in_order(delay(Duration(2)), last_commit_), std::move(answer));
    };
    reach(in_order(delay(Duration(6)), last_commit_), std::move(work));
}

std::vector<port::AppendResult> StoreOnLoop::write(std::span<port::Append const> appends) {
    std::vector<port::AppendResult> results(appends.size());
    bool const sync_fails = world_.happens(faults_.sync_failed) || breaks_;
    bool const lost = world_.happens(faults_.commit_lost) || (sync_fails && world_.happens(500));
    bool const hidden = world_.happens(faults_.commit_hidden);
    for (std::size_t i = 0; i < appends.size(); ++i) {
        bool const falls = lost || stopped_ || world_.happens(faults_.append_lost);
        if (falls) {
            results[i] = fail(Code::store_unavailable, "the simulated store lost it");
        } else {
            put(appends[i], results[i]);
        }
        if (hidden) results[i] = fail(Code::store_unavailable, "the simulated store hid it");
    }
    stopped_ = stopped_ || sync_fails;
    if (!stopped_) return results;
    for (auto& result : results) result = fail(Code::fail_stop, "a simulated sync failed");
    return results;
}

void StoreOnLoop::put(port::Append const& append, port::AppendResult& result) {
    result = store_.commit({&append, 1}).front();
    if (result) durable_(append);
}

// Like a commit, it may be lost, or done and reported as lost.
void StoreOnLoop::write(port::Fn<Result<void>(port::Store&)> work,
                        port::Fn<void(Result<void>)> done) {
    auto act = [this, work = std::move(work), done = std::move(done)]() mutable {
        bool const lost = stopped_ || world_.happens(faults_.commit_lost);
        Result<void> result = fail(Code::store_unavailable, "the simulated store lost it");
        if (!lost) result = work(store_);
        if (world_.happens(faults_.commit_hidden))
            result = fail(Code::store_unavailable, "the simulated store hid it");
        auto answer = [result = std::move(result), done = std::move(done)]() mutable {
            done(std::move(result));
        };
        machine_.after(in_order(world_.between(Duration(0), Duration(2)), last_commit_),
                       std::move(answer));
    };
    reach(in_order(delay(Duration(6)), last_commit_), std::move(act));
}

void StoreOnLoop::read(port::ReadKey key, port::Fn<void(port::Store&)> work,
                       port::Fn<void()> done) {
    Duration& last = last_reads_.at(std::to_underlying(key) % readers);
    auto ask = [this, &last, work = std::move(work), done = std::move(done)]() mutable {
        work(flaky_);
        machine_.after(in_order(world_.between(Duration(0), Duration(2)), last), std::move(done));
    };
    reach(in_order(delay(Duration(3)), last), std::move(ask));
}

}  // namespace dormouse::sim
