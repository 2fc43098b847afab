#pragma once
// The idle lanes of a runner, longest idle first, and what they weigh together.

#include "base/check.h"

#include <dormouse/id.h>
#include <dormouse/time.h>

#include <cstddef>
#include <list>
#include <unordered_map>

namespace dormouse::runner {

class IdleLanes {
public:
    struct Entry {
        SessionId session;
        std::size_t weight = 0;  // Lane::weight() when it became idle
        Time since{};
    };
    using List = std::list<Entry>;

    // The lane is idle from now on; a lane that was listed moves to the end.
    void add(Entry const& entry) {
        remove(entry.session);
        at_[entry.session] = entries_.insert(entries_.end(), entry);
        bytes_ += entry.weight;
    }
    void remove(SessionId session) {
        auto const place = at_.find(session);
        if (place == at_.end()) return;
        CHECK(bytes_ >= place->second->weight);
        bytes_ -= place->second->weight;
        entries_.erase(place->second);
        at_.erase(place);
    }
    // Longest idle first. An iterator stays valid while its own entry is not removed.
    [[nodiscard]] List const& entries() const { return entries_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    List entries_;
    std::unordered_map<SessionId, List::iterator> at_;
    std::size_t bytes_ = 0;
};

}  // namespace dormouse::runner
