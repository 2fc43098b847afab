#include "http/transport/address_count.h"

#include "base/check.h"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cstdint>

namespace dormouse::http {

std::string network_of(std::string const& address) {
    boost::system::error_code bad;
    auto const parsed = boost::asio::ip::make_address(address, bad);
    if (bad || !parsed.is_v6()) return address;
    auto bytes = parsed.to_v6().to_bytes();
    std::ranges::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
    return boost::asio::ip::address_v6(bytes).to_string();
}

bool AddressCount::enter(std::string const& network) {
    if (network.empty()) return true;
    auto& count = counts_[network];
    if (count >= max_) return false;
    ++count;
    return true;
}

void AddressCount::leave(std::string const& network) {
    if (network.empty()) return;
    auto const found = counts_.find(network);
    CHECK(found != counts_.end());
    if (--found->second == 0) counts_.erase(found);
}

}  // namespace dormouse::http
