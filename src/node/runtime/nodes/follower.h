#pragma once
// Follows what other processes append to a shared store, so that nobody on this process waits for
// what another one has stored. On the loop.

#include "base/scope.h"
#include "port/shared_store.h"
#include "port/world.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

namespace dormouse::runtime {

class Follower {
public:
    struct Listener {
        // Another process has made this append. In the order of the feed, none is left out.
        std::function<void(port::FeedRow const&)> appended;
        // More was appended than the feed keeps, or the feed begins again at an earlier place:
        // nothing that memory holds of sessions counts.
        std::function<void()> lost;
        // Returns true if a request or reader waits here for appends of others.
        std::function<bool()> awaited;
    };

    // All outlive this. `clock`: does not jump.
    Follower(port::Loop& loop, port::Journal& journal, port::SharedStore& store,
             std::function<Duration()> clock)
        : loop_(loop), journal_(journal), store_(store), clock_(std::move(clock)) {}

    // Follows from the end of the feed on.
    void start(Listener listener);
    // A heartbeat reports that the feed has reached this number.
    void on_feed_number(std::uint64_t newest);
    // Another process reports that it has appended.
    void moved();
    // Returns how long ago the oldest number was reported that has not been read yet; 0: all was
    // read.
    [[nodiscard]] Duration behind() const;

    // Interval at which the feed is read while a request waits.
    static constexpr Duration awaited_every{100};

private:
    // A number that a heartbeat reported, and when.
    struct Reported {
        std::uint64_t number = 0;
        Duration at{};
    };

    void find_end();
    void forget_reported();
    void read();
    void take(Result<port::FeedPage> page);
    void poll();

    static constexpr std::size_t page_bytes = std::size_t{1} << 20;
    static constexpr Duration retry_after{1'000};
    static constexpr std::size_t reported_max = 600;  // one each second

    port::Loop& loop_;
    port::Journal& journal_;
    port::SharedStore& store_;
    std::function<Duration()> const clock_;
    Listener listener_ = {};
    std::uint64_t next_ = 0;         // everything up to this number has been read
    std::deque<Reported> reported_;  // those that have not been read, the oldest first
    bool started_ = false;           // next_ is known
    bool reading_ = false;
    bool again_ = false;  // moved while it was being read, or its end was not known
    bool lost_ = false;   // reported when the end is known: what follows is read
    Scope scope_;
};

}  // namespace dormouse::runtime
