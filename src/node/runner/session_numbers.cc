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
    CHECK(!blocks_.empty());
    port::NumberBlock& block = blocks_.front();
    block.first += count;
    if (!fetch_) return;
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
    if (fetching_ || left() >= ahead) return;
    fetching_ = true;
    fetch_(scope_.guard([this](Result<port::NumberBlock> const& block) {
        fetching_ = false;
        if (!block) return loop_.after(retry_after, scope_.guard([this] { refill(); }));
        blocks_.push_back(*block);
        refill();
    }));
}

}  // namespace dormouse::runner
