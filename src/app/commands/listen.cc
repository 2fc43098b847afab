// An HTTP server for `dormouse listen`: passes each POST to one secret path of 127.0.0.1 on. The
// path keeps other users and pages of browsers out: what arrives is signed.
#include "app/commands/programs.h"
#include "app/start/complain.h"

#include "http/transport/transport.h"
#include "io/clock.h"
#include "io/log.h"
#include "io/loop.h"
#include "io/process/signals.h"
#include "json/json.h"

namespace dormouse::app {

namespace {

constexpr std::size_t body_max = std::size_t{1} << 20;  // that of the route
constexpr int done = 0;

http::HttpReply problem_reply(int status, std::string_view title) {
    json::Writer out;
    out.begin_object().member("status", status).member("title", title).end_object();
    return {.status = status, .content_type = "application/problem+json", .body = out.take()};
}

// One request at a time: forwarding blocks.
class Forwarder final : public http::HttpHandler {
public:
    explicit Forwarder(cli::ListenOptions const& options) : options_(options) {}

    void handle(http::HttpRequest request, std::shared_ptr<http::Responder> responder) override {
        auto answer = options_.take(request.body);
        responder->reply({.status = answer.status, .body = std::move(answer.body)});
    }
    [[nodiscard]] std::size_t body_limit(std::string_view /*method*/,
                                         std::string_view /*path*/) const override {
        return body_max;
    }
    [[nodiscard]] std::optional<http::HttpReply> refuse(http::HttpRequest const& head) override {
        if (head.path != options_.path)
            return problem_reply(404, "dormouse listen takes one path only");
        if (head.method != "POST") return problem_reply(405, "dormouse listen takes POST only");
        return std::nullopt;
    }
    [[nodiscard]] bool knows(http::HttpRequest const& head) const override {
        return head.path == options_.path;
    }
    [[nodiscard]] http::HttpReply problem(Error const& error,
                                          http::HttpRequest const& /*head*/) override {
        return problem_reply(info(error.code).http, error.detail);
    }

private:
    cli::ListenOptions const& options_;
};

}  // namespace

int listen(cli::ListenOptions const& options) {
    io::ignore_sigpipe();
    io::SystemClock const clock;
    io::AsioLoop loop(clock);
    io::Log log({.level = io::LogLevel::off});
    Forwarder forwarder(options);
    http::HttpServer server(loop, clock, {.port = options.port}, forwarder, log);
    auto const port = server.listen();
    if (!port) return complain({"listen", options.json}, port.error());
    io::Signals const signals(loop, [&loop](int) { loop.stop(); });
    options.ready("http://127.0.0.1:" + std::to_string(*port) + options.path);
    loop.run();
    return done;
}

}  // namespace dormouse::app
