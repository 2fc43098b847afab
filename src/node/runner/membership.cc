#include "runner/membership.h"

#include "base/check.h"

#include <algorithm>

namespace dormouse::runner {

std::vector<Membership::Node> Membership::arrived(Epoch me, Duration sent, Duration now,
                                                  std::span<Node const> table) {
    if (!sent_ || sent - *sent_ > gap_max) {
        unbroken_since_ = now;
        seen_.clear();
    }
    sent_ = sent;
    known_.clear();
    sharing_.clear();
    for (Node const& node : table) {
        known_.insert(node.epoch);
        newest_ = std::max(newest_, node.epoch);
        if (!node.draining) sharing_.push_back(node.epoch);
    }
    ++answers_;
    CHECK(unknown_.size() <= unknown_max);
    unknown_.erase(unknown_.begin(), unknown_.upper_bound(newest_));
    std::ranges::sort(sharing_);
    std::erase_if(seen_, [&](auto const& entry) { return !known_.contains(entry.first); });
    std::vector<Node> silent;
    for (Node const& node : table)
        if (node.epoch != me && is_silent(node, now)) silent.push_back(node);
    return silent;
}

bool Membership::is_silent(Node const& other, Duration now) {
    auto const [entry, fresh] = seen_.try_emplace(other.epoch, Seen{other.counter, now});
    Seen& seen = entry->second;
    if (seen.counter != other.counter) seen = {other.counter, now};
    return now - seen.since >= gone_after && now - unbroken_since_ >= gone_after;
}

// The next answer may be to a heartbeat that was sent before the question.
bool Membership::may_be_new(Epoch epoch) const {
    if (unknown_.size() >= unknown_max && !unknown_.contains(epoch)) return false;
    auto const [asked, first] = unknown_.try_emplace(epoch, answers_);
    return answers_ < asked->second + 2;
}

void Membership::rejoined() {
    sent_.reset();
    seen_.clear();
}

bool Membership::has_share(Epoch me, std::uint64_t number) const {
    auto const place = std::ranges::find(sharing_, me);
    if (place == sharing_.end()) return sharing_.empty();
    auto const rank = static_cast<std::uint64_t>(place - sharing_.begin());
    return number % sharing_.size() == rank;
}

}  // namespace dormouse::runner
