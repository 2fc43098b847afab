#include "app/server.h"

#include "app/parts/assemble.h"
#include "app/parts/external_agents.h"
#include "app/parts/foreign_servers.h"
#include "app/parts/settings.h"
#include "app/parts/stores.h"
#include "app/parts/webhooks.h"
#include "app/start/start_checks.h"
#include "config/effective.h"
#include "config/read.h"
#include "io/clock_control.h"
#include "io/process/signals.h"

#include <unistd.h>
#include <algorithm>
#include <utility>

namespace dormouse::app {

namespace {

// The address of the socket that the service manager passed on; empty: none.
std::string address_of(Prepared const& prepared) {
    return prepared.socket ? prepared.socket->address : std::string();
}

}  // namespace

Server::Server(ServerServices& services, io::MemoryReserve& reserve, io::ServiceManager& manager,
               cli::ServeOptions const& options, Prepared prepared, Secrets const& secrets,
               runtime::OpenedStore opened, http::WebFiles web_files)
    : services_(services),
      manager_(manager),
      options_(options),
      config_(std::move(prepared.config)),
      tls_(std::move(prepared.tls)),
      mail_client_(mail_client_of(config_, services.loop)),
      store_warnings_(std::move(opened.warnings)),
      node_(services, std::move(opened), {.runner = runner_options(config_, trace_rules(config_))}),
      sign_ins_(sign_in_records(secrets)),
      foreign_(
          servers_of(config_),
          {services.processes,
           services.http,
           services.loop,
           services.clock,
           sign_in_services(),
           {},
           [this] { return node_.nodes.alone() ? 0 : node_.nodes.epoch(); }},
          [this](std::string const& what) {
              if (serving_) serving_->log().warn(what);
          },
          reports_to(node_.runner)),
      starts_(data_directory(), node_.store->epoch(), services.clock.now()),
      indexes_(
          {services.loop, services.clock, node_.journal}, std::move(prepared.indexes),
          [this] { return node_.nodes.leads(); },
          [this](port::IndexStatus const& status) { report(status); }),
      telemetry_(Telemetry::of(config_, services, node_.journal)),
      copies_(std::move(prepared.copies), config_, data_directory(), services.clock),
      archive_(archive_services(), config_, data_directory()),
      reloads_(
          {node_.workers,
           [&options, inherited = address_of(prepared)] { return read_again(options, inherited); },
           [this] { return may_reload(); },
           [this](config::Config const& read) { return apply(read); }}) {
    node_.registry = assemble(config_, tool_services());
    foreign_.add_to(node_.registry);
    auto settings = serving_settings(options, config_, tls_.get(), secrets);
    settings.webhooks = pump_options();
    settings.processes = &services.processes;
    settings.people.mail = mail_client_.get();
    settings.web_files = web_files;
    settings.facts = facts();
    settings.reserve = &reserve;
    settings.foreign_sign_ins = &foreign_;
    settings.indexes = [this] { return indexes_.status(); };
    settings.appended = [this] { indexes_.appended(); };
    settings.settled = [this](session::Receipt const& receipt) { foreign_.closed(receipt); };
    settings.deleted = [this](SessionId const& session) { foreign_.deleted(session); };
    settings.failed = [this] { fail_stop(); };
    settings.reload = [this](auto done) { reload(std::move(done)); };
    settings.released = [this](port::Fn<void()> then) {
        copies_.start();
        foreign_.start(std::move(then));
    };
    settings.model_name = [this](std::string const& agent) {
        auto const [provider, model] = app::model_name(config_, agent);
        return http::ModelWork::Name{std::string(provider), std::string(model)};
    };
    copies_.attach_to(settings);
    archive_.attach_to(settings);
    if (telemetry_) telemetry_->attach_to(settings);
    auto serving = std::make_unique<serve::Serving>(node_, std::move(settings));
    serving_ = serving.get();
    serving_->metrics().store_is(store_name(config_.store));
    node_.attached = std::move(serving);
    watch_validators();
}

Server::~Server() {
    services_.validators.on_validated({});
    serving_ = nullptr;
}

int Server::run(int listener) {
    if (auto const url = serving_->listen(listener); !url) return complain(options_, url.error());
    if (auto listens = listen_for_metrics(); !listens) return complain(options_, listens.error());
    io::Signals const signals(services_.loop, [this](int) { stop(0); }, [this] { hang_up(); });
    manager_.watch(services_.loop);
    follow_sign_ins();
    // Sessions continue when the tools of MCP servers are known, or the servers have failed. A
    // restored copy that holds starts no server.
    node_.held() ? begin() : foreign_.start([this] { begin(); });
    services_.loop.run();
    archive_.stop();
    node_.threads.stop();
    node_.store_thread.stop();
    indexes_.end();
    copies_.end();
    if (status_ == 0) starts_.end(services_.clock.now());
    return status_;
}

void Server::begin() {
    begun_ = true;
    node_.start([this] { lost_store(); });
    serving_->start();
    indexes_.start();
    archive_.start();
    if (!node_.held()) copies_.start();
    starts_.keep(services_.loop, services_.clock);
    if (services_.clock_control)
        services_.clock_control->start([this](auto done) { settle(4, std::move(done)); });
    announce();
    manager_.ready();
}

void Server::announce() {
    // First, so that a reader of the ready line finds these already written.
    for (config::Problem const& warning : config::warnings(config_))
        serving_->log().warn(config::line_of(config_.file, warning));
    for (std::string const& warning : store_warnings_) serving_->log().warn(warning);
    if (node_.held())
        serving_->log().warn(
            "this is a copy that holds: no tool, model, webhook or notification is "
            "started until `dormouse release`");
    for (config::Agent const& agent : installed_agents(config_)) {
        bool const named =
            std::ranges::find(config_.agents, agent.id, &config::Agent::id) != config_.agents.end();
        if (!named)
            serving_->log().info("agent " + agent.id +
                                 " was found: " + config::no_sandbox_text(config_));
    }
    find_sessions_without_agent(node_.journal, node_.registry,
                                [this](std::string const& why) { serving_->log().warn(why); });
    // With TLS a client must use the name of the certificate.
    bool const named = tls_ && !config_.server.public_url.empty();
    auto const unwritten = address_file_.write(named ? config_.server.public_url : loopback_url());
    if (!unwritten.empty()) serving_->log().warn(unwritten);
    std::string const& url = serving_->address_url();
    std::string const line = "ready " + url + "\n";
    int const fd = options_.ready_fd >= 0 ? options_.ready_fd : STDOUT_FILENO;
    if (::write(fd, line.data(), line.size()) < 0)
        serving_->log().warn("the ready line could not be written");
    serving_->log().info("ready", {{"url", url},
                                   {"store", store_name(config_.store)},
                                   {"data", options_.data},
                                   {"config", config_.file}});
}

Result<void> Server::listen_for_metrics() {
    auto const address = parse_listen_address(config_.server.metrics_listen);
    if (!address) return {};
    auto const port = serving_->listen_for_metrics(*address);
    if (!port) return std::unexpected(port.error());
    serving_->log().info("metrics", {{"host", address->host}, {"port", std::to_string(*port)}});
    return {};
}

void Server::settle(int rounds, port::Fn<void()> done) {
    if (rounds == 0) return done();
    auto next = [this, rounds, done = std::move(done)]() mutable {
        settle(rounds - 1, std::move(done));
    };
    auto read = [this, next = std::move(next)](auto const& /*result*/) mutable {
        node_.store_thread.when_read(std::move(next));
    };
    node_.journal.write([](auto& /*store*/) { return Result<void>(); }, std::move(read));
}

void Server::stop(int status) {
    status_ = status;
    if (std::exchange(stopping_, true)) return services_.loop.stop();
    serving_->log().info("stopping");
    manager_.stopping();
    foreign_.leave();
    archive_.stop();
    node_.end(runner::Runner::drain_max);
}

void Server::lost_store() {
    end_at_once(
        "another process has taken over the store; stopping. One process uses a schema at a "
        "time: dormouse serve --store URL?schema=NAME");
}

void Server::fail_stop() {
    end_at_once(
        "a write to the disk failed; stopping, so that a new start reads what the disk really "
        "holds");
}

void Server::end_at_once(std::string const& why) {
    serving_->log().error(why);
    serving_->end_within(Duration(500), [this] { services_.loop.stop(); });
    status_ = 1;
}

}  // namespace dormouse::app
