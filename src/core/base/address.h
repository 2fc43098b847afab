#pragma once
// Which network addresses are public: what a request that others may name is allowed to reach.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dormouse {

// An IPv6 address, or an IPv4 address mapped into one (::ffff:a.b.c.d).
using Address = std::array<std::uint8_t, 16>;

[[nodiscard]] Address ipv4_address(std::array<std::uint8_t, 4> bytes);
// False for loopback, private, link-local, shared (CGNAT), multicast, documentation and other
// special networks, and for IPv6 addresses that stand for such an IPv4 address (mapped, compatible,
// NAT64, 6to4, Teredo).
[[nodiscard]] bool is_public(Address const& address);
// A host of a URL that is a number in any notation that a resolver takes: 127.0.0.1, 0x7f.1,
// 017700000001, 2130706433, [::1]. nullopt: it is a name.
[[nodiscard]] std::optional<Address> parse_address(std::string_view host);

}  // namespace dormouse
