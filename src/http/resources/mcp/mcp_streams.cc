#include "http/resources/mcp/mcp_streams.h"

#include "base/check.h"

#include <charconv>
#include <utility>
#include <vector>

namespace dormouse::http {
namespace {

std::shared_ptr<std::string const> shared(std::string text) {
    return std::make_shared<std::string const>(std::move(text));
}

}  // namespace

bool McpStream::keeps(std::uint64_t seen) const {
    return seen >= newest_ - kept_.size() && seen <= newest_;
}

void McpStream::attach(std::shared_ptr<EventStream> const& connection, std::uint64_t seen) {
    CHECK(keeps(seen));
    std::uint64_t const dropped = newest_ - kept_.size();
    if (auto const before = std::exchange(connection_, connection)) before->close();
    connection->on_closed([self = weak_from_this(), raw = connection.get()] {
        auto const stream = self.lock();
        if (!stream || stream->connection_.get() != raw) return;
        stream->connection_ = nullptr;
        if (!stream->ended_) stream->since_ = stream->now_();
    });
    for (std::uint64_t at = seen - dropped; at < kept_.size(); ++at)
        (void)connection->send(kept_[at]);
    if (ended_) std::exchange(connection_, {})->close();
}

void McpStream::prime() { push("id: " + id_ + "." + std::to_string(newest_ + 1) + "\ndata: \n\n"); }

void McpStream::send(std::string_view line) {
    push("event: message\nid: " + id_ + "." + std::to_string(newest_ + 1) +
         "\ndata: " + std::string(line) + "\n");
}

void McpStream::push(std::string frame) {
    if (ended_ || forgotten_) return;
    ++newest_;
    bytes_ += frame.size();
    kept_.push_back(shared(std::move(frame)));
    if (connection_) (void)connection_->send(kept_.back());
    while (bytes_ > bytes_max) {
        bytes_ -= kept_.front()->size();
        kept_.pop_front();
    }
}

void McpStream::end() {
    if (std::exchange(ended_, true)) return;
    since_ = now_();
    // The connection may serve another request then.
    if (auto const connection = std::exchange(connection_, {})) connection->close();
}

void McpStream::forget() {
    forgotten_ = true;
    kept_.clear();
    bytes_ = 0;
    if (auto const connection = std::exchange(connection_, {})) connection->close();
}

bool McpStream::given_up() const {
    return forgotten_ || (!connection_ && now_() - since_ > away_max);
}

McpStreamPtr McpStreams::begin(std::string const& session, std::string_view random,
                               std::function<Time()> now) {
    trim(now());
    auto stream = std::make_shared<McpStream>(std::string(random), session, std::move(now));
    numbers_[stream->id()] = ++begun_;
    streams_[begun_] = stream;
    return stream;
}

std::optional<McpStreams::Place> McpStreams::find(std::string const& session,
                                                  std::string_view event) const {
    auto const dot = event.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    Place place;
    auto const number = event.substr(dot + 1);
    auto const read = std::from_chars(number.data(), number.data() + number.size(), place.seen);
    if (read.ec != std::errc() || read.ptr != number.data() + number.size()) return std::nullopt;
    auto const found = numbers_.find(event.substr(0, dot));
    if (found == numbers_.end()) return place;
    auto const& stream = streams_.at(found->second);
    if (stream->session() == session) place.stream = stream;
    return place;
}

void McpStreams::drop(std::uint64_t number) {
    auto const stream = streams_.at(number);
    numbers_.erase(stream->id());
    streams_.erase(number);
    stream->forget();
}

void McpStreams::forget(std::string const& session) {
    std::vector<std::uint64_t> numbers;
    for (auto const& [number, stream] : streams_)
        if (stream->session() == session) numbers.push_back(number);
    for (std::uint64_t const number : numbers) drop(number);
}

// Drops streams that ended long ago. While the rest is too large, also drops ended streams, then
// the oldest ones: their clients are refused when they return.
void McpStreams::trim(Time now) {
    std::size_t bytes = 0;
    std::vector<std::uint64_t> old;
    std::vector<std::uint64_t> ended;
    for (auto const& [number, stream] : streams_) {
        bytes += stream->bytes();
        if (!stream->has_ended()) continue;
        (now - stream->ended_at() > kept_for ? old : ended).push_back(number);
    }
    auto const take = [&](std::uint64_t number) {
        bytes -= streams_.at(number)->bytes();
        drop(number);
    };
    auto const is_full = [&] { return bytes > bytes_max || streams_.size() >= count_max; };
    for (std::uint64_t const number : old) take(number);
    for (std::uint64_t const number : ended) {
        if (!is_full()) return;
        take(number);
    }
    while (is_full() && !streams_.empty()) take(streams_.begin()->first);
}

}  // namespace dormouse::http
