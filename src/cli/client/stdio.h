#pragma once
// JSON-RPC on the standard streams of this process: reads lines as they arrive, writes whole lines.

#include "rpc/message.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace dormouse::cli {

class Stdio {
public:
    // `in` is only read; lines over `line_bytes_max` are refused.
    Stdio(int in, std::ostream& out, std::size_t line_bytes_max)
        : in_(in), out_(out), lines_(line_bytes_max) {}

    [[nodiscard]] int fd() const { return in_; }
    // Returns the lines that have arrived; blocks only if there are none. At the end of the input
    // ended() is true.
    [[nodiscard]] std::vector<rpc::Line> read();
    [[nodiscard]] bool ended() const { return ended_; }
    void write(std::string const& line);

private:
    int in_;
    std::ostream& out_;
    rpc::LineReader lines_;
    bool ended_ = false;
};

}  // namespace dormouse::cli
