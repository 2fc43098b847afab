// Decides which lanes stay in memory: idle ones are unloaded after a while, and at once if there
// are too many of them.
#include "base/check.h"
#include "runner/runner.h"

namespace dormouse::runner {

// A lane whose session was deleted, or never existed, is released in the next loop iteration: the
// caller that was just answered no longer uses it then.
void Runner::rested(SessionId session) {
    idle_.remove(session);
    auto const found = lanes_.find(session);
    if (found == lanes_.end()) return;
    idle_.add({session, found->second->weight(), now()});
    if (found->second->gone()) {
        services_.loop.post(scope_.guard([this, session] {
            auto const lane = lanes_.find(session);
            if (lane != lanes_.end() && lane->second->gone()) release_lane(session);
        }));
    }
    release_beyond(options_.resident_max, options_.resident_bytes);
}

void Runner::release_beyond(std::size_t lanes_max, std::size_t bytes_max) {
    for (auto it = idle_.entries().begin(); it != idle_.entries().end();) {
        if (lanes_.size() <= lanes_max && idle_.bytes() <= bytes_max) return;
        SessionId const session = (it++)->session;
        release_lane(session);
    }
}

// Works in shares, so that other work of the loop comes in between.
void Runner::release_old() {
    Time const before = now() - options_.resident_time;
    std::size_t looked_at = 0;
    for (auto it = idle_.entries().begin(); it != idle_.entries().end() && it->since <= before;) {
        if (looked_at++ == release_share)
            return services_.loop.post(scope_.guard([this] { release_old(); }));
        SessionId const session = (it++)->session;
        if (!release_lane(session)) idle_again(session);
    }
}

// Something holds the lane, such as a reader: it is looked at again after another resident_time.
void Runner::idle_again(SessionId session) {
    auto const found = lanes_.find(session);
    if (found != lanes_.end() && found->second->may_sleep())
        idle_.add({session, found->second->weight(), now()});
}

// Returns false if the lane is in use. A lane that a reader still holds must stay: a second lane
// for its session would get what comes, and the first one would not.
bool Runner::release_lane(SessionId session) {
    auto const found = lanes_.find(session);
    bool const sleeps = found != lanes_.end() && found->second->may_sleep();
    if (sleeps && found->second.use_count() > 1) return false;
    idle_.remove(session);
    if (!sleeps) return false;
    CHECK(found->second->id() == session && found->second->effects_running() == 0);
    if (auto const until = found->second->waits_elsewhere(now())) parked_[session] = {{}, until};
    if (auto gate = found->second->missing_gate())
        parked_[session] = {*std::move(gate), found->second->next_time()};
    // It may be on the call stack: destroyed in the next loop iteration.
    services_.loop.post([gone = std::move(found->second)] {});
    lanes_.erase(found);
    return true;
}

// Loading a session finds which gates are missing. The scan loads those that are not in memory.
void Runner::gates_changed() {
    std::erase_if(parked_, [](auto const& one) { return !one.second.gate.empty(); });
    auto const resident = lanes_;  // a tick may end one
    for (auto const& [id, lane] : resident) {
        if (!lane->missing_gate()) continue;
        lane->forget_state();
        lane->receive(make(session::Tick{}, {}), [](Result<session::Answer> const& /*answer*/) {});
    }
}

}  // namespace dormouse::runner
