#pragma once
// Decides which network addresses are public, for requests to URLs that come from outside.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dormouse {

// An IPv6 address, or an IPv4 address mapped into one (::ffff:a.b.c.d).
using Address = std::array<std::uint8_t, 16>;

[[nodiscard]] Address ipv4_address(std::array<std::uint8_t, 4> bytes);
// Returns false for loopback, private, link-local, shared (CGNAT), multicast, documentation and
// other special networks, and for IPv6 addresses that stand for such an IPv4 address (mapped,
// compatible, NAT64, 6to4, Teredo).
[[nodiscard]] bool is_public(Address const& address);
// The address of a URL's host, in any numeric notation that resolvers accept: 127.0.0.1, 0x7f.1,
// 017700000001, 2130706433, [::1]. nullopt: a name.
[[nodiscard]] std::optional<Address> parse_address(std::string_view host);
// Returns true if a URL's host is this machine: "localhost", or an address in 127.0.0.0/8 or ::1. A
// name that only begins like one of them is not.
[[nodiscard]] bool is_loopback(std::string_view host);

}  // namespace dormouse
