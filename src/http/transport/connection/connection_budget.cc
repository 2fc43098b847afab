// Bounds the memory of all connections together: unfinished requests, requests in handlers, and
// unwritten replies. Above the limit the connections that have held bytes for longest end, so that
// slow clients give way to fast ones and no request waits.

#include "http/transport/connection/connection.h"

#include <algorithm>
#include <utility>

namespace dormouse::http {

namespace {

constexpr std::size_t share_of_unknown = 10;  // they may hold a tenth
constexpr std::size_t relieved_share = 8;     // an eighth is freed, so that this runs rarely

// Returns the bytes of a buffer; an empty one does not count, although it may keep some capacity.
std::size_t buffered_by(std::string const& buffer) {
    return buffer.empty() ? 0 : buffer.capacity();
}

}  // namespace

std::size_t Connection::buffered() const {
    std::size_t bytes = buffered_by(in_) + buffered_by(out_) + handled_bytes_;
    if (parser_) bytes += parser_->buffered_bytes();
    if (stream_) bytes += stream_->queue.own_bytes();
    return bytes;
}

bool Connection::may_cut() const {
    if (state_.phase == Phase::closed || state_.taking || charged_ == 0) return false;
    // A handler ends by itself; the input after its request could have been sent later.
    return state_.phase != Phase::handling || !in_.empty();
}

void Connection::charge() {
    std::size_t const now_buffered = state_.phase == Phase::closed ? 0 : buffered();
    hub_->buffered += now_buffered - charged_;
    hub_->buffered_unknown += (known_ ? 0 : now_buffered) - (charged_known_ ? 0 : charged_);
    if (now_buffered == 0)
        guarded_since_ = Duration::max();
    else if (charged_ == 0)
        guarded_since_ = hub_->clock.monotonic();
    bool const more = now_buffered > charged_;
    charged_ = now_buffered;
    charged_known_ = known_;
    if (more) hub_->relieve();
}

void Connection::cut() {
    hub_->log.debug("a connection was ended to free memory", {{"peer", peer_}});
    happen(Event::cut);
}

void Hub::relieve() {
    std::size_t const most = options.buffer_bytes_max;
    std::size_t const most_unknown = most / share_of_unknown;
    bool const over = buffered > most;
    if (relieving || (!over && buffered_unknown <= most_unknown)) return;
    relieving = true;
    std::vector<std::shared_ptr<Connection>> holders;
    for (auto const& connection : connections) {
        bool const counts = over || !connection->charged_known_;
        if (counts && connection->may_cut()) holders.push_back(connection);
    }
    std::ranges::sort(holders, {}, [](auto const& one) { return one->guarded_since_; });
    for (auto const& connection : holders) {
        bool const enough = buffered <= most - most / relieved_share &&
                            buffered_unknown <= most_unknown - most_unknown / relieved_share;
        if (enough) break;
        if (buffered <= most - most / relieved_share && connection->charged_known_) continue;
        connection->cut();
    }
    relieving = false;
}

}  // namespace dormouse::http
