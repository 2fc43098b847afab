#include "app/agent_programs.h"
#include "app/assemble.h"
#include "app/config_checks.h"
#include "app/confine.h"
#include "app/memory_gate.h"
#include "app/observe.h"
#include "app/programs.h"
#include "app/start_checks.h"
#include "app/webhooks.h"

#include "agent/catalogue.h"
#include "agent/effects.h"
#include "agent/model_requests.h"
#include "base/text.h"
#include "base/url.h"
#include "config/read.h"
#include "config/values.h"
#include "external/validator.h"
#include "http/access/token_file.h"
#include "http/resources/api.h"
#include "http/resources/operations/metrics.h"
#include "http/resources/operations/metrics_face.h"
#include "http/resources/webhooks/webhooks.h"
#include "http/transport/transport.h"
#include "io/clock.h"
#include "io/fd_limit.h"
#include "io/folder.h"
#include "io/http_client.h"
#include "io/log.h"
#include "io/loop.h"
#include "io/process.h"
#include "io/signals.h"
#include "io/store_thread.h"
#include "io/thread_workers.h"
#include "io/tls.h"
#include "json/json.h"
#include "runner/counted.h"
#include "runner/runner.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

namespace dormouse::app {

namespace {

using server::load_capability_key;
using server::load_tokens;

constexpr Duration shutdown_limit{4'000};

// "127.0.0.1:3676", "[::1]:0"
Result<ListenAddress> listen_address(std::string const& text) {
    if (auto address = parse_listen_address(text)) return *std::move(address);
    return fail(Code::bad_value,
                "--listen " + text + ": must be ADDRESS:PORT, for example 127.0.0.1:3676");
}

Result<std::unique_ptr<port::Store>> open_store(std::string const& kind,
                                                std::string const& directory) {
    if (kind == "memory") return std::make_unique<store::MemoryStore>();
    return store::SqliteStore::open(directory);
}

int complain(Error const& error) {
    std::fprintf(stderr, "dormouse serve: %s\n", error.detail.c_str());
    return info(error.code).exit == 0 ? 1 : info(error.code).exit;
}

int complain(std::string const& file, Mistakes const& mistakes) {
    for (std::string const& mistake : mistakes) std::fprintf(stderr, "%s\n", mistake.c_str());
    return complain({Code::bad_value, "nothing was started: correct " + file +
                                          " (dormouse config check), or say --no-config"});
}

// What the command line says wins over the file; lists are added.
Result<void> apply_flags(cli::ServeOptions const& options, config::Server& server,
                         config::Store& store) {
    server.listen = options.listen.value_or(server.listen);
    store.url = options.store.value_or(store.url);
    if (options.public_url) {
        server.public_url = *options.public_url;
        if (auto const todo = config::misfit(config::Form::url, server.public_url)) {
            return fail(Code::bad_value, "--public-url " + *options.public_url + ": " + *todo);
        }
    }
    auto const add = [](auto& list, auto const& more) {
        list.insert(list.end(), more.begin(), more.end());
    };
    add(server.allowed_hosts, options.allowed_hosts);
    add(server.allowed_origins, options.allowed_origins);
    return {};
}

// Names of files are seen from the folder of the configuration. nullptr: plain HTTP.
Result<std::unique_ptr<io::TlsServer>> load_tls(config::Config const& config) {
    std::string const& cert = config.server.tls_cert;
    std::string const& key = config.server.tls_key;
    if (cert.empty() && key.empty()) return nullptr;
    if (cert.empty() || key.empty())
        return fail(Code::bad_value, "[server]: tls_cert and tls_key need each other");
    auto const folder = std::filesystem::path(config.file).parent_path();
    return io::TlsServer::load((folder / cert).string(), (folder / key).string());
}

// Agents with a tool that is a program: whoever starts one can do what this server's user can.
std::set<std::string, std::less<>> programs_of(config::Config const& config) {
    std::set<std::string, std::less<>> tools;
    for (config::Tool const& tool : config.tools)
        if (tool.kind == config::ToolKind::command) tools.insert(tool.name);
    std::set<std::string, std::less<>> out;
    for (config::Agent const& agent : config.agents) {
        bool const has = std::ranges::any_of(
            agent.tools, [&](std::string const& tool) { return tools.contains(tool); });
        if (has || !agent.program.command.empty()) out.insert(agent.id);
    }
    for (config::Agent const& agent : installed_agents(config)) out.insert(agent.id);
    return out;
}

// What tools and models reach the world with.
struct World {
    explicit World(config::Limits const& limits)
        : validators(processes, clock,
                     {.at_once = limits.validators_at_once, .waiting = limits.validators_waiting}) {
    }
    io::MemoryReserve reserve;  // first: what is made after it may use it
    io::AsioLoop loop;
    io::SystemClock clock;
    io::CurlHttpClient http{loop};
    // Of webhooks out: their receivers may hang, and nobody else waits behind them.
    io::CurlHttpClient webhooks{loop, {.active_max = webhook::Pump::at_once}};
    io::ProcessHost processes{loop};
    io::SystemEntropy entropy;
    external::Validators validators;
    std::map<std::string, std::unique_ptr<io::FolderHost>> folders = {};  // by user; empty: ours

    port::Folders* folders_of(std::string const& user) {
        auto const found = folders.find(user);
        if (found != folders.end()) return found->second.get();
        auto rights = user.empty() ? std::nullopt : rights_of(user);
        if (!user.empty() && !rights) return nullptr;
        return (folders[user] = std::make_unique<io::FolderHost>(loop, std::move(rights))).get();
    }
};

struct Secrets {
    std::vector<server::Token> tokens;
    std::vector<port::TokenRow> stored;
    std::string capability_key;
};

// What the registry asks for, and is there only when the server is.
struct ProgramSlot {
    std::function<std::vector<acp::McpServer>(SessionId const&)> servers = {};
    std::function<void(SessionId const&)> ended = {};
    std::function<void(SessionId const&, std::string const&)> warn = {};
};
struct Slots {
    std::shared_ptr<agent::MailSlot> mail = std::make_shared<agent::MailSlot>();
    std::shared_ptr<ProgramSlot> programs = std::make_shared<ProgramSlot>();
};

std::function<std::vector<acp::McpServer>(SessionId const&)> servers_from(
    std::shared_ptr<ProgramSlot> slot) {
    return [slot = std::move(slot)](SessionId const& session) {
        return slot->servers ? slot->servers(session) : std::vector<acp::McpServer>();
    };
}

std::function<void(SessionId const&)> ended_from(std::shared_ptr<ProgramSlot> slot) {
    return [slot = std::move(slot)](SessionId const& session) {
        if (slot->ended) slot->ended(session);
    };
}

std::function<void(SessionId const&, std::string const&)> warnings_from(
    std::shared_ptr<ProgramSlot> slot) {
    return [slot = std::move(slot)](SessionId const& session, std::string const& why) {
        if (slot->warn) slot->warn(session, why);
    };
}

// Everything that lives as long as the server, in the order in which it depends on each other.
class Server : private runner::Observer {
public:
    Server(World& world, cli::ServeOptions const& options, config::Config config,
           agent::Registry registry, Slots slots, Secrets const& secrets, port::Store& store,
           std::unique_ptr<io::TlsServer> tls)
        : loop_(world.loop),
          clock_(world.clock),
          options_(options),
          config_(std::move(config)),
          address_(*parse_listen_address(config_.server.listen)),
          tls_(std::move(tls)),
          log_(log_options(options)),
          registry_(std::move(registry)),
          catalogue_(registry_),
          workers_(threads_, loop_),
          effects_(registry_, workers_, surroundings()),
          journal_(store, loop_),
          runner_({loop_, clock_, entropy_, counted_journal_, counted_effects_, effects_,
                   &body_workers_, &catalogue_},
                  {.epoch = store.epoch(),
                   .next_session_number = store.next_session_number(),
                   .resident_max = config_.limits.resident_sessions,
                   .resident_bytes = config_.limits.resident_bytes,
                   .limits = session_limits(config_),
                   .mail = mail_policies(config_),
                   .completed_after = config_.retention.completed_after,
                   .audit_after = config_.retention.audit_after,
                   .outgoing =
                       [outgoing = pump_options().outgoing](auto const& state, auto records,
                                                            auto const& changes) {
                           return webhook::posts_of(outgoing, state, records, changes);
                       }},
                  *this),
          gate_(gate_options(config_, secrets), clock_),
          api_({loop_,
                journal_,
                catalogue_,
                runner_,
                gate_,
                metrics_,
                log_,
                entropy_,
                webhook_sources(config_),
                {config_.retention.completed_after, config_.retention.audit_after,
                 config_.retention.dead_deliveries_after},
                {.messages = config_.retention.messages_per_session,
                 .age = config_.retention.message_age,
                 .bytes = config_.retention.session_bytes},
                &body_workers_}),
          pump_({loop_, clock_, entropy_, counted_journal_, world.webhooks, world.processes},
                pump_options()),
          memory_gate_(api_, world.reserve, runner_, loop_),
          http_(loop_, http_options(config_, address_, tls_.get(), options.insecure), memory_gate_,
                log_),
          metrics_face_({loop_, journal_, catalogue_, runner_, gate_, metrics_, log_, entropy_}),
          slots_(std::move(slots)),
          validators_(world.validators) {
        counted_effects_.count_by(&metrics_);
        counted_journal_.count_by(&metrics_);
        counted_journal_.on_failed([this](Error const& error) {
            log_.warn("the store did not take an append",
                      {{"code", info(error.code).text}, {"why", error.detail}});
        });
        watch_validators();
        slots_.mail->mailer = &api_.mail();
        slots_.programs->servers = [this](SessionId const& session) { return own_tools(session); };
        slots_.programs->ended = [this](SessionId const& session) {
            gate_.tokens().remove_program(session);
        };
        slots_.programs->warn = [this](SessionId const& session, std::string const& why) {
            log_.warn(why, {{"sessionID", session.text()}});
        };
        for (port::TokenRow const& row : secrets.stored) gate_.tokens().add(row);
        metrics_.models = [this] { return agent::model_loads(registry_, effects_.models()); };
        metrics_.connections = [this] {
            auto const counts = http_.counts();
            return server::Metrics::Connections{counts.connections, counts.streams, counts.refused};
        };
    }

    ~Server() override {
        validators_.on_judged({});
        slots_.mail->mailer = nullptr;
        *slots_.programs = {};
    }
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;

    int run() {
        auto const port = http_.listen();
        if (!port) return complain(port.error());
        gate_.set_port(*port);
        if (auto listens = listen_for_metrics(); !listens) return complain(listens.error());
        address_url_ = url_of(*port);
        io::Signals const signals(loop_, [this](int) { stop(0); }, [this] { reload(); });
        runner_.start();
        api_.webhooks().start();
        pump_.start();
        memory_gate_.start();
        announce();
        loop_.run();
        threads_.stop();
        journal_.stop();
        return status_;
    }

private:
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
    // P10: after a failed sync nothing is written any more; a new process reads what the disk
    // really holds.
    void failed() override {
        log_.error(
            "a write to the disk failed; stopping, so that a new start reads what is really there");
        http_.stop_accepting();
        http_.shutdown(Duration(500), [this] { loop_.stop(); });
        status_ = 1;
    }

    // The address under which people know the server is always allowed.
    static server::GateOptions gate_options(config::Config const& config, Secrets const& secrets) {
        server::GateOptions out;
        out.tokens = secrets.tokens;
        out.capability_key = secrets.capability_key;
        out.allowed_hosts = config.server.allowed_hosts;
        out.allowed_origins = config.server.allowed_origins;
        out.failed_auth_per_address_per_s = config.limits.failed_auth_per_address_per_s;
        out.submissions_per_token_per_s = config.limits.submissions_per_token_per_s;
        out.submissions_per_call_per_s = config.limits.submissions_per_call_per_s;
        out.programs = programs_of(config);
        out.public_url = config.server.public_url;
        if (auto const url = parse_url(config.server.public_url)) {
            out.allowed_origins.push_back(url->origin());
            out.allowed_hosts.push_back(url->authority());
        }
        return out;
    }

    static std::map<std::string, runner::Options::MailOfProject> mail_policies(
        config::Config const& config) {
        std::map<std::string, runner::Options::MailOfProject> out;
        for (config::Project const& project : config.projects)
            out[project.id] = {project.mail, project.mail_to};
        return out;
    }

    static session::Limits session_limits(config::Config const& config) {
        config::Limits const& limits = config.limits;
        return {.prompt_bytes = limits.prompt_bytes,
                .output_bytes = limits.output_bytes,
                .queue = limits.queued_prompts,
                .open_calls = limits.open_calls,
                .calls_per_reply = limits.calls_per_reply,
                .progress_per_second = limits.progress_per_s,
                .progress_per_call = limits.progress_per_call,
                .remind_after = config.server.remind_after,
                .remind_every = config.server.remind_every};
    }

    // Who listens beyond this machine without TLS because of a proxy hears nobody else.
    static server::HttpOptions http_options(config::Config const& config,
                                            ListenAddress const& address, io::TlsServer* tls,
                                            bool insecure) {
        config::Limits const& limits = config.limits;
        return {.address = address.host,
                .port = address.port,
                .connections_max = limits.connections,
                .connections_per_address_max = limits.connections_per_address,
                .buffer_bytes_max = limits.buffer_bytes,
                .header_bytes_max = limits.header_bytes,
                .header_time_limit = limits.header_time_limit,
                .body_time_limit = limits.body_time_limit,
                .idle_time_limit = limits.idle_time_limit,
                .heartbeat = limits.heartbeat,
                .trusted_proxies = config.server.trusted_proxies,
                .only_proxied = !address.loopback && !tls && !insecure,
                .tls = tls};
    }

    [[nodiscard]] std::string url_of(std::uint16_t port) const {
        bool const v6 = address_.host.find(':') != std::string::npos;
        return (tls_ ? "https://" : "http://") + (v6 ? "[" + address_.host + "]" : address_.host) +
               ":" + std::to_string(port);
    }

    // `dormouse mcp` for the program that is this session's agent, with a token of its own. With
    // TLS it must come by the name that the certificate is for.
    [[nodiscard]] std::vector<acp::McpServer> own_tools(SessionId const& session) {
        std::error_code none;
        std::string const binary = std::filesystem::read_symlink("/proc/self/exe", none).string();
        std::string const url = tls_ ? config_.server.public_url : loopback_url();
        if (url.empty() || binary.empty()) return {};
        std::string const secret = "dmp_" + base64url(entropy_.random());
        gate_.tokens().add_program(session, secret);
        return {{"dormouse",
                 binary,
                 {"mcp", "--session", session.text(), "--server", url},
                 {{"DORMOUSE_TOKEN", secret}}}};
    }

    // Where a program on this machine reaches the server.
    [[nodiscard]] std::string loopback_url() const {
        std::string url = address_url_;
        for (std::string_view const any : {"//0.0.0.0:", "//[::]:"}) {
            if (auto const at = url.find(any); at != std::string::npos)
                url.replace(at, any.size(), any == "//[::]:" ? "//[::1]:" : "//127.0.0.1:");
        }
        return url;
    }

    // Links are made from public_url, never from what a request says.
    [[nodiscard]] agent::Surroundings surroundings() {
        return {[this](PendingId const& pending) {
                    std::string const& url = config_.server.public_url;
                    return (url.empty() ? address_url_ : url) + "/c/" +
                           gate_.capabilities().token(pending);
                },
                [this] { return clock_.now(); }};
    }

    // Where people find what waits for them.
    [[nodiscard]] webhook::Pump::Options pump_options() {
        auto out = webhook_options(config_, [this](PendingId const& pending) {
            std::string const& url = config_.server.public_url;
            return (url.empty() ? address_url_ : url) + "/a/" + pending.text();
        });
        out.outgoing.programs = true;
        out.program = [this](port::PostRow const& row, std::string const& body, auto done) {
            forget(row, json::View(body), std::move(done));
        };
        out.given_up_after = config_.retention.dead_deliveries_after;
        out.failed = [this](port::PostRow const& row, std::string const& why, bool last) {
            std::string const what =
                row.target.starts_with("agent:") ? "the deletion of a session" : "a webhook";
            log_.warn(what + (last ? " is not tried any more" : " was not taken"),
                      {{"delivery", webhook::delivery_text(row.key)}, {"why", why}});
        };
        return out;
    }

    void watch_validators() {
        using Word = external::Validators::Word;
        validators_.on_judged([this](PendingId const& pending, std::string const& tool, Word word,
                                     std::string const& why) {
            metrics_.validated(external::text(word));
            if (word == Word::fits || word == Word::misfit) return;
            log_.warn(word == Word::failed ? "a validator failed"
                                           : "a result found no room before its validator",
                      {{"pendingID", pending.text()}, {"tool", tool}, {"why", why}});
        });
    }

    // A program is told that a session of its was deleted (webhook::Letter::Kind::program).
    void forget(port::PostRow const& row, json::View body, webhook::Pump::Options::Told done) {
        agent::Agent const* const agent =
            registry_.agent(std::string_view(row.target).substr(std::string_view("agent:").size()));
        if (!agent || !agent->program)
            return done(fail(Code::not_found, "this agent is no program any more"));
        agent::Program::Left left{row.key.from, {}, body["cwd"].string_or("")};
        body["names"].elements([&](json::View name) { left.names.push_back(name.string_or("")); });
        agent->program->forget(std::move(left), std::move(done));
    }

    void announce() {
        // First, so that whoever has read the ready line can read these.
        for (config::Problem const& warning : config::warnings(config_))
            log_.warn(config::line_of(config_.file, warning));
        for (config::Agent const& agent : installed_agents(config_)) {
            bool const named = std::ranges::find(config_.agents, agent.id, &config::Agent::id) !=
                               config_.agents.end();
            if (!named)
                log_.info("agent " + agent.id + " was found: " + config::no_sandbox_text(config_));
        }
        look_for_forgotten(journal_, registry_, [this](std::string const& why) { log_.warn(why); });
        std::string const& url = address_url_;
        std::string const line = "ready " + url + "\n";
        int const fd = options_.ready_fd >= 0 ? options_.ready_fd : STDOUT_FILENO;
        if (::write(fd, line.data(), line.size()) < 0) log_.warn("nobody reads the ready line");
        log_.info("ready", {{"url", url},
                            {"store", config_.store.url},
                            {"data", options_.data},
                            {"config", config_.file}});
    }

    [[nodiscard]] Result<void> listen_for_metrics() {
        auto const address = parse_listen_address(config_.server.metrics_listen);
        if (!address) return {};
        server::HttpOptions options;
        options.address = address->host;
        options.port = address->port;
        options.connections_max = 64;
        metrics_http_ = std::make_unique<server::HttpServer>(loop_, options, metrics_face_, log_);
        auto const port = metrics_http_->listen();
        if (!port) return std::unexpected(port.error());
        log_.info("metrics", {{"host", address->host}, {"port", std::to_string(*port)}});
        return {};
    }

    void reload() {
        if (!tls_) return log_.info("SIGHUP: there is nothing to read anew");
        if (auto const done = tls_->reload(); !done)
            return log_.error("SIGHUP: the certificate stays as it was",
                              {{"why", done.error().detail}});
        log_.info("SIGHUP: the certificate was read anew");
    }

    // A second signal while stopping ends it at once.
    void stop(int status) {
        status_ = status;
        if (std::exchange(stopping_, true)) return loop_.stop();
        log_.info("stopping");
        metrics_http_.reset();
        pump_.stop();
        http_.stop_accepting();
        http_.close_streams("retry: 1000\nevent: bye\ndata: {\"reason\":\"draining\"}\n\n");
        runner_.drain([this] { http_.shutdown(shutdown_limit, [this] { loop_.stop(); }); });
    }

    io::AsioLoop& loop_;
    io::SystemClock& clock_;
    cli::ServeOptions const& options_;
    config::Config const config_;
    ListenAddress const address_;
    std::unique_ptr<io::TlsServer> const tls_;  // null: plain HTTP
    io::Log log_;
    io::SystemEntropy entropy_;
    agent::Registry const registry_;
    agent::RegistryCatalogue catalogue_;
    io::ToolThreads threads_;
    io::ThreadWorkers workers_;
    io::ToolThreads body_threads_{{.threads = 1, .name = "body"}};
    io::ThreadWorkers body_workers_{body_threads_, loop_};
    agent::AgentEffects effects_;
    io::StoreThread journal_;
    server::Metrics metrics_{clock_.now()};
    runner::CountedEffects counted_effects_{effects_};
    runner::CountedJournal counted_journal_{journal_, clock_};
    runner::Runner runner_;
    server::Gate gate_;
    server::Api api_;
    webhook::Pump pump_;
    MemoryGate memory_gate_;
    server::HttpServer http_;
    server::MetricsFace metrics_face_;
    std::unique_ptr<server::HttpServer> metrics_http_;  // null: none
    Slots const slots_;
    external::Validators& validators_;
    std::string address_url_;  // known once it listens
    bool stopping_ = false;
    int status_ = 0;
};

Result<Secrets> prepare(cli::ServeOptions const& options, std::string const& store) {
    std::error_code error;
    std::filesystem::create_directories(options.data, error);
    if (error)
        return fail(Code::store_unavailable,
                    "can not make " + options.data + ": " + error.message());
    io::SystemEntropy entropy;
    auto tokens = load_tokens(options.data, entropy);
    if (!tokens) return std::unexpected(std::move(tokens.error()));
    if (store == "memory") return Secrets{std::move(*tokens), {}, base64url(entropy.random())};
    auto key = load_capability_key(options.data, entropy);
    if (!key) return std::unexpected(std::move(key.error()));
    return Secrets{std::move(*tokens), {}, std::move(*key)};
}

}  // namespace

int serve(cli::ServeOptions const& options) {
    io::ignore_sigpipe();
    io::raise_fd_limit();
    auto config = load_config(options.config);
    if (!config) return complain(options.config, config.error());
    if (auto applied = apply_flags(options, config->server, config->store); !applied) {
        return complain(applied.error());
    }
    auto const address = listen_address(config->server.listen);
    if (!address) return complain(address.error());
    if (auto open = refuse_open(options.insecure, config->server, *address); !open)
        return complain(open.error());
    if (auto safe = refuse_exposed_data(*config, options.data); !safe)
        return complain(safe.error());
    auto tls = load_tls(*config);
    if (!tls) return complain(tls.error());
    if (auto const mistakes = mistakes_in(*config); !mistakes.empty())
        return complain(options.config, mistakes);
    World world(config->limits);
    Slots const slots;
    auto registry = assemble(
        *config,
        {world.http, world.processes, world.clock, world.validators, world.loop, world.entropy,
         slots.mail, [&world](std::string const& user) { return world.folders_of(user); },
         servers_from(slots.programs), ended_from(slots.programs), warnings_from(slots.programs),
         std::filesystem::absolute(options.data).string()});
    auto store = open_store(config->store.url, options.data);
    if (!store) return complain(store.error());
    auto secrets = prepare(options, config->store.url);
    if (!secrets) return complain(secrets.error());
    auto stored = (*store)->tokens();
    if (!stored) return complain(stored.error());
    secrets->stored = *std::move(stored);
    return Server(world, options, *std::move(config), std::move(registry), slots, *secrets, **store,
                  *std::move(tls))
        .run();
}

}  // namespace dormouse::app
