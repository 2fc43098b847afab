#pragma once
// The numbers of the sessions that this process makes. On the loop.
//
// Lists are ordered by number. Processes of a shared store take blocks of numbers ahead, so one
// that made no session for a while would give old numbers to new sessions: when it reads that
// another process has made a session with a larger number, it takes a new block, at most once in
// `renew_every`. So sessions are in the order of their time, but for some seconds.

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
    // This number is used by a session that was not made here. Only of numbers that are for this
    // process alone: those that are handed out in blocks begin after all that are stored.
    void skip(std::uint64_t number) {
        if (!fetch_ && blocks_.front().first <= number) blocks_.front().first = number + 1;
    }
    static constexpr std::uint32_t few = 16;
    // Another process has made the session of this number.
    void seen(std::uint64_t number);
    // Numbers last for decades also if each of ten processes drops a block that often.
    static constexpr Duration renew_every{5'000};

private:
    // Fetched ahead, so that a burst of new sessions does not wait for the store; less while few
    // are made.
    static constexpr std::uint64_t ahead = 1'024;
    static constexpr std::uint64_t ahead_of_few = 128;
    static constexpr Duration retry_after{1'000};
    // The age of the blocks in hand.
    enum class Age : std::uint8_t {
        any,     // replaced at once when it is old
        renewed  // not long ago: looked at again after `renew_every`
    };

    [[nodiscard]] std::uint64_t left() const;
    [[nodiscard]] bool is_old() const { return next() != 0 && next() < newest_seen_; }
    void refill();
    void fetch(std::function<void(port::NumberBlock)> use, std::function<void()> again);
    void renew_if_old();

    port::Loop& loop_;
    Fetch const fetch_;
    std::deque<port::NumberBlock> blocks_;
    std::uint64_t newest_seen_ = 0;  // of other processes
    std::uint64_t used_ = 0;         // since the last renewal
    Age age_ = Age::any;
    bool fetching_ = false;
    Scope scope_;
};

}  // namespace dormouse::runner
