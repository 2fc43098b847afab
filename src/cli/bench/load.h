#pragma once
// A load client that uses little CPU next to the server it measures: epoll, one request in flight
// on each connection, requests built before they are sent, and replies of which it reads only
// status, length and body.

#include "cli/client/address.h"
#include "io/fd.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

// Supplies the requests of one run and takes the replies. Connections are numbered from 0.
class LoadScript {
public:
    virtual ~LoadScript() = default;
    // Writes the next request of `connection` into `out`, which is empty. Returns false when there
    // are no more.
    [[nodiscard]] virtual bool next(std::size_t connection, std::string& out) = 0;
    // Takes the reply to that request; `body` is valid during the call. Returning false ends the
    // run.
    [[nodiscard]] virtual bool take(std::size_t connection, int status, std::string_view body,
                                    double took_us) = 0;
};

// Parses the head of a reply. Returns nullopt if it is incomplete or has no Content-Length. Pure.
struct ReplyHead {
    int status = 0;
    std::size_t size = 0;  // of the head with the empty line
    std::size_t content_length = 0;
};
[[nodiscard]] std::optional<ReplyHead> reply_head(std::string_view bytes);
// Returns the value of the first string member `name` in JSON text, undecoded; empty when absent.
// Pure.
[[nodiscard]] std::string_view member_text(std::string_view json, std::string_view name);

class LoadClient {
public:
    // Connection i is one to server i modulo their number. REQUIRES: `servers` is not empty.
    [[nodiscard]] static Outcome<LoadClient> open(std::vector<Address> const& servers,
                                                  std::size_t connections);

    // Runs until `script` has no more requests and all replies have arrived. Fails with
    // `unreachable` if the server closes a connection.
    [[nodiscard]] Outcome<void> run(LoadScript& script);
    [[nodiscard]] std::size_t connections() const { return links_.size(); }

private:
    struct Link {
        io::Fd fd;
        std::string request;
        std::string received;
        std::chrono::steady_clock::time_point sent;
    };
    enum class Step : std::uint8_t { waits, idle, ended };

    LoadClient() = default;
    [[nodiscard]] Outcome<Step> ask(std::size_t at, LoadScript& script);
    [[nodiscard]] Outcome<Step> receive(std::size_t at, LoadScript& script);

    io::Fd epoll_;
    std::vector<Link> links_;
};

}  // namespace dormouse::cli
