#include "cli/client/stdio.h"

#include <unistd.h>
#include <array>
#include <cerrno>
#include <ostream>

namespace dormouse::cli {

std::vector<rpc::Line> Stdio::read() {
    std::array<char, 64 * 1024> piece{};
    auto const got = ::read(in_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) return {};
    if (got <= 0) {
        ended_ = true;
        return {};
    }
    return lines_.feed({piece.data(), static_cast<std::size_t>(got)});
}

void Stdio::write(std::string const& line) {
    // The reader has closed the output: there is no client any more.
    if (!(out_ << line << std::flush)) ended_ = true;
}

}  // namespace dormouse::cli
