#pragma once
// Bytes that wait to be written to a descriptor, which takes them in pieces.

#include "base/check.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse::io {

class Unwritten {
public:
    void add(std::string_view bytes) {
        // A reader that is always a little behind would let the buffer grow for ever. The rest is
        // at most as long as the written part, so each byte moves once on average.
        if (2 * written_ >= bytes_.size()) {
            bytes_.erase(0, written_);
            written_ = 0;
        }
        bytes_ += bytes;
    }
    // Valid until the next add() or clear().
    [[nodiscard]] std::string_view rest() const {
        return std::string_view(bytes_).substr(written_);
    }
    [[nodiscard]] bool empty() const { return written_ == bytes_.size(); }
    // REQUIRES: `count` is at most the size of rest().
    void take(std::size_t count) {
        CHECK(count <= bytes_.size() - written_);
        written_ += count;
        if (empty()) clear();
    }
    void clear() {
        bytes_.clear();
        written_ = 0;
    }
    // Returns the number of bytes in memory, also of those that were written already.
    [[nodiscard]] std::size_t held() const { return bytes_.size(); }

private:
    std::string bytes_;
    std::size_t written_ = 0;
};

}  // namespace dormouse::io
