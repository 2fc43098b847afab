#include "store/postgres/reader/readers.h"

#include "base/check.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dormouse::store::postgres {

Readers::Readers(std::vector<Session> sessions, Options const& options) {
    CHECK(!sessions.empty() && (!options.sole || sessions.size() == 1));
    for (Session& session : sessions)
        places_.push_back(std::make_unique<Place>(std::move(session), options, timeline_));
}

bool Readers::may_connect() const {
    auto const refused = refused_.load();
    return refused == 0 ||
           Clock::now() - Clock::time_point(Clock::duration(refused)) >= retry_after;
}

// The first ones are preferred, so that a process that reads little has one connection. The first
// one connects in its calls, which report why it cannot.
Readers::Borrowed Readers::any() {
    for (auto const& place : places_) {
        std::unique_lock lock(place->mutex, std::try_to_lock);
        if (!lock) continue;
        if (place == places_.front() || place->reader.is_connected())
            return {std::move(lock), place->reader};
        if (!may_connect()) break;
        if (place->reader.connect(connect_wait)) return {std::move(lock), place->reader};
        refused_ = Clock::now().time_since_epoch().count();
        break;
    }
    Place& first = *places_.front();
    return {std::unique_lock(first.mutex), first.reader};
}

}  // namespace dormouse::store::postgres
