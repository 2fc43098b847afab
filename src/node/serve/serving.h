#pragma once
// HTTP on a node: authentication, the API, outgoing webhooks, metrics and the listeners. Used by
// Runtime::serve and by `dormouse serve`, which check the settings first.

#include "base/url.h"
#include "http/access/gate.h"
#include "http/access/token_file.h"
#include "http/resources/api.h"
#include "http/resources/operations/metrics/metrics.h"
#include "http/resources/operations/metrics/metrics_face.h"
#include "http/transport/transport.h"
#include "io/http/http_client.h"
#include "io/log.h"
#include "io/memory_reserve.h"
#include "port/archiving.h"
#include "port/copies.h"
#include "port/exports.h"
#include "port/index.h"
#include "port/measure.h"
#include "port/process.h"
#include "runtime/node.h"
#include "serve/memory_gate.h"
#include "webhook/pump.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dormouse::serve {

struct ServingSettings {
    http::HttpOptions http = {};  // what `tls` names outlives the serving
    // The gate always allows `public_url`, and links begin with it; empty: the address that it
    // listens on.
    http::GateOptions gate = {};
    std::vector<port::TokenRow> tokens = {};  // from the store
    io::LogOptions log = {};
    std::vector<port::DeviceRow> devices = {};     // from the store
    webhook::Pump::Options webhooks = {};          // `failed` is not set
    std::optional<webhook::PushSender> push = {};  // nullopt: nothing is sent to devices
    std::vector<webhook::Source> sources = {};
    http::Ages ages = {};
    std::uint32_t waiting_calls = 10'000;  // http::Services::waiting_calls
    runner::Keep keep = {};
    http::WebFiles web_files = {};  // none: no web page
    http::People people = {};
    // Null: no sign-in with a provider. Client and clock are set here.
    std::shared_ptr<http::OidcSettings> oidc = {};
    port::ForeignSignIns* foreign_sign_ins = nullptr;  // null: none. Outlives the serving
    // The facts about the server that the API reports; its newest start is added if there is none.
    http::ServerFacts facts = {};
    // Runs the programs that notify people; null: none. Outlives the serving.
    port::Processes* processes = nullptr;
    io::MemoryReserve* reserve = nullptr;  // null: none. Outlives the serving
    // The indexes outside of the store. May be empty.
    std::function<std::vector<port::IndexStatus>()> indexes = {};
    // The status of the export of traces; nullopt: there is none. May be empty.
    std::function<std::optional<port::ExportStatus>()> exports = {};
    // The status of the continuous copy; nullopt: there is none. May be empty.
    std::function<std::optional<port::CopyStatus>()> copy = {};
    // The status of archiving; nullopt: nothing is archived. May be empty.
    std::function<std::optional<port::ArchiveStatus>()> archive = {};
    // Asks for an attempt to copy at once (CopyStatus::asked). Empty: nothing is copied.
    std::function<Result<std::uint64_t>()> copy_now = {};
    // Called on the loop with what this process has appended; the lane has the state after it. May
    // be empty.
    std::function<void(runner::Lane const&, std::vector<wire::RecordPtr> const&)> recorded = {};
    // Called on the loop when HTTP has ended; calls `then`. May be empty.
    std::function<void(port::Fn<void()> then)> ended = {};
    // Called on the loop after an append, also of another process. May be empty.
    std::function<void()> appended = {};
    // Called on the loop when an append has settled a pause, also of another process. May be empty.
    std::function<void(session::Receipt const&)> settled = {};
    // The same when another process has deleted a session, in which pauses may have been open.
    std::function<void(SessionId const&)> deleted = {};
    // Called on the loop after a sync failed: nothing is written any more. May be empty.
    std::function<void()> failed = {};
    // Called on the loop when a person has released a restored copy, before its work starts; calls
    // `then`. May be empty.
    std::function<void(port::Fn<void()> then)> released = {};
    // Reloads the configuration. Empty: there is none.
    std::function<void(port::Fn<void(Result<http::ReloadReport>)> done)> reload = {};
    // The status of the export of metrics, as `exports`.
    std::function<std::optional<port::ExportStatus>()> metric_exports = {};
    // The model of an agent, for the metrics. May be empty.
    std::function<http::ModelWork::Name(std::string const& agent)> model_name = {};
    // Gets the source of the metrics, which lasts until `ended` has called `then`. May be empty.
    std::function<void(port::MeasureSource)> measured = {};
};

// The settings that may change while it serves.
struct ServingChanges {
    Json config = {};             // the effective configuration, for the API
    http::HttpOptions http = {};  // for HttpServer::set_limits
    http::GateOptions gate = {};  // for Gate::apply; public_url as at the start
    std::vector<webhook::Source> sources = {};
    std::vector<http::Person> persons = {};
    std::vector<std::string> slack_secrets = {};  // http::People::slack_secrets
    webhook::Pump::Changes webhooks = {};
    http::Ages ages = {};
    std::uint32_t waiting_calls = 10'000;
    runner::Keep keep = {};
};

// The key that signs callback URLs. Blocks. A store in memory gets a new key each time.
[[nodiscard]] Result<std::string> capability_key(std::string const& store, port::Entropy& entropy,
                                                 http::Agree const& agree = {});

