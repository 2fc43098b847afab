#pragma once
// Lines out of a stream of bytes: how JSON-RPC is framed on a pipe (one message a line). Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::rpc {

struct Line {
    std::string text = {};  // without its end; empty if too long
    bool too_long = false;  // it was thrown away
};

class LineReader {
public:
    // Longer lines are not kept: `bytes_max` bounds what a peer can make us hold.
    explicit LineReader(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    // The lines that `bytes` completed, in order; those of white space alone are left out. Ends are
    // \n and \r\n.
    [[nodiscard]] std::vector<Line> feed(std::string_view bytes);

private:
    void keep(std::string_view piece);

    std::size_t bytes_max_;
    std::string held_;
    bool too_long_ = false;
};

}  // namespace dormouse::rpc
