#pragma once
// A blocking HTTP/1.1 client for one server: one connection that is kept alive, JSON bodies, a
// bearer token, Server-Sent Events. One thread. The only file of this layer that names Boost.Beast
// is client.cc.

#include <dormouse/json.h>
#include <dormouse/time.h>

#include "cli/failure.h"
#include "cli/socket.h"
#include "cli/sse.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dormouse::cli {

// "http://host[:port][/]" or https; everything else is a usage failure.
[[nodiscard]] Outcome<Address> parse_url(std::string_view url);

// A path segment or a query value, percent-encoded.
[[nodiscard]] std::string encode(std::string_view text);

// 128 random bits in hex, for Idempotency-Key.
[[nodiscard]] std::string random_key();

// A fresh Idempotency-Key is sent with the request: repeating it is safe.
enum class Keyed : bool { no, yes };

struct Reply {
    int status = 0;
    Json body;  // null when there was none
};

// Server-Sent Events as they come, for one that waits on several things at once.
class EventStream {
public:
    EventStream(EventStream&&) noexcept;
    ~EventStream();

    // Readable: read() has something.
    [[nodiscard]] int fd() const;
    // The events that came, which may be none. Errors: it is over; whether it may be opened again
    // says the exit (unreachable, refused).
    [[nodiscard]] Outcome<std::vector<SseEvent>> read();

private:
    friend class Client;
    struct State;
    explicit EventStream(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

class Client {
public:
    struct Options {
        Address address;
        std::string token;               // empty: none is sent
        int interrupt_fd = -1;           // readable: give up with exit `interrupted`
        int output_fd = -1;              // what events() brings goes there; unread: so is its exit
        Duration time_limit{75'000};     // for one request; longer than any `wait`
        Duration silence_limit{45'000};  // for a stream: three heartbeats
    };

    explicit Client(Options options);
    Client(Client&&) noexcept;
    ~Client();

    // 2xx is a Reply, anything else a Failure. A connection that the server had closed meanwhile is
    // opened again and the request repeated, if that is safe.
    [[nodiscard]] Outcome<Reply> get(std::string const& target);
    [[nodiscard]] Outcome<Reply> post(std::string const& target, Json const& body,
                                      Keyed keyed = Keyed::no);
    [[nodiscard]] Outcome<Reply> patch(std::string const& target, Json const& body);
    [[nodiscard]] Outcome<Reply> remove(std::string const& target);
    // What is there, as it came; it need not be JSON.
    [[nodiscard]] Outcome<std::string> bytes(std::string const& target);

    enum class Stream : std::uint8_t { go_on, stop };
    using OnEvent = std::function<Stream(SseEvent const&)>;
    // Reads the stream at `target` after event `after` until `on_event` says stop. A lost
    // connection is made again after 1, 2, 4, … s (5 tries), going on after the last id that was
    // seen.
    [[nodiscard]] Outcome<void> events(std::string const& target, std::string after,
                                       OnEvent const& on_event);
    // A stream of its own at `target`, after event `after`.
    [[nodiscard]] Outcome<EventStream> open(std::string const& target, std::string const& after);
    // As post(), under a key of the caller's, who may repeat it.
    [[nodiscard]] Outcome<Reply> post_as(std::string const& key, std::string const& target,
                                         Json const& body);

private:
    friend class EventStream;
    class Connection;
    struct Request;

    [[nodiscard]] Outcome<std::pair<int, std::string>> exchange(Request const& request);
    [[nodiscard]] Outcome<Reply> ask(Request const& request);
    [[nodiscard]] Outcome<void> stream(Request const& request, SseParser& parser,
                                       OnEvent const& on_event, bool& stopped);
    [[nodiscard]] std::string encoded(Request const& request) const;

    Options options_;
    std::unique_ptr<Connection> connection_;  // null: not connected
};

}  // namespace dormouse::cli
