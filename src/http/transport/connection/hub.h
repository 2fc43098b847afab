#pragma once
// State shared by the connections of one server.

#include "http/transport/address_count.h"
#include "http/transport/http.h"
#include "http/transport/proxies.h"
#include "io/log.h"
#include "io/loop.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::http {

class Connection;

// Late Responders may outlive the server, so connections hold the hub by shared_ptr; a closed
// connection does not use the references.
struct Hub : std::enable_shared_from_this<Hub> {
    Hub(HttpOptions options_, HttpHandler& handler_, io::Log& log_, io::AsioLoop& loop_,
        port::Clock const& clock_);

    // See HttpServer.
    void set_limits(HttpOptions const& next);
    [[nodiscard]] std::string next_request_id();
    // Schedules a flush of streams with new frames, after the current turn of the loop.
    void flush_soon(std::shared_ptr<Connection> stream);
    void remove(std::size_t slot);
    // Ends the connections that have held bytes for longest while more bytes are held than allowed.
    // Requests in a handler continue.
    void relieve();

    HttpOptions options;
    Proxies const proxies;
    HttpHandler& handler;
    io::Log& log;
    io::AsioLoop& loop;
    port::Clock const& clock;
    std::vector<std::shared_ptr<Connection>> connections;  // open ones; each knows its index
    std::vector<std::shared_ptr<Connection>> unflushed;
    std::vector<char> scratch;                           // every read goes here first
    std::string date;                                    // of the Date header, renewed by the sweep
    std::shared_ptr<std::string const> const heartbeat;  // a comment (HTML Standard, 9.2.5)
    std::uint64_t request_number;
    std::size_t streams = 0;
    AddressCount by_address;
    std::size_t buffered = 0;          // of all connections (Connection::charge)
    std::size_t buffered_unknown = 0;  // the part of connections without a valid token
    bool relieving = false;
    bool draining = false;      // each reply ends its connection
    port::Fn<void()> on_empty;  // called once when the last connection has closed
};

}  // namespace dormouse::http
