#include "cli/client.h"

#include "base/text.h"
#include "cli/socket.h"
#include "json/json.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <poll.h>
#include <sys/random.h>
#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::cli {
namespace http = boost::beast::http;
using Parser = http::response_parser<http::string_body>;

namespace {

constexpr std::uint64_t reply_bytes_max = 256ULL * 1024 * 1024;
constexpr int reconnects_max = 5;

bool repeatable(std::string_view method, std::string_view target, std::string_view key) {
    return method != "POST" || !key.empty() || target.starts_with("/async-tool/");
}

// Status and body of 2xx.
Outcome<std::pair<int, std::string>> content_of(Parser& parser) {
    auto& message = parser.get();
    int const code = static_cast<int>(message.result_int());
    if (code < 200 || code > 299) return std::unexpected(failure_of_reply(code, message.body()));
    return std::pair(code, std::move(message.body()));
}

Outcome<Reply> reply_of(int code, std::string const& text) {
    if (text.empty()) return Reply{code, {}};
    auto body = json::check(text);
    if (!body) {
        return failure(status::failed, "the server sent what is not JSON: " + body.error().detail,
                       "Is this address a Dormouse server?");
    }
    return Reply{code, *std::move(body)};
}

// True when the stream cannot go on at all.
bool final_bye(SseEvent const& event) {
    if (event.event != "bye") return false;
    auto const data = json::check(event.data);
    auto const reason = data ? json::View(*data)["reason"].string_or("") : std::string();
    return reason == "deleted" || reason == "revoked";
}

Outcome<void> pause_before_retry(int tries, int interrupt_fd) {
    pollfd waiting{interrupt_fd, POLLIN, 0};
    if (::poll(&waiting, 1, 1000 << tries) > 0) return failure(status::interrupted, "interrupted");
    return {};
}

}  // namespace

struct Client::Request {
    std::string method;
    std::string target;
    std::string body = {};
    std::string key = {};  // Idempotency-Key
    bool stream = false;   // text/event-stream
    std::string last_event_id = {};
};

// One connection and what has been received on it and not yet read.
class Client::Connection {
public:
    explicit Connection(Socket socket) : socket_(std::move(socket)) {}

    Outcome<void> send(std::string_view bytes, Deadline deadline) {
        return socket_.send(bytes, deadline);
    }

    // One more piece into `parser`. Errors: unreachable, with heard() saying whether anything had
    // come at all.
    Outcome<void> read(Parser& parser, Deadline deadline) {
        auto const got = socket_.receive(chunk_, deadline);
        if (!got) return std::unexpected(got.error());
        heard_ = heard_ || *got > 0;
        boost::system::error_code error;
        if (*got == 0) {
            if (parser.got_some()) parser.put_eof(error);  // REQUIRED by put_eof
            if (error || !parser.is_done())
                return failure(status::unreachable, "the server closed the connection");
            return {};
        }
        unread_.append(chunk_.data(), *got);
        while (!unread_.empty() && !parser.is_done()) {
            auto const used = parser.put(boost::asio::buffer(unread_), error);
            unread_.erase(0, used);
            if (error == http::error::need_more || used == 0) return {};
            if (error) return failure(status::failed, "not an HTTP reply: " + error.message());
        }
        return {};
    }

    [[nodiscard]] int fd() const { return socket_.fd(); }
    [[nodiscard]] bool heard() const { return heard_; }
    void next_request() { heard_ = false; }

private:
    Socket socket_;
    std::array<char, 16 * 1024> chunk_{};
    std::string unread_;
    bool heard_ = false;
};

Client::Client(Options options) : options_(std::move(options)) {}
Client::Client(Client&&) noexcept = default;
Client::~Client() = default;

