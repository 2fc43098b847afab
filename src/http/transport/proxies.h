#pragma once
// Proxies in front of the server whose word is taken for who asks. Everybody else's
// X-Forwarded-For and X-Forwarded-Proto say nothing.

#include "http/transport/http.h"

#include <boost/asio/ip/address.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::server {

// "10.0.0.0/8", "::1", "192.0.2.7".
struct Network {
    boost::asio::ip::address_v6 base;  // IPv4 as mapped
    unsigned bits = 128;

    [[nodiscard]] static std::optional<Network> parse(std::string_view text);
    [[nodiscard]] bool contains(boost::asio::ip::address_v6 const& address) const;
};

class Proxies {
public:
    // What is no network is left out: the configuration has refused it.
    explicit Proxies(std::vector<std::string> const& networks);

    [[nodiscard]] bool trusts(std::string_view address) const;
    // False: it comes from none of them, and stays as it is. Else its address is the last one that
    // is none of theirs, as they tell it; one that can not be read is not this machine's.
    bool apply(HttpRequest& request) const;

private:
    std::vector<Network> networks_;
};

}  // namespace dormouse::server
