// The event stream of a connection.

#include "http/transport/connection/connection.h"

#include "base/check.h"

#include <utility>

namespace dormouse::http {

namespace {

constexpr std::size_t queue_max = 1024 * 1024;

}  // namespace

void Connection::begin_stream(std::vector<std::pair<std::string, std::string>> const& headers) {
    CHECK(state_.phase == Phase::handling);
    stream_ = std::make_unique<Stream>();
    ++hub_->streams;
    handled_bytes_ = 0;
    // Sends the replies to earlier requests first.
    auto head = std::exchange(out_, {}).substr(std::exchange(out_sent_, 0));
    head += stream_head(headers, hub_->date);
    stream_->queue.push(std::make_shared<std::string const>(std::move(head)));
    on(Event::stream);
    if (head_only_) on(Event::end_stream);
}

bool Connection::send(std::shared_ptr<std::string const> frames) {
    if (!streams()) return false;
    // Checks the queue before this frame: one event may be larger than the limit.
    if (stream_->queue.bytes() > queue_max) {
        hub_->log.info("a reader was too slow and was cut off", {{"peer", peer_}});
        close();
        return false;
    }
    stream_->queue.push(std::move(frames));
    write_soon();
    return true;
}

void Connection::on_drained(port::Fn<void()> again) {
    if (stream_) stream_->drained = std::move(again);
}

void Connection::on_closed(port::Fn<void()> gone) {
    if (stream_)
        stream_->closed = std::move(gone);
    else
        hub_->loop.post(std::move(gone));
}

void Connection::end_stream() { on(Event::end_stream); }
void Connection::flush_stream() { happen(Event::flush); }

void Connection::write_soon() {
    if (!std::exchange(stream_->flush_due, true)) hub_->flush_soon(shared_from_this());
}

void Connection::notify_drained() {
    auto again = std::exchange(stream_->drained, nullptr);
    if (!again) return;
    again();
    // The callback may have closed the stream, or set another callback.
    if (stream_ && !stream_->drained) stream_->drained = std::move(again);
}

}  // namespace dormouse::http
