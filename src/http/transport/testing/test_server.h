#pragma once
// For tests: an HttpServer on its own thread, with a handler made of functions and a clock that
// moves only when a test advances it.

#include "base/test_wait.h"
#include "http/transport/testing/test_client.h"
#include "http/transport/transport.h"
#include "io/log.h"
#include "io/loop.h"

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace dormouse::http {

class HandClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override { return Time(monotonic()); }
    [[nodiscard]] Duration monotonic() const override { return Duration(ms_.load()); }
    void advance(Duration by) { ms_ += by.count(); }

private:
    std::atomic<Duration::rep> ms_ = 1'800'000'000'000;
};

// Answers every request with "METHOD path body" by default. Its functions run on the loop.
class TestHandler : public HttpHandler {
public:
    using Responds = std::shared_ptr<Responder>;
    std::function<void(HttpRequest, Responds)> on_request = [](HttpRequest request,
                                                               Responds responder) {
        responder->reply(
            {200, "text/plain", {}, request.method + " " + request.path + " " + request.body});
    };
    std::function<std::optional<HttpReply>(HttpRequest const&)> on_head = [](HttpRequest const&) {
        return std::optional<HttpReply>();
    };
    std::size_t limit = 1'000;
    bool known = false;

    void handle(HttpRequest request, Responds responder) override {
        on_request(std::move(request), std::move(responder));
    }
    std::size_t body_limit(std::string_view, std::string_view) const override { return limit; }
    std::optional<HttpReply> refuse(HttpRequest const& head) override { return on_head(head); }
    bool knows(HttpRequest const&) const override { return known; }
    HttpReply problem(Error const& error, HttpRequest const&) override {
        return {info(error.code).http,
                "application/problem+json",
                {},
                "{\"code\":\"" + std::string(info(error.code).text) + "\"}"};
    }
};

// Requests as bytes.
inline std::string get(std::string const& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

inline std::string post(std::string const& path, std::string const& body) {
    return "POST " + path +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

class TestServer {
public:
    explicit TestServer(HttpOptions options = {}) : server_(make(std::move(options))) {}
    ~TestServer() { end(); }

    TestHandler handler;  // set before the first request, or on the loop

    void start(int listener = -1) {
        auto const port = server_->listen(listener);
        if (port) port_ = *port;
        thread_ = std::thread([this] { loop_.run(); });
    }
    void end() {
        if (!thread_.joinable()) return;
        on_loop([this] { server_.reset(); });
        loop_.stop();
        thread_.join();
    }
    [[nodiscard]] TestClient client() const { return TestClient(port_); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] HttpServer& server() { return *server_; }
    [[nodiscard]] io::AsioLoop& loop() { return loop_; }

    // Runs `work` on the loop and waits for it.
    void on_loop(std::function<void()> work) {
        std::promise<void> done;
        loop_.post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    // Returns when the server has read what clients have sent so far.
    void settle() {
        // Accepting, reading and answering take a few turns of the loop.
        for (int i = 0; i < 10; ++i) on_loop([] {});
    }
    // The server reads what clients have sent so far before the time passes.
    void advance(Duration by) {
        settle();
        on_loop([this, by] {
            clock_.advance(by);
            loop_.run_due();
        });
    }
    // Evaluates `is_so` on the loop until it is true, for at most 20 seconds.
    [[nodiscard]] bool eventually(std::function<bool()> const& is_so) {
        bool yes = false;
        wait_while([&] {
            on_loop([&] { yes = is_so(); });
            return !yes;
        });
        return yes;
    }

private:
    std::unique_ptr<HttpServer> make(HttpOptions options) {
        options.port = 0;
        return std::make_unique<HttpServer>(loop_, clock_, std::move(options), handler, log_);
    }

    HandClock clock_;
    io::AsioLoop loop_{clock_};
    io::Log log_{{io::LogLevel::off, io::LogOptions::Form::text, {}}};
    std::unique_ptr<HttpServer> server_;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

}  // namespace dormouse::http
