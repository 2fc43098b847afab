#include "runtime/engine.h"

#include "base/text.h"
#include "base/url.h"
#include "http/access/token_file.h"
#include "http/resources/api.h"
#include "http/resources/operations/metrics.h"
#include "http/transport/transport.h"
#include "io/http_client.h"
#include "io/log.h"
#include "io/thread_workers.h"
#include "io/tool_threads.h"
#include "port/process.h"
#include "webhook/pump.h"

#include <algorithm>

// The HTTP server on the loop of a program's own runtime.
namespace dormouse {

namespace {

constexpr Duration shutdown_limit{4'000};
constexpr std::size_t token_bytes_min = 16;

// What was said once it has been looked at.
struct Checked {
    ListenAddress address;
    std::string public_url;
    std::vector<server::Token> tokens;
    std::string capability_key;
};

Result<std::vector<server::Token>> tokens_of(ServeSettings const& settings,
                                             std::string const& store, port::Entropy& entropy) {
    if (settings.token.empty() && store != ":memory:") return server::load_tokens(store, entropy);
    bool const visible =
        std::ranges::all_of(settings.token, [](unsigned char c) { return c > 0x20 && c < 0x7F; });
    if (settings.token.size() >= token_bytes_min && visible)
        return std::vector<server::Token>{{"program", settings.token}};
    std::string const why = settings.token.empty() ? "; a store in memory has no token file" : "";
    return fail(Code::bad_value,
                "ServeSettings::token must be at least 16 bytes of visible ASCII" + why);
}

// Blocks: it reads files, and makes those that are not there.
Result<Checked> checked(ServeSettings const& settings, runtime::Inside const& inside) {
    Checked out;
    auto address = parse_listen_address(settings.listen);
    if (!address)
        return fail(Code::bad_value, "listen '" + settings.listen +
                                         "' must be ADDRESS:PORT, for example 127.0.0.1:3676");
    out.address = *std::move(address);
    if (!out.address.loopback && !settings.insecure)
        return fail(Code::forbidden, settings.listen +
                                         " is reachable from other machines without TLS; listen on "
                                         "a loopback address behind a proxy, or say insecure");
    out.public_url = settings.public_url;
    if (out.public_url.ends_with('/')) out.public_url.pop_back();
    if (!out.public_url.empty()) {
        if (auto const why = wrong_url(out.public_url); !why.empty())
            return fail(Code::bad_value, "public_url " + std::string(why));
    }
    auto tokens = tokens_of(settings, inside.store, inside.entropy);
    if (!tokens) return std::unexpected(std::move(tokens.error()));
    out.tokens = *std::move(tokens);
    if (inside.store == ":memory:") {
        out.capability_key = base64url(inside.entropy.random());
        return out;
    }
    auto key = server::load_capability_key(inside.store, inside.entropy);
    if (!key) return std::unexpected(std::move(key.error()));
    out.capability_key = *std::move(key);
    return out;
}

server::GateOptions gate_options(Checked const& checked) {
    server::GateOptions out;
    out.tokens = checked.tokens;
    out.capability_key = checked.capability_key;
    std::string const& url = checked.public_url;
    out.public_url = url;
    if (auto const own = parse_url(url)) {
        out.allowed_origins.push_back(own->origin());
        out.allowed_hosts.push_back(own->authority());
    }
    return out;
}

io::LogOptions log_options(ServeSettings const& settings) {
    io::LogOptions out;
    out.form = io::LogOptions::Form::json;
    if (settings.log) {
        out.to = settings.log;
    } else {
        out.level = io::LogLevel::off;
    }
    return out;
}

// Whoever embeds us has notices called by itself: programs are run by the server alone, which is
// started again as their guard (io/guard.h).
class NoProcesses final : public port::Processes {
public:
    explicit NoProcesses(port::Loop& loop) : loop_(loop) {}
    Number start(port::ProcessSpec /*spec*/, port::Fn<void(port::ProcessEnd)> done) override {
        loop_.post([done = std::move(done)]() mutable {
            port::ProcessEnd end;
            end.how = port::ProcessEnd::How::not_started;
            end.error = "a runtime that is embedded runs no programs";
            done(std::move(end));
        });
        return 0;
    }
    void stop(Number /*process*/) override {}

private:
    port::Loop& loop_;
};

class Serving final : public runtime::Attached {
public:
    Serving(runtime::Inside const& inside, Checked const& checked, ServeSettings const& settings)
        : address_(checked.address),
          url_(checked.public_url),
          log_(log_options(settings)),
          metrics_(inside.clock.now()),
          gate_(gate_options(checked), inside.clock),
          api_({.loop = inside.loop,
                .journal = inside.journal,
                .catalogue = inside.catalogue,
                .runner = inside.runner,
                .gate = gate_,
                .metrics = metrics_,
                .log = log_,
                .entropy = inside.entropy,
                .workers = &inside.bodies}),
          processes_(inside.loop),
          webhooks_(inside.loop, {.active_max = webhook::Pump::at_once}),
          count_by_(inside.count_by),
          pump_({inside.loop, inside.clock, inside.entropy, inside.journal, webhooks_, processes_},
                pump_options(settings)),
          http_(inside.loop, {.address = checked.address.host, .port = checked.address.port}, api_,
                log_) {
        count_by_(&metrics_);
        metrics_.models = inside.models;
        metrics_.connections = [this] {
            auto const counts = http_.counts();
            return server::Metrics::Connections{counts.connections, counts.streams, counts.refused};
        };
    }

    ~Serving() override { count_by_(nullptr); }
    Serving(Serving const&) = delete;
    Serving& operator=(Serving const&) = delete;

    void admit(port::TokenRow const& token) { gate_.tokens().add(token); }

    // The address that it listens on.
    [[nodiscard]] Result<std::string> listen() {
        auto const port = http_.listen();
        if (!port) return std::unexpected(port.error());
        gate_.set_port(*port);
        bool const v6 = address_.host.contains(':');
        std::string at = "http://" + (v6 ? "[" + address_.host + "]" : address_.host) + ":" +
                         std::to_string(*port);
        if (url_.empty()) url_ = at;
        pump_.start();
        return at;
    }

    void stop_accepting() override {
        pump_.stop();
        http_.stop_accepting();
        http_.close_streams("retry: 1000\nevent: bye\ndata: {\"reason\":\"draining\"}\n\n");
    }
    void end(port::Fn<void()> done) override { http_.shutdown(shutdown_limit, std::move(done)); }
    [[nodiscard]] std::string callback_url(PendingId const& pending) const override {
        return url_ + "/c/" + gate_.capabilities().token(pending);
    }
    [[nodiscard]] std::vector<port::PostRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) const override {
        return webhook::posts_of({}, state, records, changes);
    }

    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) override {
        api_.delta(session, ask, delta);
    }
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        api_.appended(lane, records);
    }
    void posted() override { pump_.wake(); }
    void delivered(session::PostKey const& key, Result<session::Answer> const& answer) override {
        api_.delivered(key, answer);
    }
    void swept(std::size_t /*sessions*/) override {}
    void failed() override {}

private:
    webhook::Pump::Options pump_options(ServeSettings const& settings) {
        webhook::Pump::Options out;
        out.allowed = settings.webhook_hosts;
        out.failed = [this](port::PostRow const& row, std::string const& why, bool last) {
            log_.warn(last ? "a webhook is not tried any more" : "a webhook was not taken",
                      {{"delivery", webhook::delivery_text(row.key)}, {"why", why}});
        };
        return out;
    }

