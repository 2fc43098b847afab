#pragma once
// Counts the connections of each address.

#include <cstddef>
#include <string>
#include <unordered_map>

namespace dormouse::http {

// Returns the address itself; for IPv6 its network of 64 bits, because a client that has one
// address of it has all.
[[nodiscard]] std::string network_of(std::string const& address);

class AddressCount {
public:
    explicit AddressCount(std::size_t max) : max_(max) {}

    // Changes the limit. What entered before stays counted, also above it.
    void set_max(std::size_t max) { max_ = max; }
    // Returns false, without counting, if `network` is at its limit. The empty name is never
    // counted.
    [[nodiscard]] bool enter(std::string const& network);
    // REQUIRES: enter(network) returned true.
    void leave(std::string const& network);

private:
    std::size_t max_;
    std::unordered_map<std::string, std::size_t> counts_;
};

}  // namespace dormouse::http
