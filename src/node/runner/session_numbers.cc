#include "runner/session_numbers.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace dormouse::runner {

SessionNumbers::SessionNumbers(port::Loop& loop, port::NumberBlock first, Fetch fetch)
    : loop_(loop), fetch_(std::move(fetch)), blocks_{first} {
    if (fetch_) loop_.post(scope_.guard([this] { refill(); }));
}

void SessionNumbers::take(std::uint64_t count) {
    if (count == 0) return;
    CHECK(!blocks_.empty() && (!fetch_ || count <= blocks_.front().count));
    port::NumberBlock& block = blocks_.front();
    block.first += count;
    if (!fetch_) return;
    used_ += count;
    block.count -= static_cast<std::uint32_t>(std::min<std::uint64_t>(block.count, count));
    if (block.count < few) blocks_.pop_front();
    refill();
}

std::uint64_t SessionNumbers::left() const {
    std::uint64_t out = 0;
    for (port::NumberBlock const& block : blocks_) out += block.count;
    return out;
}

void SessionNumbers::refill() {
    CHECK(fetch_);
    if (left() >= (used_ < ahead_of_few ? ahead_of_few : ahead)) return;
    fetch(
        [this](port::NumberBlock block) {
            blocks_.push_back(block);
            refill();
            if (age_ == Age::any) renew_if_old();
        },
        [this] { refill(); });
}

void SessionNumbers::fetch(std::function<void(port::NumberBlock)> use,
                           std::function<void()> again) {
    if (std::exchange(fetching_, true)) return;
    fetch_(scope_.guard([this, use = std::move(use),
                         again = std::move(again)](Result<port::NumberBlock> const& block) {
        CHECK(fetching_);
        fetching_ = false;
        if (block) return use(*block);
        loop_.after(retry_after, scope_.guard(again));
    }));
}

void SessionNumbers::seen(std::uint64_t number) {
    newest_seen_ = std::max(newest_seen_, number);
    if (age_ == Age::any) renew_if_old();
}

void SessionNumbers::renew_if_old() {
    if (!fetch_ || !is_old()) return;
    fetch(
        [this](port::NumberBlock block) {
            blocks_ = {block};
            used_ = 0;
            age_ = Age::renewed;
            loop_.after(renew_every, scope_.guard([this] {
                age_ = Age::any;
                renew_if_old();
            }));
        },
        [this] { renew_if_old(); });
}

}  // namespace dormouse::runner
