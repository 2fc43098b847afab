#pragma once
// Trusted proxies in front of the server, which say who the client is. X-Forwarded-For and
// X-Forwarded-Proto of other clients are ignored.

#include "http/transport/http.h"

#include <boost/asio/ip/address.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

// "10.0.0.0/8", "::1", "192.0.2.7".
struct Network {
    boost::asio::ip::address_v6 base;  // IPv4 as mapped
    unsigned bits = 128;

    [[nodiscard]] static std::optional<Network> parse(std::string_view text);
    [[nodiscard]] bool contains(boost::asio::ip::address_v6 const& address) const;
};

class Proxies {
public:
    // Ignores invalid networks; the configuration has refused them already.
    explicit Proxies(std::vector<std::string> const& networks);

    [[nodiscard]] bool trusts(std::string_view address) const;
    // Sets the client's address: the last one in the chain that is no trusted proxy; one that
    // cannot be parsed is not loopback. Returns false and changes nothing if the peer is no trusted
    // proxy.
    bool apply(HttpRequest& request) const;

private:
    std::vector<Network> networks_;
};

}  // namespace dormouse::http
