#include "cli/client/address.h"

#include "base/text.h"

namespace dormouse::cli {

std::string Address::url() const {
    bool const v6 = host.find(':') != std::string::npos;
    return (tls ? "https://" : "http://") + (v6 ? "[" + host + "]" : host) + ":" + port;
}

Outcome<Address> parse_url(std::string_view url) {
    auto const wrong = [&] {
        // It may hold a password before an @.
        bool const secret = url.find('@') != std::string_view::npos;
        auto const shown = secret ? "a name and password have no place in it" : std::string(url);
        return failure(status::usage, "not a server address: " + shown,
                       "Write it as http://HOST:PORT or https://HOST:PORT.");
    };
    bool const tls = url.starts_with("https://");
    if (!tls && !url.starts_with("http://")) return wrong();
    auto rest = url.substr(url.find("//") + 2);
    if (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.empty() || rest.find_first_of("/?#@ \r\n") != std::string_view::npos) return wrong();
    std::string_view host = rest;
    std::string_view after_host;
    if (rest.front() == '[') {
        auto const end = rest.find(']');
        if (end == std::string_view::npos) return wrong();
        host = rest.substr(1, end - 1);
        after_host = rest.substr(end + 1);
    } else if (auto const colon = rest.find(':'); colon != std::string_view::npos) {
        host = rest.substr(0, colon);
        after_host = rest.substr(colon);
    }
    if (host.empty() || (!after_host.empty() && after_host.front() != ':')) return wrong();
    if (after_host.empty()) return Address{std::string(host), tls ? "443" : "80", tls};
    auto const port = parse_number(after_host.substr(1));
    if (!port || *port == 0 || *port > 65535) return wrong();
    return Address{std::string(host), std::to_string(*port), tls};
}

std::string encode(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += {'%', digits[byte >> 4], digits[byte & 15]};
        }
    }
    return out;
}

}  // namespace dormouse::cli
