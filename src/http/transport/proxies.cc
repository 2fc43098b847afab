#include "http/transport/proxies.h"

#include "base/text/cut.h"
#include "base/text/split.h"
#include "base/text/text.h"

#include <algorithm>

namespace dormouse::http {

namespace {

using boost::asio::ip::address_v6;

std::optional<address_v6> parse_address(std::string_view text) {
    boost::system::error_code bad;
    auto const address = boost::asio::ip::make_address(std::string(text), bad);
    if (bad) return std::nullopt;
    if (address.is_v6()) return address.to_v6();
    return make_address_v6(boost::asio::ip::v4_mapped, address.to_v4());
}

// Returns the values of all headers of this name as one list.
std::vector<std::string_view> list_of(HttpRequest const& request, std::string_view name) {
    std::vector<std::string_view> out;
    for (auto const& [header, value] : request.headers) {
        if (header != name) continue;
        auto const parts = split_list(value, ',');
        out.insert(out.end(), parts.begin(), parts.end());
    }
    return out;
}

}  // namespace

std::optional<Network> Network::parse(std::string_view text) {
    auto const slash = text.find('/');
    auto const address = parse_address(text.substr(0, slash));
    if (!address) return std::nullopt;
    Network out{*address, 128};
    if (slash == std::string_view::npos) return out;
    auto const bits = parse_number(text.substr(slash + 1));
    unsigned const most = address->is_v4_mapped() && !text.contains("::") ? 32 : 128;
    if (!bits || *bits > most) return std::nullopt;
    out.bits = static_cast<unsigned>(*bits) + (128 - most);
    return out;
}

bool Network::contains(address_v6 const& address) const {
    auto const ours = base.to_bytes();
    auto const theirs = address.to_bytes();
    for (unsigned bit = 0; bit < bits; ++bit) {
        unsigned const mask = 0x80U >> bit % 8;
        if ((ours[bit / 8] & mask) != (theirs[bit / 8] & mask)) return false;
    }
    return true;
}

Proxies::Proxies(std::vector<std::string> const& networks) {
    for (std::string const& text : networks)
        if (auto network = Network::parse(text)) networks_.push_back(*network);
}

bool Proxies::trusts(std::string_view text) const {
    if (networks_.empty()) return false;
    auto const address = parse_address(text);
    return address && std::ranges::any_of(networks_, [&](Network const& network) {
               return network.contains(*address);
           });
}

bool Proxies::apply(HttpRequest& request) const {
    if (!trusts(request.peer_address)) return false;
    request.peer_is_loopback = false;
    auto const hops = list_of(request, "x-forwarded-for");
    for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
        if (trusts(*hop)) continue;
        if (auto const address = parse_address(*hop)) request.peer_address = std::string(*hop);
        break;
    }
    auto const schemes = list_of(request, "x-forwarded-proto");
    request.secure = request.secure || (!schemes.empty() && schemes.back() == "https");
    return true;
}

}  // namespace dormouse::http
