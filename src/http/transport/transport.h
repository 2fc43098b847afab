#pragma once
// The HTTP/1.1 server of one address. Everything is called on the loop's thread (or before the loop
// runs), and nothing blocks.

#include "http/transport/http.h"
#include "io/log.h"
#include "io/loop.h"

#include <cstdint>
#include <memory>
#include <string>

namespace dormouse::server {

class HttpServer {
public:
    // All but `options` outlive the server. `clock` is that of the loop: all limits in time are by
    // it.
    HttpServer(io::AsioLoop& loop, port::Clock const& clock, HttpOptions options,
               HttpHandler& handler, io::Log& log);
    // Closes what is open at once. Responders that are still held become harmless.
    ~HttpServer();
    HttpServer(HttpServer const&) = delete;
    HttpServer& operator=(HttpServer const&) = delete;

    // The port that it listens on. Errors: bad_value, with one line that says what to do.
    [[nodiscard]] Result<std::uint16_t> listen();

    // No new connections; on the old ones each reply is the last.
    void stop_accepting();
    // Sends `final_frames` (may be empty) on every open stream and ends it.
    void close_streams(std::string final_frames);
    // Stops accepting, lets what is in hand be answered and closes; what is left after `limit` is
    // cut off. Then calls `done`, on the loop.
    void shutdown(Duration limit, port::Fn<void()> done);

    struct Counts {
        std::size_t connections = 0;  // open now, streams among them
        std::size_t streams = 0;
        std::uint64_t refused = 0;  // connections turned away since the start
    };
    [[nodiscard]] Counts counts() const;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dormouse::server
