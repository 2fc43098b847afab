#include "base/address.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace dormouse {

namespace {

struct Network {
    std::array<std::uint8_t, 16> start;
    int bits;
};

constexpr Network v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, int bits) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, 96 + bits};
}

// RFC 6890 and its registry. Addresses outside 2000::/3 are not public anyway.
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
    {{0x20, 0x01}, 23},              // protocol assignments, including Teredo
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

// The IPv4 address to which an IPv6 address leads; nullopt: none.
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

std::array<std::uint8_t, 4> bytes_of(std::uint32_t number) {
    return {static_cast<std::uint8_t>(number >> 24), static_cast<std::uint8_t>(number >> 16),
            static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
}

// 10, 012 or 0xa, up to 32 bits.
std::optional<std::uint64_t> parse_part(std::string_view text) {
    int base = 10;
    if (text.size() > 1 && text.front() == '0') {
        bool const hex = text[1] == 'x' || text[1] == 'X';
        base = hex ? 16 : 8;
        text.remove_prefix(hex ? 2 : 1);
        if (text.empty()) return 0;  // some parsers read "0x" as 0
    }
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    bool const whole = error == std::errc() && end == text.data() + text.size();
    return whole && value <= UINT32_MAX ? std::optional(value) : std::nullopt;
}

// One to four parts; the last one fills the remaining bytes.
std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
    std::uint64_t out = 0;
    for (int n = 0; n < 4; ++n) {
        std::size_t const dot = std::min(text.find('.'), text.size());
        auto const part = parse_part(text.substr(0, dot));
        bool const last = dot == text.size();
        if (!part || (!last && *part > 255)) return std::nullopt;
        if (last && *part >= std::uint64_t{1} << (8 * (4 - n))) return std::nullopt;
        out |= last ? *part : *part << (8 * (3 - n));
        if (last) return static_cast<std::uint32_t>(out);
        text.remove_prefix(dot + 1);
    }
    return std::nullopt;
}

// Groups of 16 bits, where an IPv4 address may be the last two; nullopt: any other form.
std::optional<std::vector<std::uint8_t>> parse_groups(std::string_view text) {
    std::vector<std::uint8_t> out;
    while (!text.empty()) {
        std::size_t const colon = std::min(text.find(':'), text.size());
        std::string_view const group = text.substr(0, colon);
        bool const last = colon == text.size();
        if (last && group.contains('.')) {
            auto const v4 = parse_ipv4(group);
            if (!v4) return std::nullopt;
            auto const bytes = bytes_of(*v4);
            out.insert(out.end(), bytes.begin(), bytes.end());
            return out;
        }
        std::uint16_t value = 0;
        auto const [end, error] =
            std::from_chars(group.data(), group.data() + group.size(), value, 16);
        bool const whole = error == std::errc() && end == group.data() + group.size();
        if (!whole || group.size() > 4 || out.size() > 16) return std::nullopt;
        out.push_back(static_cast<std::uint8_t>(value >> 8));
        out.push_back(static_cast<std::uint8_t>(value));
        if (!last && colon + 1 == text.size()) return std::nullopt;
        text.remove_prefix(std::min(colon + 1, text.size()));
    }
    return out;
}

std::optional<Address> parse_ipv6(std::string_view text) {
    auto const gap = text.find("::");
    bool const whole = gap == std::string_view::npos;
    auto const front = parse_groups(text.substr(0, gap));
    auto const back = parse_groups(whole ? std::string_view() : text.substr(gap + 2));
    if (!front || !back) return std::nullopt;
    std::size_t const size = front->size() + back->size();
    if (whole ? size != 16 : size > 14) return std::nullopt;
    Address out{};
    std::ranges::copy(*front, out.begin());
    std::ranges::copy(*back, out.end() - static_cast<std::ptrdiff_t>(back->size()));
    return out;
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
    host = host.substr(0, host.find('%'));  // a zone only selects the interface
    if (host.contains(':')) return parse_ipv6(host);
    while (host.ends_with('.')) host.remove_suffix(1);
    auto const number = parse_ipv4(host);
    if (!number) return std::nullopt;
    return ipv4_address(bytes_of(*number));
}

bool is_loopback(std::string_view host) {
    if (host == "localhost") return true;
    auto const address = parse_address(host);
    return address && (within(*address, v4(127, 0, 0, 0, 8)) ||
                       within(*address, {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128}));
}

}  // namespace dormouse
