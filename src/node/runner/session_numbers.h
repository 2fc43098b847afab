#pragma once
// The numbers of the sessions that this process makes. On the loop.

#include "base/scope.h"
#include "port/shared_store.h"
#include "port/world.h"

#include <deque>
#include <functional>

namespace dormouse::runner {

class SessionNumbers {
public:
    // Asks the store for another block, and answers on the loop.
    using Fetch = std::function<void(port::Fn<void(Result<port::NumberBlock>)> answer)>;

    // Without `fetch`, all numbers from `first` on are for this process alone.
    SessionNumbers(port::Loop& loop, port::NumberBlock first, Fetch fetch);

    // The next number, of at least `few` in a row; 0: the next block has not come yet.
    [[nodiscard]] std::uint64_t next() const { return blocks_.empty() ? 0 : blocks_.front().first; }
    // Marks `count` numbers from next() on as used. REQUIRES: next() is not 0, or count is 0.
    void take(std::uint64_t count);
    static constexpr std::uint32_t few = 16;

private:
    // Fetched ahead, so that a burst of new sessions does not wait for the store.
    static constexpr std::uint64_t ahead = 1'024;
    static constexpr Duration retry_after{1'000};

    [[nodiscard]] std::uint64_t left() const;
    void refill();

    port::Loop& loop_;
    Fetch const fetch_;
    std::deque<port::NumberBlock> blocks_;
    bool fetching_ = false;
    Scope scope_;
};

}  // namespace dormouse::runner