std::string Client::encoded(Request const& request) const {
    auto const& host = options_.address.host;
    bool const v6 = host.find(':') != std::string::npos;
    std::string out = request.method + " " + request.target + " HTTP/1.1\r\nHost: ";
    out += (v6 ? "[" + host + "]" : host) + ":" + options_.address.port + "\r\n";
    if (!options_.token.empty()) out += "Authorization: Bearer " + options_.token + "\r\n";
    out += request.stream ? "Accept: text/event-stream\r\n" : "Accept: application/json\r\n";
    if (!request.last_event_id.empty()) out += "Last-Event-ID: " + request.last_event_id + "\r\n";
    if (!request.key.empty()) out += "Idempotency-Key: \"" + request.key + "\"\r\n";
    if (request.method == "POST" || request.method == "PATCH") {
        out += "Content-Type: application/json\r\nContent-Length: " +
               std::to_string(request.body.size()) + "\r\n";
    }
    return out + "\r\n" + request.body;
}

Outcome<std::pair<int, std::string>> Client::exchange(Request const& request) {
    auto const bytes = encoded(request);
    for (bool first = true;; first = false) {
        auto const deadline = in(options_.time_limit);
        bool const reused = connection_ != nullptr;
        if (!reused) {
            auto socket = Socket::connect(options_.address, deadline, options_.interrupt_fd);
            if (!socket) return std::unexpected(socket.error());
            connection_ = std::make_unique<Connection>(*std::move(socket));
        }
        connection_->next_request();
        Parser parser;
        parser.eager(true);
        parser.body_limit(reply_bytes_max);
        auto step = connection_->send(bytes, deadline);
        while (step && !parser.is_done()) step = connection_->read(parser, deadline);
        if (step) {
            auto content = content_of(parser);
            if (!parser.keep_alive()) connection_.reset();
            return content;
        }
        bool const silent = !connection_->heard();
        connection_.reset();
        bool const again = first && reused && silent && step.error().exit == status::unreachable &&
                           repeatable(request.method, request.target, request.key);
        if (!again) return std::unexpected(step.error());
    }
}

Outcome<Reply> Client::ask(Request const& request) {
    auto const content = exchange(request);
    if (!content) return std::unexpected(content.error());
    return reply_of(content->first, content->second);
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
    return ask({.method = "POST",
                .target = target,
                .body = std::string(body.text()),
                .key = keyed == Keyed::yes ? random_key() : std::string()});
}

Outcome<Reply> Client::post_as(std::string const& key, std::string const& target,
                               Json const& body) {
    return ask({.method = "POST", .target = target, .body = std::string(body.text()), .key = key});
}

Outcome<Reply> Client::patch(std::string const& target, Json const& body) {
    return ask({.method = "PATCH", .target = target, .body = std::string(body.text())});
}

Outcome<Reply> Client::remove(std::string const& target) {
    return ask({.method = "DELETE", .target = target});
}

Outcome<void> Client::stream(Request const& request, SseParser& events, OnEvent const& on_event,
                             bool& stopped) {
    auto socket = Socket::connect(options_.address, in(options_.time_limit), options_.interrupt_fd);
    if (!socket) return std::unexpected(socket.error());
    socket->watch(options_.output_fd);
    Connection connection(*std::move(socket));
    if (auto const sent = connection.send(encoded(request), in(options_.time_limit)); !sent)
        return sent;
    Parser parser;
    parser.eager(true);
    parser.body_limit(boost::none);
    while (!parser.is_done()) {
        auto const step = connection.read(parser, in(options_.silence_limit));
        if (!step) return step;
        if (!parser.is_header_done() || parser.get().result_int() != 200) continue;
        for (auto const& event : events.feed(std::exchange(parser.get().body(), {}))) {
            if (on_event(event) == Stream::stop || final_bye(event)) {
                stopped = true;
                return {};
            }
        }
    }
    if (parser.get().result_int() == 200)
        return failure(status::unreachable, "the server ended the stream");
    auto const refused = content_of(parser);
    return std::unexpected(refused ? Failure{status::failed, "the server sent no stream"}
                                   : refused.error());
}

struct EventStream::State {
    State(Client::Connection opened, Duration limit)
        : connection(std::move(opened)), silence_limit(limit) {}

    Client::Connection connection;
    Duration silence_limit;
    Parser parser;
    SseParser events;
};

EventStream::EventStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventStream::EventStream(EventStream&&) noexcept = default;
EventStream::~EventStream() = default;

int EventStream::fd() const { return state_->connection.fd(); }

