// The part of a connection's life in which it is an event stream.

#include "http/transport/connection.h"

#include "base/check.h"

#include <utility>

namespace dormouse::server {

namespace {

constexpr std::size_t queue_max = 1024 * 1024;

}  // namespace

void Connection::begin_stream(std::vector<std::pair<std::string, std::string>> const& headers) {
    CHECK(stage_ == Stage::handling);
    stage_ = Stage::streaming;
    stream_ = std::make_unique<Stream>();
    ++hub_->streams;
    no_deadline();
    stream_->next_beat = now() + hub_->options.heartbeat;
    in_ = {};
    handled_bytes_ = 0;
    // Replies to requests before this one go first.
    auto head = std::exchange(out_, {}).substr(std::exchange(out_sent_, 0));
    head += stream_head(headers, hub_->date);
    stream_->queue.push(std::make_shared<std::string const>(std::move(head)));
    // Inside work() its end flushes.
    if (!working_) flush_soon();
    if (head_only_) end_stream();
}

bool Connection::send(std::shared_ptr<std::string const> frames) {
    if (!streams()) return false;
    // Judged by what was left to send before: one event may be larger than the limit.
    bool const full = stream_->queue.bytes() > queue_max;
    if (!full) stream_->queue.push(std::move(frames));
    if (full) {
        hub_->log.info("a reader was too slow and was cut off", {{"peer", peer_}});
        close();
        return false;
    }
    flush_soon();
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

void Connection::end_stream() {
    if (!streams()) return;
    stream_->ending = true;
    set_deadline(hub_->options.body_time_limit);
    flush_soon();
}

void Connection::flush_soon() {
    if (!std::exchange(stream_->flush_due, true)) hub_->flush_soon(shared_from_this());
}

void Connection::flush_stream() {
    if (stage_ != Stage::streaming) return;
    stream_->flush_due = false;
    if (writing_) return;
    bool const held = !stream_->queue.empty();
    while (!stream_->queue.empty()) {
        boost::system::error_code code;
        auto const count = write_some(stream_->queue.front(), code);
        stream_->queue.pop(count);
        if (code == boost::asio::error::would_block) {
            charge();
            return arm_write();
        }
        if (code) return close();
    }
    charge();
    if (held) stream_->next_beat = now() + hub_->options.heartbeat;
    if (stream_->ending) return linger();
    if (held) tell_drained();
}

void Connection::tell_drained() {
    auto again = std::exchange(stream_->drained, nullptr);
    if (!again) return;
    again();
    // It may have closed the stream, or put another in its place.
    if (stream_ && !stream_->drained) stream_->drained = std::move(again);
}

void Connection::beat(Duration now) {
    if (stream_->ending) {
        if (now >= deadline_) close();
        return;
    }
    if (now < stream_->next_beat) return;
    stream_->next_beat = now + hub_->options.heartbeat;
    send(hub_->heartbeat);
}

}  // namespace dormouse::server
