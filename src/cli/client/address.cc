#include "cli/client/address.h"

#include "base/url.h"

#include <cstdint>
#include <utility>

namespace dormouse::cli {

std::string Address::url() const {
    bool const v6 = host.find(':') != std::string::npos;
    return (tls ? "https://" : "http://") + (v6 ? "[" + host + "]" : host) + ":" + port;
}

Outcome<Address> parse_url(std::string_view url) {
    auto const parsed = dormouse::parse_url(url);
    if (!parsed || (!parsed->target.empty() && parsed->target != "/")) {
        // The URL may hold a password before an @, which must not be printed.
        bool const secret = url.contains('@');
        auto const shown = secret ? "a name and password have no place in it" : std::string(url);
        return failure(status::usage, "not a server address: " + shown,
                       "Write it as http://HOST:PORT or https://HOST:PORT.");
    }
    auto host = parsed->host;
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    std::uint16_t const of_scheme = parsed->secure ? 443 : 80;
    return Address{std::move(host), std::to_string(parsed->port.value_or(of_scheme)),
                   parsed->secure};
}

}  // namespace dormouse::cli