Outcome<std::vector<SseEvent>> EventStream::read() {
    auto& parser = state_->parser;
    if (auto const step = state_->connection.read(parser, in(state_->silence_limit)); !step)
        return std::unexpected(step.error());
    bool const streams = parser.is_header_done() && parser.get().result_int() == 200;
    if (streams) {
        auto events = state_->events.feed(std::exchange(parser.get().body(), {}));
        if (parser.is_done() && events.empty())
            return failure(status::unreachable, "the server ended the stream");
        return events;
    }
    if (!parser.is_done()) return std::vector<SseEvent>{};
    auto const refused = content_of(parser);
    return std::unexpected(refused ? Failure{status::failed, "the server sent no stream"}
                                   : refused.error());
}

Outcome<EventStream> Client::open(std::string const& target, std::string const& after) {
    auto const deadline = in(options_.time_limit);
    auto socket = Socket::connect(options_.address, deadline, options_.interrupt_fd);
    if (!socket) return std::unexpected(socket.error());
    auto state = std::make_unique<EventStream::State>(Connection(*std::move(socket)),
                                                      options_.silence_limit);
    state->parser.eager(true);
    state->parser.body_limit(boost::none);
    Request const request{
        .method = "GET", .target = target, .stream = true, .last_event_id = after};
    if (auto const sent = state->connection.send(encoded(request), deadline); !sent)
        return std::unexpected(sent.error());
    return EventStream(std::move(state));
}

Outcome<void> Client::events(std::string const& target, std::string after,
                             OnEvent const& on_event) {
    SseParser parser;
    int tries = 0;
    auto const counted = [&](SseEvent const& event) {
        tries = 0;
        if (!event.id.empty()) after = event.id;
        return on_event(event);
    };
    for (;;) {
        bool stopped = false;
        parser.restart();
        auto const ended =
            stream({.method = "GET", .target = target, .stream = true, .last_event_id = after},
                   parser, counted, stopped);
        if (stopped) return {};
        auto const exit = ended ? status::done : ended.error().exit;
        if (exit != status::unreachable && exit != status::refused) return ended;
        if (tries == reconnects_max) return ended;
        if (auto const waited = pause_before_retry(tries++, options_.interrupt_fd); !waited)
            return waited;
    }
}

Outcome<Address> parse_url(std::string_view url) {
    auto const wrong = [&] {
        // It may hold a password before an @.
        bool const secret = url.find('@') != std::string_view::npos;
        auto const shown = secret ? "a name and password have no place in it" : std::string(url);
        return failure(status::usage, "not a server address: " + shown,
                       "Write it as http://HOST:PORT or https://HOST:PORT.");
    };
    bool const tls = url.starts_with("https://");
    if (!tls && !url.starts_with("http://")) return wrong();
    auto rest = url.substr(url.find("//") + 2);
    if (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.empty() || rest.find_first_of("/?#@ \r\n") != std::string_view::npos) return wrong();
    std::string_view host = rest;
    std::string_view after_host;
    if (rest.front() == '[') {
        auto const end = rest.find(']');
        if (end == std::string_view::npos) return wrong();
        host = rest.substr(1, end - 1);
        after_host = rest.substr(end + 1);
    } else if (auto const colon = rest.find(':'); colon != std::string_view::npos) {
        host = rest.substr(0, colon);
        after_host = rest.substr(colon);
    }
    if (host.empty() || (!after_host.empty() && after_host.front() != ':')) return wrong();
    if (after_host.empty()) return Address{std::string(host), tls ? "443" : "80", tls};
    auto const port = parse_number(after_host.substr(1));
    if (!port || *port == 0 || *port > 65535) return wrong();
    return Address{std::string(host), std::to_string(*port), tls};
}

std::string encode(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += {'%', digits[byte >> 4], digits[byte & 15]};
        }
    }
    return out;
}

std::string random_key() {
    std::array<std::uint8_t, 16> bytes{};
    // Up to 256 bytes come whole or not at all, and only before the kernel has seeded itself would
    // it wait.
    while (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {}
    return hex(bytes);
}

}  // namespace dormouse::cli
