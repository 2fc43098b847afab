#pragma once
// Where a server is, and what stands in its URLs. Pure.

#include "cli/client/failure.h"

#include <string>
#include <string_view>

namespace dormouse::cli {

struct Address {
    std::string host;  // without the brackets of IPv6
    std::string port;
    bool tls = false;

    [[nodiscard]] std::string url() const;  // without a slash at its end
};

// "http://host[:port][/]" or https; everything else is a usage failure.
[[nodiscard]] Outcome<Address> parse_url(std::string_view url);

}  // namespace dormouse::cli
