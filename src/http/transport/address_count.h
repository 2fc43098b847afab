#pragma once
// How many connections each address has.

#include <cstddef>
#include <string>
#include <unordered_map>

namespace dormouse::server {

// The address itself; of IPv6 its network of 64 bits, because who has one address of it has all.
[[nodiscard]] std::string network_of(std::string const& address);

class AddressCount {
public:
    explicit AddressCount(std::size_t max) : max_(max) {}

    // False: `network` has as many as it may, and is not counted. The empty name is never counted.
    [[nodiscard]] bool enter(std::string const& network);
    // REQUIRES: it was entered.
    void leave(std::string const& network);

private:
    std::size_t const max_;
    std::unordered_map<std::string, std::size_t> counts_;
};

}  // namespace dormouse::server
