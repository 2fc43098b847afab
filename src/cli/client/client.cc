#include "cli/client/client.h"

#include "base/text/text.h"
#include "io/http/http_transfers.h"
#include "json/json.h"
#include "port/http.h"

#include <poll.h>
#include <sys/random.h>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr std::size_t reply_bytes_max = 256ULL * 1024 * 1024;
constexpr int reconnects_max = 5;
constexpr int posts_max = 5;
constexpr Duration wait_max{3'600'000};

// The bytes that have arrived for one request.
struct Arrival {
    int status = 0;  // 0: no head yet
    std::string body = {};
    bool ended = false;
    std::optional<port::HttpFailure> failure = {};
};

bool repeatable(std::string_view method, std::string_view target, std::string_view key) {
    return method != "POST" || !key.empty() || target.starts_with("/async-tool/");
}

Failure tls_failure(std::string const& host, std::string why) {
    if (why.contains("wrong version number") || why.contains("packet length too long"))
        return {status::unreachable, "no TLS with " + host + ": that port uses plain http",
                "Write http:// instead of https://, or ask for the server's https address."};
    if (why.contains("target host name")) why = "hostname mismatch: " + why;
    return {status::unreachable, "no TLS with " + host + ": " + why,
            "A private authority is named by $SSL_CERT_FILE."};
}

// Converts the reason why no whole reply arrived.
Failure failure_of(port::HttpFailure const& trouble, Address const& server) {
    using enum port::HttpFailure::Kind;
    auto const& why = trouble.reason;
    switch (trouble.kind) {
        case no_route: break;
        case tls: return tls_failure(server.host, why);
        case timed_out: return {status::unreachable, "the server did not answer in time"};
        case lost: return {status::unreachable, "the connection to the server was lost: " + why};
        default: return {status::failed, "no reply of a server: " + why};
    }
    if (why.starts_with("Could not resolve"))
        return {status::unreachable, "cannot find the server " + server.host + ": " + why,
                "Check --server or $DORMOUSE_URL."};
    auto const last = why.rfind(": ");
    return {status::unreachable,
            "no server at " + server.host + ":" + server.port + " (" +
                why.substr(last == std::string::npos ? 0 : last + 2) + ")",
            "Start one with: dormouse serve. Or name it: --server URL, $DORMOUSE_URL."};
}

// Returns status and body of a 2xx reply.
Outcome<std::pair<int, std::string>> content_of(Arrival& arrival, Address const& server) {
    if (arrival.failure) return std::unexpected(failure_of(*arrival.failure, server));
    if (arrival.status < 200 || arrival.status > 299)
        return std::unexpected(failure_of_reply(arrival.status, arrival.body));
    return std::pair(arrival.status, std::move(arrival.body));
}

Outcome<Reply> reply_of(int code, std::string const& text) {
    if (text.empty()) return Reply{code, {}};
    auto body = json::check(text);
    if (!body) {
        return failure(status::failed, "the response is not JSON: " + body.error().detail,
                       "Is this address a Dormouse server?");
    }
    return Reply{code, *std::move(body)};
}

// Returns true when the stream cannot be continued.
bool final_bye(SseEvent const& event) {
    if (event.name != "bye") return false;
    auto const data = json::check(event.data);
    auto const reason = data ? json::View(*data)["reason"].string_or("") : std::string();
    return reason == "deleted" || reason == "revoked";
}

Outcome<void> pause_before_retry(int tries, int interrupt_fd) {
    pollfd waiting{interrupt_fd, POLLIN, 0};
    if (::poll(&waiting, 1, 1000 << tries) > 0) return failure(status::interrupted, "interrupted");
    return {};
}

// Certificate authorities come from the variables that OpenSSL's programs read. Requests go to the
// server directly, never through a proxy.
io::HttpClientOptions transfer_options() {
    auto const variable = [](char const* name) {
        char const* const value = std::getenv(name);
        return value == nullptr ? std::string() : std::string(value);
    };
    return {.ca_file = variable("SSL_CERT_FILE"),
            .ca_folder = variable("SSL_CERT_DIR"),
            .proxies = false,
            .own_thread = false};
}

}  // namespace

struct Client::Request {
    std::string method;
    std::string target;
    std::string body = {};
    std::string key = {};  // Idempotency-Key
    bool stream = false;   // text/event-stream
    std::string last_event_id = {};
    std::string if_match = {};
    Headers headers = {};  // not empty: in place of token and content type
};

