#include "base/url.h"

#include "base/address.h"
#include "base/text/chars.h"
#include "base/text/text.h"

#include <algorithm>
#include <charconv>

namespace dormouse {

namespace {

bool is_name(std::string_view host) { return !host.empty() && is_made_of(host, ".-_"); }

bool is_ipv6(std::string_view host) {
    return host.ends_with(']') && host.contains(':') && !host.contains('%') && parse_address(host);
}

// Parses host[:port] into `out`; returns as wrong_url().
std::string_view read_authority(std::string_view text, Url& out) {
    if (text.contains('@')) return "must have no user name and no password";
    bool const brackets = text.starts_with('[');
    std::size_t const end =
        brackets ? text.find(']') + 1 : std::min(text.find(':'), text.size());  // no ']': 0
    out.host = lower_case(text.substr(0, end));
    if (!brackets && out.host.empty()) return "must name a host";
    if (brackets ? !is_ipv6(out.host) : !is_name(out.host))
        return "must name a host by letters, digits and . - _, or by an address";
    std::string_view const port = text.substr(end);
    if (port.empty()) return {};
    auto const number = port.starts_with(':') ? parse_number(port.substr(1)) : std::nullopt;
    if (!number || *number == 0 || *number > 65'535) return "must have a port from 1 to 65535";
    out.port = static_cast<std::uint16_t>(*number);
    return {};
}

}  // namespace

std::string Url::authority() const { return port ? host + ":" + std::to_string(*port) : host; }

std::string Url::origin() const { return (secure ? "https://" : "http://") + authority(); }

bool Url::is_loopback() const { return dormouse::is_loopback(host); }

std::expected<Url, std::string_view> parse_url(std::string_view text) {
    using Wrong = std::unexpected<std::string_view>;
    Url out;
    out.secure = text.starts_with("https://");
    if (text.size() > url_bytes_max) return Wrong("must be at most 2,048 bytes");
    if (!out.secure && !text.starts_with("http://"))
        return Wrong("must begin with https:// or http://");
    auto const visible = [](unsigned char c) { return c > 0x20 && c < 0x7F; };
    if (!std::ranges::all_of(text, visible))
        return Wrong("must be visible ASCII; percent-encode the rest");
    if (text.contains('#')) return Wrong("must have no fragment (#)");
    if (text.contains('\\')) return Wrong("must have no backslash");
    text.remove_prefix(out.secure ? 8 : 7);
    std::size_t const end = std::min(text.find_first_of("/?"), text.size());
    if (auto const wrong = read_authority(text.substr(0, end), out); !wrong.empty())
        return Wrong(wrong);
    out.target = text.substr(end);
    return out;
}

std::optional<UrlParts> split_url(std::string_view text) {
    std::size_t const end = text.find(':');
    if (end == std::string_view::npos || !text.substr(end).starts_with("://")) return std::nullopt;
    std::string_view const scheme = text.substr(0, end);
    if (scheme.empty() || !is_letter(scheme.front()) || !is_made_of(scheme, "+-."))
        return std::nullopt;
    text.remove_prefix(end + 3);
    std::size_t const target = std::min(text.find_first_of("/?#"), text.size());
    return UrlParts{scheme, text.substr(0, target), text.substr(target)};
}

std::string_view wrong_url(std::string_view text) {
    auto const url = parse_url(text);
    return url ? std::string_view() : url.error();
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
    auto const colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    auto const port = parse_number(text.substr(colon + 1));
    if (!port || *port > 65'535) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[')) {
        if (!is_ipv6(host)) return std::nullopt;
        host = host.substr(1, host.size() - 2);
    } else if (!is_name(host)) {
        return std::nullopt;
    }
    if (host == "localhost") host = "127.0.0.1";
    return ListenAddress{std::string(host), static_cast<std::uint16_t>(*port), is_loopback(host)};
}

bool is_unreserved(char c) {
    return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

std::string percent_encode(std::string_view text, std::string_view keep) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if (is_unreserved(c) || keep.contains(c)) {
            out += c;
        } else {
            out += {'%', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return out;
}

std::optional<std::string> percent_decode(std::string_view text, Plus plus) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i] == '+' && plus == Plus::space ? ' ' : text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        unsigned char byte = 0;
        char const* const end = text.data() + i + 3;
        if (std::from_chars(text.data() + i + 1, end, byte, 16).ptr != end) return std::nullopt;
        out += static_cast<char>(byte);
        i += 2;
    }
    return out;
}

}  // namespace dormouse
