#include "port/audit.h"

namespace dormouse::port {

Sha256 chained(Sha256 const& before, std::uint64_t n, std::string_view line) {
    std::string bytes(reinterpret_cast<char const*>(before.data()), before.size());
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift & 0xff);
    return sha256(bytes.append(line));
}

}  // namespace dormouse::port