// The transfers of a client and of its streams.
struct Client::Transfers {
    explicit Transfers(std::shared_ptr<ServerClock> of_server) : clock(std::move(of_server)) {}

    io::HttpTransfers http{transfer_options()};
    std::shared_ptr<ServerClock> clock;  // null: none
    port::HttpId last = 0;
    bool came = false;  // data has arrived since wait() last checked

    port::HttpId start(port::HttpRequest request, std::shared_ptr<Arrival> const& arrival) {
        http.start(++last, std::move(request),
                   {[arrival, this](port::HttpHead const& head) {
                        arrival->status = head.status;
                        if (auto const date = head.header("date"); clock && date) clock->set(*date);
                    },
                    [arrival, this](std::string_view chunk) {
                        arrival->body += chunk;
                        came = true;
                    },
                    [arrival, this](std::optional<port::HttpFailure> why) {
                        arrival->failure = std::move(why);
                        arrival->ended = came = true;
                    }});
        return last;
    }
};

struct EventStream::State {
    State(std::shared_ptr<Client::Transfers> by, Address to)
        : transfers(std::move(by)), server(std::move(to)) {}
    ~State() { transfers->http.cancel(id); }
    State(State const&) = delete;
    State& operator=(State const&) = delete;

    std::shared_ptr<Client::Transfers> transfers;
    Address server;
    std::shared_ptr<Arrival> arrival = std::make_shared<Arrival>();
    port::HttpId id = 0;
    SseParser parser;
};

EventStream::EventStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventStream::EventStream(EventStream&&) noexcept = default;
EventStream& EventStream::operator=(EventStream&&) noexcept = default;
EventStream::~EventStream() = default;

std::string const& EventStream::position() const { return state_->parser.last_id(); }

Outcome<std::vector<SseEvent>> EventStream::read() {
    auto& arrival = *state_->arrival;
    std::vector<SseEvent> events;
    if (arrival.status == 200) {
        (void)state_->parser.feed(std::exchange(arrival.body, {}),
                                  [&](SseEvent const& event) { events.push_back(event); });
    }
    if (!events.empty() || !arrival.ended) return events;
    if (arrival.status == 200 && !arrival.failure)
        return failure(status::unreachable, "the server ended the stream");
    auto const refused = content_of(arrival, state_->server);
    return std::unexpected(refused ? Failure{status::failed, "the server sent no stream"}
                                   : refused.error());
}

Client::Client(Options options)
    : options_(std::move(options)), transfers_(std::make_shared<Transfers>(options_.clock)) {}
Client::Client(Client&&) noexcept = default;
Client::~Client() = default;

port::HttpRequest Client::encoded(Request const& request) const {
    port::HttpRequest out{.method = request.method,
                          .url = options_.address.url() + request.target,
                          .body = request.body,
                          .connect_limit = Duration(0),
                          .idle_limit = Duration(0),
                          .total_limit = options_.time_limit,
                          .response_max = reply_bytes_max};
    auto const add = [&out](std::string name, std::string value) {
        if (!value.empty()) out.headers.push_back({std::move(name), std::move(value)});
    };
    add("Accept", request.stream ? "text/event-stream" : "application/json");
    for (auto const& [name, value] : request.headers) add(name, value);
    if (request.headers.empty()) {
        if (!options_.token.empty()) add("Authorization", "Bearer " + options_.token);
        if (!request.body.empty()) add("Content-Type", "application/json");
    }
    if (!request.key.empty()) add("Idempotency-Key", '"' + request.key + '"');
    add("Last-Event-ID", request.last_event_id);
    add("If-Match", request.if_match);
    out.send_once = !repeatable(request.method, request.target, request.key);
    if (!request.stream) return out;
    out.connect_limit = std::exchange(out.total_limit, Duration(0));
    out.idle_limit = options_.silence_limit;
    out.response_max = std::numeric_limits<std::size_t>::max();
    return out;
}

Outcome<void> Client::move(bool watch_output) {
    std::array<pollfd, 2> others{pollfd{options_.interrupt_fd, POLLIN, 0},
                                 pollfd{watch_output ? options_.output_fd : -1, 0, 0}};
    transfers_->http.turn(wait_max, others);
    if (others[0].revents != 0) return failure(status::interrupted, "interrupted");
    if ((others[1].revents & (POLLERR | POLLHUP)) != 0) return failure(status::unread, "");
    if ((others[1].revents & POLLNVAL) != 0) options_.output_fd = -1;
    return {};
}

