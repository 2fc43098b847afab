#include "serve/address.h"

#include "base/text.h"

namespace dormouse::serve {

Result<Address> parse_address(std::string_view text) {
    auto const wrong = [&] {
        return fail(Code::bad_value, "listen '" + std::string(text) +
                                         "' must be ADDRESS:PORT, for example 127.0.0.1:3676");
    };
    auto const colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return wrong();
    auto const port = parse_number(text.substr(colon + 1));
    if (!port || *port > 65'535) return wrong();
    std::string_view host = text.substr(0, colon);
    bool const bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (host.contains(':') != bracketed || host.contains('/') || host.contains('[')) return wrong();
    bool const loopback = host.starts_with("127.") || host == "::1" || host == "localhost";
    return Address{std::string(host), static_cast<std::uint16_t>(*port), loopback};
}

}  // namespace dormouse::serve
