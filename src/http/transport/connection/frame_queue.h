#pragma once
// The frames that an event stream has to send: shared strings, sent many at a time without a copy.

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::http {

class FrameQueue {
public:
    // Strings in one writev.
    static constexpr std::size_t gather_max = 64;

    void push(std::shared_ptr<std::string const> frames) {
        if (frames->empty()) return;
        bytes_ += frames->size();
        bool const own = frames.use_count() == 1;
        if (own) own_bytes_ += frames->size();
        queue_.push_back({std::move(frames), own});
    }

    [[nodiscard]] bool empty() const { return queue_.empty(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    // Bytes of strings that no other reader shared when they were queued: those of pages, not of
    // new events.
    [[nodiscard]] std::size_t own_bytes() const { return own_bytes_; }

    // Returns buffers for the front of the queue; valid until the next pop().
    [[nodiscard]] std::vector<boost::asio::const_buffer> front() const {
        std::vector<boost::asio::const_buffer> buffers;
        auto const count = std::min(queue_.size(), gather_max);
        buffers.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
            buffers.push_back(boost::asio::buffer(*queue_[i].frames));
        if (!buffers.empty()) buffers.front() += sent_;
        return buffers;
    }

    // Removes `count` sent bytes from the front.
    void pop(std::size_t count) {
        bytes_ -= count;
        sent_ += count;
        while (!queue_.empty() && sent_ >= queue_.front().frames->size()) {
            std::size_t const size = queue_.front().frames->size();
            sent_ -= size;
            if (queue_.front().own) own_bytes_ -= size;
            queue_.pop_front();
        }
    }

private:
    struct Entry {
        std::shared_ptr<std::string const> frames;
        bool own;
    };
    std::deque<Entry> queue_;
    std::size_t bytes_ = 0;  // of the whole queue, without sent bytes
    std::size_t own_bytes_ = 0;
    std::size_t sent_ = 0;  // of the first string
};

}  // namespace dormouse::http
