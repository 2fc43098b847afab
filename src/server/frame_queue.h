#pragma once
// What an event stream has still to send: shared strings, sent many at a time without being copied.

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::server {

class FrameQueue {
public:
    // How many strings go into one writev.
    static constexpr std::size_t gather_max = 64;

    void push(std::shared_ptr<std::string const> frames) {
        if (frames->empty()) return;
        bytes_ += frames->size();
        queue_.push_back(std::move(frames));
    }

    [[nodiscard]] bool empty() const { return queue_.empty(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    // The front of the queue; valid until the next pop().
    [[nodiscard]] std::vector<boost::asio::const_buffer> front() const {
        std::vector<boost::asio::const_buffer> buffers;
        auto const count = std::min(queue_.size(), gather_max);
        buffers.reserve(count);
        for (std::size_t i = 0; i < count; ++i) buffers.push_back(boost::asio::buffer(*queue_[i]));
        if (!buffers.empty()) buffers.front() += sent_;
        return buffers;
    }

    // `count` bytes of the front have been sent.
    void pop(std::size_t count) {
        bytes_ -= count;
        sent_ += count;
        while (!queue_.empty() && sent_ >= queue_.front()->size()) {
            sent_ -= queue_.front()->size();
            queue_.pop_front();
        }
    }

private:
    std::deque<std::shared_ptr<std::string const>> queue_;
    std::size_t bytes_ = 0;  // of the whole queue, without what was sent
    std::size_t sent_ = 0;   // of the first string
};

}  // namespace dormouse::server
