#include "sim/feed_reader.h"

#include <utility>

namespace dormouse::sim {

FeedReader::FeedReader(port::Journal& journal, std::uint64_t end,
                       std::function<std::uint64_t()> falls, Listener listener)
    : journal_(journal),
      falls_(std::move(falls)),
      listener_(std::move(listener)),
      next_(end),
      fallen_(falls_()) {}

void FeedReader::read() {
    again_ = reading_;
    if (std::exchange(reading_, true)) return;
    constexpr std::size_t page_bytes = 4'096;
    auto question = [after = next_](port::Store& store) {
        return store.feed(port::Projects::all(), after, page_bytes);
    };
    port::ask(journal_, std::move(question),
              [this](Result<port::FeedPage> const& page) { take(page); });
}

void FeedReader::take(Result<port::FeedPage> const& page) {
    reading_ = false;
    if (!page) return;  // at the next signal or heartbeat
    bool const fell = std::exchange(fallen_, falls_()) != falls_();
    if (fell) {
        next_ = 0;  // reads all again
        listener_.lost();
        return read();
    }
    next_ = page->next;
    for (port::FeedRow const& row : page->rows) listener_.appended(row);
    if (std::exchange(again_, false) || page->more) read();
}

}  // namespace dormouse::sim