// Refuses to run programs. Only the server runs them, because it must be started again as their
// guard (io/process/guard.h).
class NoProcesses final : public port::Processes {
public:
    explicit NoProcesses(port::Loop& loop) : loop_(loop) {}
    Number start(port::ProcessSpec spec, port::Fn<void(port::ProcessEnd)> done) override;
    void stop(Number /*process*/) override {}
    void write(Number /*process*/, std::string_view /*bytes*/) override {}
    void end(Number /*process*/) override {}
    void kill(Number /*process*/) override {}
    void rest(Number /*process*/, port::Fn<void()> /*give_way*/) override {}
    void work(Number /*process*/) override {}

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

    // Returns the address that it listens on: "http://127.0.0.1:3676". `listener` as for
    // http::HttpServer.
    [[nodiscard]] Result<std::string> listen(int listener = -1);
    // Serves GET /metrics without a token; returns the port.
    [[nodiscard]] Result<std::uint16_t> listen_for_metrics(ListenAddress const& address);
    // Starts to send webhooks and waiting deliveries; a copy that holds does so when it is
    // released.
    void start();

    // On the loop: applies other settings from now on.
    void apply(ServingChanges changes);

    void stop_accepting() override;
    void end(port::Fn<void()> done) override;
    // Ends; requests in progress have `limit` to complete.
    void end_within(Duration limit, port::Fn<void()> done);
    [[nodiscard]] std::string callback_url(PendingId const& pending) const override {
        return url() + "/c/" + gate_.capabilities().token(pending);
    }
    [[nodiscard]] std::vector<port::OutboxRow> outgoing(
        session::State const& state, std::span<wire::RecordPtr const> records,
        std::vector<session::PendingChange> const& changes) const override {
        return webhook::outbox_of(outgoing_, state, records, changes);
    }

    // The start of links: the public address, or the one that it listens on.
    [[nodiscard]] std::string const& url() const {
        return public_url_.empty() ? address_url_ : public_url_;
    }
    [[nodiscard]] std::string const& address_url() const { return address_url_; }
    [[nodiscard]] io::Log& log() { return log_; }
    [[nodiscard]] http::Gate& gate() { return gate_; }
    [[nodiscard]] http::Metrics& metrics() { return metrics_; }
    [[nodiscard]] port::Mailer& mail() { return api_.mail(); }

private:
    static constexpr Duration shutdown_limit{4'000};

    [[nodiscard]] webhook::Outgoing outgoing_of(ServingSettings const& settings);
    [[nodiscard]] webhook::Pump::Options pump_options(ServingSettings const& settings);
    [[nodiscard]] std::optional<webhook::Pump::Options::Sharing> sharing();
    [[nodiscard]] webhook::Pump::Options::Push push_options(webhook::PushSender const& sender);
    void release(port::Fn<void(Result<void>)> done);
    // The store has no user left.
    void begin_work();
    // Empty: no other process uses the store.
    [[nodiscard]] std::function<void(std::string_view)> publisher() const;
    [[nodiscard]] http::Services services(ServingSettings const& settings);
    [[nodiscard]] http::ServerFacts facts_of(ServingSettings const& settings) const;
    [[nodiscard]] std::shared_ptr<http::OidcSettings const> oidc_of(
        ServingSettings const& settings) const;

    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) override {
        api_.delta(session, ask, delta);
    }
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        api_.appended(lane, records);
        if (appended_) appended_();
        if (recorded_) recorded_(lane, records);
        report_settled(records);
    }
    void appended_elsewhere(port::FeedRow const& row) override {
        report_settled(api_.appended_elsewhere(row));
        if (row.deleted && deleted_) deleted_(row.session);
        if (appended_) appended_();
    }
    void missed_appends() override {
        api_.missed_appends();
        if (appended_) appended_();
    }
    void report_settled(std::vector<wire::RecordPtr> const& records) const;
    [[nodiscard]] bool awaited() const override { return api_.awaited(); }
    void on_heartbeat(port::HeartbeatReply const& beat, Epoch self) override {
        api_.on_heartbeat(beat, self);
    }
    void released() override { begin_work(); }
    void on_signal(Epoch from, std::string_view text) override { api_.on_signal(from, text); }
    void outbox_added() override {
        if (!node_.held()) pump_.wake();
    }
    void delivered(session::OutboxKey const& key, Result<session::Answer> const& answer) override {
        api_.delivered(key, answer);
    }
    void swept(std::size_t sessions) override {
        log_.info("completed sessions deleted", {{"sessions", std::to_string(sessions)}});
    }
    void failed() override {
        if (failed_) failed_();
    }

    runtime::Node& node_;
    http::HttpOptions const options_;
    std::string const public_url_;
    std::string address_url_;  // known once it listens
    std::function<void(runner::Lane const&, std::vector<wire::RecordPtr> const&)> const recorded_;
    std::function<void(port::Fn<void()>)> const ended_;
    std::function<void()> const appended_;
    std::function<void(session::Receipt const&)> const settled_;
    std::function<void(SessionId const&)> const deleted_;
    std::function<void()> const failed_;
    std::function<void(port::Fn<void()>)> const released_;
    bool begun_ = false;      // begin_work() was called
    bool const people_mail_;  // e-mail is sent
    webhook::Outgoing outgoing_;
    io::Log log_;
    http::Metrics metrics_;
    http::Gate gate_;
    http::Api api_;
    NoProcesses no_processes_;
    io::CurlHttpClient client_;  // separate, so that slow receivers delay no other request
    webhook::Pump pump_;
    MemoryGate memory_gate_;
    http::HttpServer http_;
    http::MetricsFace metrics_face_;
    std::unique_ptr<http::HttpServer> metrics_http_;  // null: none
};

}  // namespace dormouse::serve
