#pragma once
// Splits a stream of bytes into lines: JSON-RPC on a pipe has one message on each line. Pure.
// Example: feed("{\"a\"") returns nothing, feed(":1}\r\n\nsec") then returns the line {"a":1}.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::rpc {

struct Line {
    std::string text = {};  // empty if too long
    bool too_long = false;  // its text was discarded
};

class LineReader {
public:
    // Discards longer lines, so that `bytes_max` limits the memory that a peer can use.
    explicit LineReader(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    // Returns the lines that `bytes` completed, in order, without blank lines. A line ends with \n
    // or \r\n.
    [[nodiscard]] std::vector<Line> feed(std::string_view bytes);
    // Returns whether the current, unfinished line is already too long.
    [[nodiscard]] bool overflows() const { return too_long_; }

private:
    void keep(std::string_view piece);

    std::size_t bytes_max_;
    std::string partial_;
    bool too_long_ = false;
};

}  // namespace dormouse::rpc
