#pragma once
// A load client that costs little beside the server it measures: epoll, one request in flight on
// each connection, requests that stand ready as bytes, replies of which only status, length and
// body are looked at.

#include "cli/client/address.h"
#include "io/fd.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

// What is asked on the connections of one run. Connections are numbered from 0.
class LoadScript {
public:
    virtual ~LoadScript() = default;
    // Puts the next request of `connection` into `out` (empty when called); false: it has no more.
    [[nodiscard]] virtual bool next(std::size_t connection, std::string& out) = 0;
    // The answer to it; `body` is valid during the call. False ends the run at once.
    [[nodiscard]] virtual bool take(std::size_t connection, int status, std::string_view body,
                                    double took_us) = 0;
};

// The head of a reply: nullopt until all of it is there, or when it bears no Content-Length. Pure.
struct ReplyHead {
    int status = 0;
    std::size_t size = 0;  // of the head, with the empty line
    std::size_t content_length = 0;
};
[[nodiscard]] std::optional<ReplyHead> reply_head(std::string_view bytes);
// The value of the first string member `name` in JSON text, without decoding; empty when absent.
// Pure.
[[nodiscard]] std::string_view member_text(std::string_view json, std::string_view name);

class LoadClient {
public:
    [[nodiscard]] static Outcome<LoadClient> open(Address const& address, std::size_t connections);

    // Until `script` has no more requests and all answers are in. Failure `unreachable`: the server
    // went away.
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
    [[nodiscard]] Outcome<Step> hear(std::size_t at, LoadScript& script);

    io::Fd epoll_;
    std::vector<Link> links_;
};

}  // namespace dormouse::cli
