#pragma once
// The address of a Redis server. Pure.

#include <dormouse/error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::store::redis {

struct Address {
    std::string host;  // empty: `socket` is set
    std::uint16_t port = 6379;
    std::string socket;  // path of a Unix socket
    std::string user;    // empty: the default one
    std::string password;
    std::uint32_t database = 0;
    std::string prefix = "dormouse:";  // of every key
};

// Reads redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?prefix=TEXT] or
// redis+unix:///PATH[?db=N][&prefix=TEXT]. Errors say what to do and never hold a password.
[[nodiscard]] Result<Address> parse_address(std::string_view url);
// The URL without user and password.
[[nodiscard]] std::string shown(Address const& address);

}  // namespace dormouse::store::redis
