#include "http/transport/connection/hub.h"

#include "base/text/text.h"
#include "http/transport/connection/connection.h"

#include <array>
#include <random>
#include <utility>

namespace dormouse::http {

namespace {

constexpr std::size_t scratch_bytes = 64 * 1024;

}  // namespace

Hub::Hub(HttpOptions options_, HttpHandler& handler_, io::Log& log_, io::AsioLoop& loop_,
         port::Clock const& clock_)
    : options(std::move(options_)),
      proxies(options.trusted_proxies),
      handler(handler_),
      log(log_),
      loop(loop_),
      clock(clock_),
      scratch(scratch_bytes),
      heartbeat(std::make_shared<std::string const>(":\n\n")),
      // Ids of one run differ from those of the last; they are names for logs and not secret.
      request_number(std::uint64_t{std::random_device{}()} << 32),
      by_address(options.connections_per_address_max) {}

void Hub::set_limits(HttpOptions const& next) {
    options.connections_max = next.connections_max;
    options.connections_per_address_max = next.connections_per_address_max;
    options.buffer_bytes_max = next.buffer_bytes_max;
    options.header_bytes_max = next.header_bytes_max;
    options.header_time_limit = next.header_time_limit;
    options.body_time_limit = next.body_time_limit;
    options.idle_time_limit = next.idle_time_limit;
    options.heartbeat = next.heartbeat;
    by_address.set_max(next.connections_per_address_max);
}

std::string Hub::next_request_id() {
    auto const number = request_number++;
    std::array<std::uint8_t, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
    }
    return "req_" + base64url(bytes);
}

void Hub::flush_soon(std::shared_ptr<Connection> stream) {
    unflushed.push_back(std::move(stream));
    if (unflushed.size() > 1) return;
    loop.post([hub = shared_from_this()] {
        auto const batch = std::exchange(hub->unflushed, {});
        for (auto const& connection : batch) connection->flush_stream();
    });
}

void Hub::remove(std::size_t slot) {
    auto const last = std::move(connections.back());
    connections.pop_back();
    if (slot < connections.size()) {
        last->slot_ = slot;
        connections[slot] = last;
    }
    if (connections.empty() && on_empty) loop.post(std::exchange(on_empty, nullptr));
}

}  // namespace dormouse::http
