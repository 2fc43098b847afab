#include "base/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace dormouse {

namespace {

struct Network {
    std::array<std::uint8_t, 16> start;
    int bits;
};

constexpr Network v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, int bits) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, 96 + bits};
}

// RFC 6890 and its registry. What is not among 2000::/3 is not public anyway.
constexpr Network special[] = {
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 31, 196, 0, 24),
    v4(192, 52, 193, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(192, 175, 48, 0, 24),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 3),
    {{0x20, 0x01}, 23},              // protocol assignments, Teredo among them
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x3f, 0xff}, 20},              // documentation
    {{0x26, 0x20, 0x00, 0x4f, 0x80, 0x00}, 48},
};

bool within(Address const& address, Network const& network) {
    for (int bit = 0; bit < network.bits; ++bit) {
        auto const byte = static_cast<std::size_t>(bit / 8);
        int const mask = 0x80 >> (bit % 8);
        if ((address[byte] & mask) != (network.start[byte] & mask)) return false;
    }
    return true;
}

Address inner(Address const& address, std::size_t from) {
    return ipv4_address({address[from], address[from + 1], address[from + 2], address[from + 3]});
}

// The IPv4 address that an IPv6 address leads to; nullopt: none.
std::optional<Address> embedded(Address const& address) {
    constexpr Network nat64{{0x00, 0x64, 0xff, 0x9b}, 96};
    constexpr Network local_nat64{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48};
    constexpr Network six_to_four{{0x20, 0x02}, 16};
    if (within(address, nat64)) return inner(address, 12);
    if (within(address, local_nat64)) return ipv4_address({127, 0, 0, 1});
    if (within(address, six_to_four)) return inner(address, 2);
    return std::nullopt;
}

bool is_mapped(Address const& address) {
    return within(address, {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96});
}

}  // namespace

Address ipv4_address(std::array<std::uint8_t, 4> bytes) {
    Address out{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::ranges::copy(bytes, out.begin() + 12);
    return out;
}

bool is_public(Address const& address) {
    if (auto const inside = embedded(address)) return is_public(*inside);
    bool const global = is_mapped(address) || within(address, {{0x20}, 3});
    return global &&
           std::ranges::none_of(special, [&](Network const& one) { return within(address, one); });
}

std::optional<Address> parse_address(std::string_view host) {
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    std::string name(host.substr(0, host.find('%')));  // a zone says only by which way
    Address out{};
    if (::inet_pton(AF_INET6, name.c_str(), out.data()) == 1) return out;
    while (name.ends_with('.')) name.pop_back();
    in_addr v4{};
    if (name.empty() || ::inet_aton(name.c_str(), &v4) == 0) return std::nullopt;
    std::array<std::uint8_t, 4> bytes{};
    std::copy_n(reinterpret_cast<std::uint8_t const*>(&v4.s_addr), 4, bytes.begin());
    return ipv4_address(bytes);
}

}  // namespace dormouse