    ListenAddress address_;
    std::string url_;
    io::Log log_;
    server::Metrics metrics_;
    server::Gate gate_;
    server::Api api_;
    NoProcesses processes_;
    io::CurlHttpClient webhooks_;  // receivers may hang, and nobody else waits behind them
    std::function<void(port::Meter*)> const count_by_;
    webhook::Pump pump_;
    server::HttpServer http_;
};

}  // namespace

Result<std::string> Runtime::serve(ServeSettings settings) {
    auto const inside = engine_->inside();
    auto found = checked(settings, inside);
    if (!found) return std::unexpected(std::move(found.error()));
    return engine_->block<std::string>(
        [e = engine_.get(), inside, checked = *std::move(found),
         settings = std::move(settings)](runtime::Reply<std::string> reply) {
            // Tokens that were made over HTTP come in too.
            auto tokens = [](port::AccessStore& store) { return store.tokens(); };
            port::ask(
                inside.journal, std::move(tokens),
                [e, inside, checked, settings,
                 reply = std::move(reply)](Result<std::vector<port::TokenRow>> stored) mutable {
                    if (!stored) return reply(std::unexpected(std::move(stored.error())));
                    if (e->has_attached())
                        return reply(dormouse::fail(Code::conflict, "this runtime serves already"));
                    auto serving = std::make_unique<Serving>(inside, checked, settings);
                    for (port::TokenRow const& token : *stored) serving->admit(token);
                    auto address = serving->listen();
                    if (address) e->attach(std::move(serving));
                    reply(std::move(address));
                });
        });
}

}  // namespace dormouse
