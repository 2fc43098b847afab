#pragma once
// HTTP on a node: who may call, the API, webhooks out, metrics and the listeners. Both
// Runtime::serve and `dormouse serve` have one, made from settings that they have checked.

#include "base/url.h"
#include "http/access/gate.h"
#include "http/resources/api.h"
#include "http/resources/operations/metrics.h"
#include "http/resources/operations/metrics_face.h"
#include "http/transport/transport.h"
#include "io/http_client.h"
#include "io/log.h"
#include "io/memory_reserve.h"
#include "port/process.h"
#include "runtime/node.h"
#include "serve/memory_gate.h"
#include "webhook/pump.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::serve {

struct ServingSettings {
    server::HttpOptions http = {};  // what `tls` names outlives the serving
    // The address of its gate is always allowed, and links begin with it; empty: the address that
    // it listens on.
    server::GateOptions gate = {};
    std::vector<port::TokenRow> tokens = {};  // of the store
    io::LogOptions log = {};
    webhook::Pump::Options webhooks = {};  // without `failed`
    std::vector<webhook::Source> sources = {};
    server::Ages ages = {};
    runner::Keep keep = {};
    // Runs the programs that notify people; null: there are none. Outlives the serving.
    port::Processes* processes = nullptr;
    io::MemoryReserve* reserve = nullptr;  // null: none. Outlives the serving
    // On the loop: a sync failed, and nothing is written any more. Empty: nothing is done.
    std::function<void()> failed = {};
};

// What signs callback URLs. Blocks. A store in memory gets a new one each time.
[[nodiscard]] Result<std::string> capability_key(std::string const& store, port::Entropy& entropy);

// Programs are run by the server alone, which is started again as their guard (io/guard.h).
class NoProcesses final : public port::Processes {
public:
    explicit NoProcesses(port::Loop& loop) : loop_(loop) {}
    Number start(port::ProcessSpec spec, port::Fn<void(port::ProcessEnd)> done) override;
    void stop(Number /*process*/) override {}

private:
    port::Loop& loop_;
};

class Serving final : public runtime::Attached {
public:
    // `node` outlives this. On the loop, or before it runs.
    Serving(runtime::Node& node, ServingSettings settings);
    ~Serving() override;
    Serving(Serving const&) = delete;
    Serving& operator=(Serving const&) = delete;

    // The address that it listens on: "http://127.0.0.1:3676".
    [[nodiscard]] Result<std::string> listen();
    // GET /metrics without a token. The port.
    [[nodiscard]] Result<std::uint16_t> listen_for_metrics(ListenAddress const& address);
    // Begins to send webhooks and to offer deliveries that wait.
    void start();

    void stop_accepting() override;
    void end(port::Fn<void()> done) override { http_.shutdown(shutdown_limit, std::move(done)); }
    // At once: requests under way have so long.
    void end_within(Duration limit, port::Fn<void()> done);
    [[nodiscard]] std::string callback_url(PendingId const& pending) const override {
        return url() + "/c/" + gate_.capabilities().token(pending);
    }
    [[nodiscard]] std::vector<port::PostRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) const override {
        return webhook::posts_of(outgoing_, state, records, changes);
    }

    // What links begin with: its public address, or the one that it listens on.
    [[nodiscard]] std::string const& url() const {
        return public_url_.empty() ? address_url_ : public_url_;
    }
    [[nodiscard]] std::string const& address_url() const { return address_url_; }
    [[nodiscard]] io::Log& log() { return log_; }
    [[nodiscard]] server::Gate& gate() { return gate_; }
    [[nodiscard]] server::Metrics& metrics() { return metrics_; }
    [[nodiscard]] port::Mailer& mail() { return api_.mail(); }

private:
    static constexpr Duration shutdown_limit{4'000};

    [[nodiscard]] webhook::Pump::Options pump_options(webhook::Pump::Options options);
    [[nodiscard]] server::Services services(ServingSettings const& settings);

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
    void swept(std::size_t sessions) override {
        log_.info("completed sessions deleted", {{"sessions", std::to_string(sessions)}});
    }
    void failed() override {
        if (failed_) failed_();
    }

    runtime::Node& node_;
    server::HttpOptions const options_;
    std::string const public_url_;
    std::string address_url_;  // known once it listens
    std::function<void()> const failed_;
    webhook::Outgoing const outgoing_;
    io::Log log_;
    server::Metrics metrics_;
    server::Gate gate_;
    server::Api api_;
    NoProcesses no_processes_;
    io::CurlHttpClient client_;  // receivers may hang, and nobody else waits behind them
    webhook::Pump pump_;
    MemoryGate memory_gate_;
    server::HttpServer http_;
    server::MetricsFace metrics_face_;
    std::unique_ptr<server::HttpServer> metrics_http_;  // null: none
};

}  // namespace dormouse::serve
