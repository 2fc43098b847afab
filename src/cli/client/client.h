#pragma once
// HTTP with one server for a command that waits for its answers: JSON bodies, a bearer token,
// Server-Sent Events, over libcurl (io/http_transfers.h). Connections are kept. One thread.

#include <dormouse/json.h>
#include <dormouse/time.h>

#include "base/sse.h"
#include "cli/client/address.h"
#include "cli/client/failure.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::port {
struct HttpRequest;
}

namespace dormouse::cli {

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
    EventStream& operator=(EventStream&&) noexcept;
    ~EventStream();

    // The events that came, which may be none; never blocks. Errors, after the last event: it is
    // over; whether it may be opened again says the exit (unreachable, refused).
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
    // The same under a key of the caller's, who may repeat it.
    [[nodiscard]] Outcome<Reply> post_as(std::string const& key, std::string const& target,
                                         Json const& body);
    // The same under a key of its own, repeated while the server is away for a moment.
    [[nodiscard]] Outcome<Reply> post_patiently(std::string const& target, Json const& body);
    [[nodiscard]] Outcome<Reply> patch(std::string const& target, Json const& body);
    [[nodiscard]] Outcome<Reply> remove(std::string const& target);
    // The body of the reply as it came; it need not be JSON.
    [[nodiscard]] Outcome<std::string> bytes(std::string const& target);

    enum class Stream : std::uint8_t { go_on, stop };
    using OnEvent = std::function<Stream(SseEvent const&)>;
    // Reads the stream at `target` after event `after` until `on_event` says stop. A lost
    // connection is made again after 1, 2, 4, … s (5 tries), after the last id that was seen.
    [[nodiscard]] Outcome<void> events(std::string const& target, std::string after,
                                       OnEvent const& on_event);
    // A stream of its own at `target`, after event `after`; whether it can be had says its read().
    [[nodiscard]] EventStream open(std::string const& target, std::string const& after);
    // Until something has come for a stream, `fd` is readable (true) or `limit` is over.
    [[nodiscard]] bool wait(int fd, Duration limit);

private:
    friend class EventStream;
    struct Request;
    struct Transfers;

    [[nodiscard]] Outcome<std::pair<int, std::string>> exchange(Request const& request);
    [[nodiscard]] Outcome<Reply> ask(Request const& request);
    [[nodiscard]] port::HttpRequest encoded(Request const& request) const;
    // Until `on_event` says stop, or the server says that no stream will be there again.
    [[nodiscard]] Outcome<void> follow(EventStream stream, OnEvent const& on_event);
    // Waits for bytes and moves them. Errors: interrupted; with `watch_output` also unread.
    [[nodiscard]] Outcome<void> move(bool watch_output);

    Options options_;
    std::shared_ptr<Transfers> transfers_;
};

}  // namespace dormouse::cli
