#pragma once
// A blocking HTTP client for one server: JSON bodies, a bearer token, Server-Sent Events, over
// libcurl (io/http/http_transfers.h). Keeps connections open. One thread.

#include <dormouse/json.h>
#include <dormouse/time.h>

#include "base/sse.h"
#include "cli/client/address.h"
#include "cli/client/failure.h"
#include "cli/client/server_clock.h"

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

// Returns 128 random bits in hex for Idempotency-Key.
[[nodiscard]] std::string random_key();

// `yes` sends a new Idempotency-Key with the request, so that it can be repeated safely.
enum class Keyed : bool { no, yes };

struct Reply {
    int status = 0;
    Json body;  // null when there was no body
};

// A Server-Sent Events stream that is polled, for callers that wait for several things at once.
class EventStream {
public:
    EventStream(EventStream&&) noexcept;
    EventStream& operator=(EventStream&&) noexcept;
    ~EventStream();

    // Returns the events that have arrived, perhaps none; never blocks. Fails after the last event
    // when the stream has ended; the exit status (unreachable, refused) says whether it can be
    // opened again.
    [[nodiscard]] Outcome<std::vector<SseEvent>> read();
    // The position from which another stream continues after what read() has returned; empty: it
    // has none yet. A stream that begins "now" has one before its first event.
    [[nodiscard]] std::string const& position() const;

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
        std::string token;      // empty: no token is sent
        int interrupt_fd = -1;  // when readable, requests end with exit `interrupted`
        int output_fd =
            -1;  // where events() is printed; when it is closed, events() ends with exit `unread`
        std::vector<std::string> listed = {};     // what #1, #2, … mean (last_list.h)
        Duration time_limit{75'000};              // of one request; longer than any `wait`
        Duration silence_limit{45'000};           // of a stream; three heartbeats
        std::shared_ptr<ServerClock> clock = {};  // set by each reply; null: none
    };

    explicit Client(Options options);
    Client(Client&&) noexcept;
    ~Client();

    // 2xx returns a Reply, anything else a Failure. If the server has closed the kept connection,
    // the client opens a new one and repeats the request where that is safe.
    [[nodiscard]] Outcome<Reply> get(std::string const& target);
    [[nodiscard]] Outcome<Reply> post(std::string const& target, Json const& body,
                                      Keyed keyed = Keyed::no);
    // post() with the key of the caller, who may repeat it.
    [[nodiscard]] Outcome<Reply> post_as(std::string const& key, std::string const& target,
                                         Json const& body);
    // post() with a new key, repeated while the server is briefly unavailable.
    [[nodiscard]] Outcome<Reply> post_patiently(std::string const& target, Json const& body);
    // The same with the key of the caller.
    [[nodiscard]] Outcome<Reply> post_patiently_as(std::string const& key,
                                                   std::string const& target, Json const& body);
    // Sends bytes with these headers and without the token: a webhook, which is signed.
    using Headers = std::vector<std::pair<std::string, std::string>>;
    [[nodiscard]] Outcome<Reply> deliver(std::string const& target, Headers const& headers,
                                         std::string const& body);
    [[nodiscard]] Outcome<Reply> patch(std::string const& target, Json const& body);
    // `seq`: only if the session's newest event is still this one; 0: whatever it is.
    [[nodiscard]] Outcome<Reply> remove(std::string const& target, std::uint64_t seq = 0);
    // Returns true if the server is a restored copy that starts nothing until it is released.
    [[nodiscard]] bool server_holds();
    // Returns the body of the reply unchanged; it need not be JSON.
    [[nodiscard]] Outcome<std::string> bytes(std::string const& target);

    enum class Stream : std::uint8_t { go_on, stop };
    using OnEvent = std::function<Stream(SseEvent const&)>;
    // Reads the stream at `target` after event `after` until `on_event` returns stop. Reopens a
    // lost connection after 1, 2, 4, … s (5 tries), from the last id that was received.
    [[nodiscard]] Outcome<void> events(std::string const& target, std::string after,
                                       OnEvent const& on_event);
    // Opens another stream at `target`, after event `after`. Errors come from its read().
    [[nodiscard]] EventStream open(std::string const& target, std::string const& after);
    [[nodiscard]] std::vector<std::string> const& listed() const { return options_.listed; }
    // Waits until data has arrived for a stream, `fd` is readable (returns true) or `limit` is
    // over.
    [[nodiscard]] bool wait(int fd, Duration limit);

private:
    friend class EventStream;
    struct Request;
    struct Transfers;

    [[nodiscard]] Outcome<std::pair<int, std::string>> exchange(Request const& request);
    [[nodiscard]] Outcome<Reply> ask(Request const& request);
    [[nodiscard]] port::HttpRequest encoded(Request const& request) const;
    // Reads until `on_event` returns stop or the server says that the stream has ended for good.
    [[nodiscard]] Outcome<void> follow(EventStream stream, OnEvent const& on_event);
    // Waits for bytes and transfers them. Fails with interrupted; with `watch_output` also with
    // unread.
    [[nodiscard]] Outcome<void> move(bool watch_output);

    Options options_;
    std::shared_ptr<Transfers> transfers_;
};

}  // namespace dormouse::cli