bool Client::wait(int fd, Duration limit) {
    pollfd other{fd, POLLIN, 0};
    bool const at_once = std::exchange(transfers_->came, false);
    transfers_->http.turn(at_once ? Duration(0) : limit, {&other, 1});
    return other.revents != 0;
}

Outcome<std::pair<int, std::string>> Client::exchange(Request const& request) {
    auto const arrival = std::make_shared<Arrival>();
    auto const id = transfers_->start(encoded(request), arrival);
    while (!arrival->ended) {
        if (auto const moved = move(false); !moved) {
            transfers_->http.cancel(id);
            return std::unexpected(moved.error());
        }
    }
    return content_of(*arrival, options_.address);
}

Outcome<Reply> Client::ask(Request const& request) {
    auto const content = exchange(request);
    if (!content) return std::unexpected(content.error());
    return reply_of(content->first, content->second);
}

bool Client::server_holds() {
    auto const ready = get("/readyz");
    return ready && json::View(ready->body)["held"].boolean_or(false);
}

Outcome<std::string> Client::bytes(std::string const& target) {
    auto content = exchange({.method = "GET", .target = target});
    if (!content) return std::unexpected(std::move(content.error()));
    return std::move(content->second);
}

Outcome<Reply> Client::get(std::string const& target) {
    return ask({.method = "GET", .target = target});
}

Outcome<Reply> Client::post(std::string const& target, Json const& body, Keyed keyed) {
    return post_as(keyed == Keyed::yes ? random_key() : std::string(), target, body);
}

Outcome<Reply> Client::post_as(std::string const& key, std::string const& target,
                               Json const& body) {
    return ask({.method = "POST", .target = target, .body = std::string(body.text()), .key = key});
}

Outcome<Reply> Client::post_patiently(std::string const& target, Json const& body) {
    return post_patiently_as(random_key(), target, body);
}

Outcome<Reply> Client::post_patiently_as(std::string const& key, std::string const& target,
                                         Json const& body) {
    for (int tries = 1;; ++tries) {
        auto reply = post_as(key, target, body);
        bool const again = !reply && tries < posts_max && is_away(reply.error());
        if (!again) return reply;
        std::this_thread::sleep_for(std::chrono::milliseconds(500 << tries));
    }
}

Outcome<Reply> Client::deliver(std::string const& target, Headers const& headers,
                               std::string const& body) {
    return ask({.method = "POST", .target = target, .body = body, .headers = headers});
}

Outcome<Reply> Client::patch(std::string const& target, Json const& body) {
    return ask({.method = "PATCH", .target = target, .body = std::string(body.text())});
}

Outcome<Reply> Client::remove(std::string const& target, std::uint64_t seq) {
    return ask({.method = "DELETE",
                .target = target,
                .if_match = seq > 0 ? '"' + std::to_string(seq) + '"' : std::string()});
}

EventStream Client::open(std::string const& target, std::string const& after) {
    auto state = std::make_unique<EventStream::State>(transfers_, options_.address);
    Request const request{
        .method = "GET", .target = target, .stream = true, .last_event_id = after};
    state->id = transfers_->start(encoded(request), state->arrival);
    return EventStream(std::move(state));
}

Outcome<void> Client::follow(EventStream stream, OnEvent const& on_event) {
    for (;;) {
        auto const events = stream.read();
        if (!events) return std::unexpected(events.error());
        for (auto const& event : *events) {
            if (on_event(event) == Stream::stop || final_bye(event)) return {};
        }
        if (!events->empty()) continue;
        if (auto const moved = move(true); !moved) return moved;
    }
}

Outcome<void> Client::events(std::string const& target, std::string after,
                             OnEvent const& on_event) {
    int tries = 0;
    auto const counted = [&](SseEvent const& event) {
        tries = 0;
        if (!event.id.empty()) after = event.id;
        return on_event(event);
    };
    for (;;) {
        auto const ended = follow(open(target, after), counted);
        if (ended || !is_away(ended.error()) || tries == reconnects_max) return ended;
        if (auto const waited = pause_before_retry(tries++, options_.interrupt_fd); !waited)
            return waited;
    }
}

std::string random_key() {
    std::array<std::uint8_t, 16> bytes{};
    // Requests of up to 256 bytes are filled completely or fail; they block only before the kernel
    // has seeded its generator.
    while (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {}
    return hex(bytes);
}

}  // namespace dormouse::cli
