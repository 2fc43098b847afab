#pragma once
// The HTTP/1.1 server of one address. All functions are called on the loop's thread (or before the
// loop runs); none blocks.

#include "http/transport/http.h"
#include "io/log.h"
#include "io/loop.h"

#include <cstdint>
#include <memory>
#include <string>

namespace dormouse::http {

class HttpServer {
public:
    // All arguments but `options` outlive the server. `clock` is that of the loop: all time limits
    // use it.
    HttpServer(io::AsioLoop& loop, port::Clock const& clock, HttpOptions options,
               HttpHandler& handler, io::Log& log);
    // Closes open connections at once. Responders that still exist do nothing from then on.
    ~HttpServer();
    HttpServer(HttpServer const&) = delete;
    HttpServer& operator=(HttpServer const&) = delete;

    // Returns the port it listens on. `listener`: a TCP socket that listens already at the address
    // of the options, and is owned from now on; -1: it opens one. Errors: bad_value, with one line
    // that says what to do.
    [[nodiscard]] Result<std::uint16_t> listen(int listener = -1);

    // From now on the limits of `next`; its other members are ignored. Connections stay open; what
    // they wait for has its former time limit once more.
    void set_limits(HttpOptions const& next);

    // Accepts no new connections; each open one ends with its next reply.
    void stop_accepting();
    // Sends `final_frames` (may be empty) on every open stream and ends it.
    void close_streams(std::string final_frames);
    // Stops accepting, lets requests in progress be answered and closes; cuts off the rest after
    // `limit`. Then calls `done`, on the loop.
    void shutdown(Duration limit, port::Fn<void()> done);

    struct Counts {
        std::size_t connections = 0;  // open now, including streams
        std::size_t streams = 0;
        std::uint64_t refused = 0;  // connections refused since the start
    };
    [[nodiscard]] Counts counts() const;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dormouse::http
