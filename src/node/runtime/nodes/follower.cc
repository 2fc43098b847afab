#include "runtime/nodes/follower.h"

#include <utility>

namespace dormouse::runtime {

void Follower::start(Listener listener) {
    listener_ = std::move(listener);
    find_end();
    poll();
}

void Follower::find_end() {
    auto question = [](port::FeedStore& store) { return store.feed_head(); };
    port::ask(journal_, std::move(question),
              scope_.guard([this](Result<std::uint64_t> const& head) {
                  if (!head) return loop_.after(retry_after, scope_.guard([this] { find_end(); }));
                  next_ = *head;
                  started_ = true;
                  forget_reported();
                  if (std::exchange(lost_, false)) listener_.lost();
                  if (std::exchange(again_, false)) read();
              }));
}

// If too many wait, the newest number counts as old as the one before it.
void Follower::on_feed_number(std::uint64_t newest) {
    if (newest <= next_) return;
    if (reported_.size() == reported_max)
        reported_.back().number = newest;
    else
        reported_.push_back({newest, clock_()});
    read();
}

void Follower::forget_reported() {
    while (!reported_.empty() && reported_.front().number <= next_) reported_.pop_front();
}

Duration Follower::behind() const {
    return reported_.empty() ? Duration(0) : clock_() - reported_.front().at;
}

void Follower::moved() {
    again_ = reading_ || !started_;
    read();
}

void Follower::poll() {
    if (listener_.awaited()) read();
    loop_.after(awaited_every, scope_.guard([this] { poll(); }));
}

void Follower::read() {
    if (!started_ || std::exchange(reading_, true)) return;
    auto question = [this, after = next_](port::Store& /*store*/) {
        return store_.others(after, page_bytes);
    };
    port::ask(journal_, std::move(question), scope_.guard([this](Result<port::FeedPage> page) {
        reading_ = false;
        take(std::move(page));
    }));
}

void Follower::take(Result<port::FeedPage> page) {
    if (!page) return;  // read again at the next occasion
    if (page->gone) {
        started_ = false;
        lost_ = true;
        return find_end();
    }
    next_ = page->next;
    forget_reported();
    for (port::FeedRow const& row : page->rows) listener_.appended(row);
    if (std::exchange(again_, false) || page->more) read();
}

}  // namespace dormouse::runtime
