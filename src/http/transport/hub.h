#pragma once
// What the connections of one server have in common.

#include "http/transport/address_count.h"
#include "http/transport/http.h"
#include "http/transport/proxies.h"
#include "io/log.h"
#include "io/loop.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::server {

class Connection;

// Outlived by late Responders, so connections hold it by
// shared_ptr; the references are not touched once a connection is closed.
struct Hub : std::enable_shared_from_this<Hub> {
    Hub(HttpOptions options_, HttpHandler& handler_, io::Log& log_, io::AsioLoop& loop_,
        port::Clock const& clock_);

    [[nodiscard]] std::string next_request_id();
    // Streams with new frames are flushed together, once what runs now has returned.
    void flush_soon(std::shared_ptr<Connection> stream);
    void remove(std::size_t slot);
    // Ends those that have held bytes for longest, while more are held than may be. What is being
    // answered goes on.
    void relieve();

    HttpOptions const options;
    Proxies const proxies;
    HttpHandler& handler;
    io::Log& log;
    io::AsioLoop& loop;
    port::Clock const& clock;
    std::vector<std::shared_ptr<Connection>> connections;  // the open ones; each knows its place
    std::vector<std::shared_ptr<Connection>> unflushed;
    std::vector<char> scratch;  // every read lands here first
    std::string date;           // for the Date header, renewed by the sweep
    std::shared_ptr<std::string const> const heartbeat;  // a comment (HTML Standard, 9.2.5)
    std::uint64_t request_number;
    std::size_t streams = 0;
    AddressCount by_address;
    std::size_t buffered = 0;          // of all connections (Connection::charge)
    std::size_t buffered_unknown = 0;  // part of them: those without a valid token
    bool relieving = false;
    bool draining = false;      // replies end their connection
    port::Fn<void()> on_empty;  // called once when the last connection has gone
};

}  // namespace dormouse::server
