#pragma once
// The address of a server and its URLs. Pure.

#include "cli/client/failure.h"

#include <string>
#include <string_view>

namespace dormouse::cli {

struct Address {
    std::string host;  // without the brackets of IPv6
    std::string port;
    bool tls = false;

    [[nodiscard]] std::string url() const;  // without a trailing slash
};

// Parses "http://host[:port][/]" or https. Fails with exit `usage` for anything else.
[[nodiscard]] Outcome<Address> parse_url(std::string_view url);

}  // namespace dormouse::cli
