#pragma once
// Where to listen.

#include <dormouse/error.h>

#include <string>
#include <string_view>

namespace dormouse::serve {

struct Address {
    std::string host;  // without brackets
    std::uint16_t port = 0;
    bool loopback = false;
};

// "127.0.0.1:3676", "[::1]:0", "localhost:8080". Errors: bad_value.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

}  // namespace dormouse::serve
