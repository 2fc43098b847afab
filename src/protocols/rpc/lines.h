#pragma once
// Splits a stream of bytes into lines: JSON-RPC on a pipe has one message a line. Pure.
// Example: feed("{\"a\"") returns nothing, feed(":1}\r\n\nsec") then returns the line {"a":1}.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::rpc {

struct Line {
    std::string text = {};  // without its end; empty if too long
    bool too_long = false;  // its text was discarded
};

class LineReader {
public:
    // Discards longer lines: `bytes_max` bounds what a peer can make us hold.
    explicit LineReader(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    // Returns the lines that `bytes` completed, in order, without those of white space alone. A
    // line ends with \n or \r\n.
    [[nodiscard]] std::vector<Line> feed(std::string_view bytes);
    // The line that has not ended yet is already too long.
    [[nodiscard]] bool overflows() const { return too_long_; }

private:
    void keep(std::string_view piece);

    std::size_t bytes_max_;
    std::string held_;
    bool too_long_ = false;
};

}  // namespace dormouse::rpc
