#include "app/commands/programs.h"
#include "app/parts/archive_sweeps.h"
#include "app/parts/assemble.h"
#include "app/parts/channel.h"
#include "app/parts/copies.h"
#include "app/parts/external_agents.h"
#include "app/parts/foreign_servers.h"
#include "app/parts/indexes.h"
#include "app/parts/settings.h"
#include "app/parts/stores.h"
#include "app/parts/telemetry.h"
#include "app/parts/webhooks.h"
#include "app/parts/world.h"
#include "app/release.h"
#include "app/reload.h"
#include "app/start/address_file.h"
#include "app/start/complain.h"
#include "app/start/config_checks.h"
#include "app/start/flags.h"
#include "app/start/grant_file.h"
#include "app/start/node_name.h"
#include "app/start/secrets.h"
#include "app/start/start_checks.h"
#include "base/text/text.h"
#include "base/url.h"
#include "config/changes.h"
#include "config/effective.h"
#include "config/read.h"
#include "external/validator.h"
#include "io/clock_control.h"
#include "io/http/tls.h"
#include "io/process/fd_limit.h"
#include "io/process/service_manager.h"
#include "io/process/signals.h"
#include "io/starts.h"
#include "json/json.h"
#include "mcp_client/servers.h"
#include "runtime/stores.h"
#include "serve/serving.h"

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace dormouse::app {

namespace {

int complain(cli::ServeOptions const& options, Error const& error) {
    return app::complain({"serve", options.json}, error);
}

int complain(cli::ServeOptions const& options, Mistakes const& mistakes) {
    return app::complain({"serve", options.json},
                         {Code::bad_value, "nothing was started: correct " + options.config +
                                               " (dormouse config check), or pass --no-config"},
                         mistakes);
}

// The process: a node with the agents of the configuration, and HTTP on it.
class Server {
public:
    // `services`, `reserve` and `manager` outlive this.
    Server(ServerServices& services, io::MemoryReserve& reserve, io::ServiceManager& manager,
           cli::ServeOptions const& options, config::Config config, Secrets const& secrets,
           runtime::OpenedStore opened, std::vector<IndexPlan> indexes, CopyPlan copies,
           std::unique_ptr<io::TlsServer> tls, http::WebFiles web_files, std::string inherited)
        : services_(services),
          manager_(manager),
          options_(options),
          config_(std::move(config)),
          tls_(std::move(tls)),
          mail_client_(mail_client_of(config_, services.loop)),
          store_warnings_(std::move(opened.warnings)),
          node_(services, std::move(opened),
                {.runner = runner_options(config_, trace_rules(config_))}),
          foreign_(
              servers_of(config_),
              {services.processes,
               services.http,
               services.loop,
               services.clock,
               sign_in_services(data_directory(), [this] { return serving_; }),
               {},
               [this] { return node_.nodes.alone() ? 0 : node_.nodes.epoch(); }},
              [this](std::string const& what) {
                  if (serving_) serving_->log().warn(what);
              },
              reports_to(node_.runner)),
          starts_(data_directory(), node_.store->epoch(), services.clock.now()),
          indexes_(
              {services.loop, services.clock, node_.journal}, std::move(indexes),
              [this] { return node_.nodes.leads(); },
              [this](port::IndexStatus const& status) { report(status); }),
          telemetry_(Telemetry::of(config_, services, node_.journal)),
          copies_(std::move(copies), config_, data_directory(), services.clock),
          archive_(archive_services(), config_, data_directory()),
          reloads_({node_.workers,
                    [&options, inherited = std::move(inherited)] {
                        return read_again(options, inherited);
                    },
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

    ~Server() {
        services_.validators.on_validated({});
        serving_ = nullptr;
    }
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;

    // `listener` as for serve::Serving.
    int run(int listener) {
        if (auto const url = serving_->listen(listener); !url)
            return complain(options_, url.error());
        if (auto listens = listen_for_metrics(); !listens)
            return complain(options_, listens.error());
        io::Signals const signals(services_.loop, [this](int) { stop(0); }, [this] { hang_up(); });
        manager_.watch(services_.loop);
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

private:
    void begin() {
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

    [[nodiscard]] ArchiveSweeps::Services archive_services() {
        return {.loop = services_.loop,
                .clock = services_.clock,
                .workers = node_.workers,
                .runner = node_.runner,
                .leads = [this] { return node_.nodes.leads(); },
                .warn =
                    [this](std::string const& why) {
                        serving_->log().warn("completed sessions were not archived",
                                             {{"why", why}});
                    }};
    }

    // Arguments to make the registry. They outlive HTTP: afterwards they do nothing.
    [[nodiscard]] ToolServices tool_services() {
        return {
            services_.http,
            services_.processes,
            services_.clock,
            services_.validators,
            services_.loop,
            services_.entropy,
            [this]() -> port::Mailer* { return serving_ ? &serving_->mail() : nullptr; },
            [&services = services_](std::string const& user) { return services.folders_of(user); },
            [this](SessionId const& session) {
                return serving_ ? own_tools(session) : std::vector<acp::McpServer>();
            },
            [this](SessionId const& session) {
                if (serving_) serving_->gate().tokens().remove_program(session);
            },
            [this](SessionId const& session, std::string const& why) {
                if (serving_) serving_->log().warn(why, {{"sessionID", session.text()}});
            },
            std::filesystem::absolute(options_.data).string()};
    }

    // `dormouse mcp` for the external agent of this session, with a token of its own. With TLS it
    // must use the name of the certificate.
    [[nodiscard]] std::vector<acp::McpServer> own_tools(SessionId const& session) {
        std::error_code none;
        std::string const binary = std::filesystem::read_symlink("/proc/self/exe", none).string();
        std::string const url = tls_ ? config_.server.public_url : loopback_url();
        if (url.empty() || binary.empty()) return {};
        std::string const secret = "dmp_" + base64url(services_.entropy.random());
        serving_->gate().tokens().add_program(session, secret);
        return {{"dormouse",
                 binary,
                 {"mcp", "--session", session.text(), "--server", url},
                 {{"DORMOUSE_TOKEN", secret}}}};
    }

    // Empty: the store is in memory.
    [[nodiscard]] std::string data_directory() const {
        return in_memory(config_.store) ? std::string()
                                        : std::filesystem::absolute(options_.data).string();
    }

    [[nodiscard]] http::ServerFacts facts() const {
        http::ServerFacts out{
            .release = release(),
            .data = data_directory(),
            .config = config::effective_json(config_),
        };
        for (io::StartLine const& one : starts_.all())
            out.starts.push_back({one.epoch, one.started, one.alive, one.clean});
        return out;
    }

    // The URL at which a program on this machine reaches the server.
    [[nodiscard]] std::string loopback_url() const {
        std::string url = serving_->address_url();
        for (std::string_view const any : {"//0.0.0.0:", "//[::]:"}) {
            if (auto const at = url.find(any); at != std::string::npos)
                url.replace(at, any.size(), any == "//[::]:" ? "//[::1]:" : "//127.0.0.1:");
        }
        return url;
    }

    // Links are made from public_url, never from a request's headers.
    [[nodiscard]] webhook::Pump::Options pump_options() {
        auto out = webhook_options(config_, [this](PendingId const& pending) {
            return serving_->url() + "/a/" + pending.text();
        });
        out.outgoing.programs = true;
        out.program = [this](port::OutboxRow const& row, std::string const& body, auto done) {
            forget(row, json::View(body), std::move(done));
        };
        return out;
    }

    void report(port::IndexStatus const& index) {
        using enum port::IndexState;
        if (index.state == failed)
            return serving_->log().warn("an index cannot be written; it is tried again",
                                        {{"index", index.name}, {"why", index.why}});
        serving_->log().info(
            index.state == rebuilding ? "an index is rebuilt" : "an index works again",
            {{"index", index.name}});
    }

    void watch_validators() {
        using ValidationStatus = external::Validators::ValidationStatus;
        services_.validators.on_validated([this](PendingId const& pending, std::string const& tool,
                                                 ValidationStatus status, std::string const& why) {
            serving_->metrics().validated(external::text(status));
            if (status == ValidationStatus::valid || status == ValidationStatus::invalid) return;
            serving_->log().warn(status == ValidationStatus::failed
                                     ? "a validator failed"
                                     : "the validator queue is full; a result was rejected",
                                 {{"pendingID", pending.text()}, {"tool", tool}, {"why", why}});
        });
    }

    // Notifies an external agent that one of its sessions was deleted
    // (webhook::Letter::Kind::program).
    void forget(port::OutboxRow const& row, json::View body, webhook::Pump::Options::Done done) {
        auto const name = std::string_view(row.target).substr(std::string_view("agent:").size());
        agent::Agent const* const agent = node_.registry.agent(name.substr(0, name.find('@')));
        if (!agent || !agent->program)
            return done(fail(Code::not_found, "this agent is no longer an external agent"));
        agent::ExternalAgent::Left left{row.key.from, {}, body["cwd"].string_or("")};
        body["names"].elements([&](json::View name) { left.names.push_back(name.string_or("")); });
        agent->program->forget(std::move(left), std::move(done));
    }

    void announce() {
        // First, so that a reader of the ready line finds these already written.
        for (config::Problem const& warning : config::warnings(config_))
            serving_->log().warn(config::line_of(config_.file, warning));
        for (std::string const& warning : store_warnings_) serving_->log().warn(warning);
        if (node_.held())
            serving_->log().warn(
                "this is a copy that holds: no tool, model, webhook or notification is "
                "started until `dormouse release`");
        for (config::Agent const& agent : installed_agents(config_)) {
            bool const named = std::ranges::find(config_.agents, agent.id, &config::Agent::id) !=
                               config_.agents.end();
            if (!named)
                serving_->log().info("agent " + agent.id +
                                     " was found: " + config::no_sandbox_text(config_));
        }
        find_sessions_without_agent(node_.journal, node_.registry,
                                    [this](std::string const& why) { serving_->log().warn(why); });
        // With TLS a client must use the name of the certificate.
        bool const named = tls_ && !config_.server.public_url.empty();
        auto const unwritten =
            address_file_.write(named ? config_.server.public_url : loopback_url());
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

    [[nodiscard]] Result<void> listen_for_metrics() {
        auto const address = parse_listen_address(config_.server.metrics_listen);
        if (!address) return {};
        auto const port = serving_->listen_for_metrics(*address);
        if (!port) return std::unexpected(port.error());
        serving_->log().info("metrics", {{"host", address->host}, {"port", std::to_string(*port)}});
        return {};
    }

    // Calls `done` after the store has done its queued work and what followed from it, `rounds`
    // times.
    void settle(int rounds, port::Fn<void()> done) {
        if (rounds == 0) return done();
        auto next = [this, rounds, done = std::move(done)]() mutable {
            settle(rounds - 1, std::move(done));
        };
        auto read = [this, next = std::move(next)](auto const& /*result*/) mutable {
            node_.store_thread.when_read(std::move(next));
        };
        node_.journal.write([](auto& /*store*/) { return Result<void>(); }, std::move(read));
    }

    void hang_up() {
        manager_.reloading();
        reload([this](Result<http::ReloadReport> const& report) {
            log_reload(serving_->log(), report);
            manager_.ready();
        });
    }

    // The certificate is read again whatever the configuration has.
    void reload(Reloads::Done done) {
        auto const certificate = reload_certificate();
        if (options_.config.empty()) {
            http::ReloadReport report;
            if (!certificate.empty()) report.warnings.push_back(certificate);
            report.warnings.emplace_back(
                "the server was started without a configuration file: restart it with --config");
            return done(std::move(report));
        }
        reloads_.reload(
            [certificate, done = std::move(done)](Result<http::ReloadReport> report) mutable {
                if (report && !certificate.empty()) report->warnings.push_back(certificate);
                done(std::move(report));
            });
    }

    // Returns a warning; empty: none.
    [[nodiscard]] std::string reload_certificate() {
        if (!tls_) return {};
        if (auto const done = tls_->reload(); !done) {
            serving_->log().error("reload: the certificate stays as it was",
                                  {{"why", done.error().detail}});
            return "the certificate stays as it was: " + done.error().detail;
        }
        serving_->log().info("reload: the certificate was reloaded");
        return {};
    }

    [[nodiscard]] Result<void> may_reload() const {
        if (stopping_) return fail(Code::draining, "The server is stopping.");
        if (!begun_) return fail(Code::recovering, "The server is still starting.");
        return {};
    }

    // Work under way ends with the configuration that it began with.
    [[nodiscard]] Result<http::ReloadReport> apply(config::Config const& read) {
        http::ReloadReport out = compare(config_, read);
        config::Config next = config::applicable(config_, read);
        Former const former{config_, node_.registry};
        agent::Registry registry = assemble(next, tool_services(), &former);
        foreign_.exchange(servers_of(next), registry);
        node_.exchange_registry(std::move(registry));
        config_ = std::move(next);
        services_.validators.set_limits(validator_limits(config_.limits));
        node_.runner.apply(runner_options(config_, trace_rules(config_)));
        serving_->apply(serving_changes(config_));
        archive_.apply(config_);
        for (config::Problem const& warning : config::warnings(config_))
            out.warnings.push_back(config::line_of(config_.file, warning));
        return out;
    }

    // A second signal ends the process at once.
    void stop(int status) {
        status_ = status;
        if (std::exchange(stopping_, true)) return services_.loop.stop();
        serving_->log().info("stopping");
        manager_.stopping();
        foreign_.leave();
        archive_.stop();
        node_.end(runner::Runner::drain_max);
    }

    // Its own writes are refused by now; a new start waits until the other process has ended.
    void lost_store() {
        end_at_once(
            "another process has taken over the store; stopping. One process uses a schema at a "
            "time: dormouse serve --store URL?schema=NAME");
    }

    // P10: after a failed sync nothing is written any more; a new process reads what the disk
    // really holds.
    void fail_stop() {
        end_at_once(
            "a write to the disk failed; stopping, so that a new start reads what the disk really "
            "holds");
    }

    void end_at_once(std::string const& why) {
        serving_->log().error(why);
        serving_->end_within(Duration(500), [this] { services_.loop.stop(); });
        status_ = 1;
    }

    ServerServices& services_;
    io::ServiceManager& manager_;
    cli::ServeOptions const& options_;
    config::Config config_;                              // in force
    std::unique_ptr<io::TlsServer> const tls_;           // null: plain HTTP
    std::unique_ptr<io::SmtpClient> const mail_client_;  // null: no e-mail is sent
    serve::Serving* serving_ = nullptr;                  // owned by node_
    std::vector<std::string> const store_warnings_;
    runtime::Node node_;
    mcp_client::Servers foreign_;
    io::Starts starts_;
    Indexes indexes_;
    std::unique_ptr<Telemetry> const telemetry_;  // null: nothing is traced
    Copies copies_;
    ArchiveSweeps archive_;
    AddressFile address_file_{options_.data};
    bool begun_ = false;
    bool stopping_ = false;
    int status_ = 0;
    Reloads reloads_;
};

// The configuration and resources that a start has checked before it opens a store.
struct Prepared {
    config::Config config;
    std::optional<io::InheritedSocket> socket;  // of the service manager
    std::unique_ptr<io::TlsServer> tls;         // null: plain HTTP
    std::vector<IndexPlan> indexes;
    CopyPlan copies;
};
// The exit status of a process that does not start; the reason was printed.
using Refused = std::unexpected<int>;

template <class Value>
Refused refused(cli::ServeOptions const& options, Result<Value> const& wrong) {
    return Refused(complain(options, wrong.error()));
}

// Fails if this configuration must not be served at its address.
Result<void> check_address(cli::ServeOptions const& options, config::Config const& config) {
    auto const address = listen_address(config.server.listen);
    if (!address) return std::unexpected(address.error());
    if (auto open = refuse_open(options.insecure, config.server, *address); !open) return open;
    return refuse_exposed_data(config, options.data);
}

// Reads the configuration and the flags.
std::expected<config::Config, int> read_config(cli::ServeOptions const& options,
                                               std::optional<io::InheritedSocket> const& socket) {
    auto config = first_config(options.config);
    if (!config) return Refused(complain(options, config.error()));
    if (auto applied = apply_flags(options, config->server, config->store); !applied)
        return refused(options, applied);
    // Before the checks of an address that other machines reach.
    if (socket) config->server.listen = socket->address;
    return *std::move(config);
}

std::expected<Prepared, int> prepare(cli::ServeOptions const& options) {
    auto socket = io::inherited_socket();
    if (!socket) return refused(options, socket);
    if (auto taken = io::take_credentials(); !taken) return refused(options, taken);
    auto config = read_config(options, *socket);
    if (!config) return Refused(config.error());
    if (auto safe = check_address(options, *config); !safe) return refused(options, safe);
    auto tls = load_tls(*config);
    if (!tls) return refused(options, tls);
    if (auto const mistakes = mistakes_in(*config); !mistakes.empty())
        return Refused(complain(options, mistakes));
    if (auto traces = check_telemetry(*config); !traces) return refused(options, traces);
    auto indexes = make_indexes(config->store, options.data);
    if (!indexes) return refused(options, indexes);
    auto copies = plan_copies(*config, options.data);
    if (!copies) return refused(options, copies);
    return Prepared{*std::move(config), *std::move(socket), *std::move(tls), *std::move(indexes),
                    *std::move(copies)};
}

// Opens the store, and the channel by which the servers that share it wake each other.
Result<runtime::OpenedStore> open_store(cli::ServeOptions const& options, Prepared const& prepared,
                                        NodeName const& node, Time now) {
    config::Config const& config = prepared.config;
    auto keys = master_keys(config.store);
    if (!keys) return std::unexpected(keys.error());
    auto opened = runtime::open_store({.place = store_place(config.store, options.data),
                                       .release = release(),
                                       .relaxed = options.relaxed,
                                       .now = now,
                                       .shared = shares_store(config),
                                       .signal = store_signal(config.store),
                                       .config = names_digest(config),
                                       .changes = prepared.copies.changes,
                                       .node = node.text,
                                       .keys = *std::move(keys)});
    if (!opened) return opened;
    if (auto added = add_channel(config.store, *opened); !added)
        return std::unexpected(added.error());
    return opened;
}

}  // namespace

int serve(cli::ServeOptions const& options, http::WebFiles web_files) {
    io::ignore_sigpipe();
    io::raise_fd_limit();
    auto manager = io::ServiceManager::of_environment();
    auto prepared = prepare(options);
    if (!prepared) return prepared.error();
    config::Config& config = prepared->config;
    io::MemoryReserve reserve;  // first: what is created later may use it
    ServerServices services(config.limits);
    auto control = io::ClockControl::of_environment(services.loop, services.clock);
    if (!control) return complain(options, control.error());
    services.clock_control = *std::move(control);
    auto node = node_name(config.store, options.data);
    if (!node) return complain(options, node.error());
    auto opened = open_store(options, *prepared, *node, services.clock.now());
    if (!opened) return complain(options, opened.error());
    auto secrets = load_secrets(options.data, config, *opened);
    if (!secrets) return complain(options, secrets.error());
    if (auto kept = opened->shared ? keep_node_name(*node, options.data) : Result<void>(); !kept)
        return complain(options, kept.error());
    auto& socket = prepared->socket;
    int const listener = socket ? socket->socket.release() : -1;
    std::string inherited = socket ? socket->address : std::string();
    return Server(services, reserve, manager, options, std::move(config), *secrets,
                  *std::move(opened), std::move(prepared->indexes), std::move(prepared->copies),
                  std::move(prepared->tls), web_files, std::move(inherited))
        .run(listener);
}

}  // namespace dormouse::app
