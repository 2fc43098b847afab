#include "app/adapters.h"
#include "app/programs.h"
#include "app/token.h"

#include "agent/demo.h"
#include "agent/effects.h"
#include "base/text.h"
#include "io/clock.h"
#include "io/fd_limit.h"
#include "io/log.h"
#include "io/loop.h"
#include "io/signals.h"
#include "io/store_thread.h"
#include "runner/runner.h"
#include "server/api.h"
#include "server/transport.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

#include <unistd.h>
#include <cstdio>
#include <filesystem>

namespace dormouse::app {

namespace {

constexpr Duration shutdown_limit{4'000};

struct Address {
    std::string host;
    std::uint16_t port = 0;
    bool loopback = false;
};

// "127.0.0.1:3676", "[::1]:0"
Result<Address> parse_address(std::string const& text) {
    auto const colon = text.rfind(':');
    auto const port =
        colon == std::string::npos ? std::nullopt : parse_number(text.substr(colon + 1));
    if (!port || *port > 65'535 || colon == 0) {
        return fail(Code::bad_value,
                    "--listen " + text + ": must be ADDRESS:PORT, for example 127.0.0.1:3676");
    }
    Address address{text.substr(0, colon), static_cast<std::uint16_t>(*port), false};
    if (address.host.front() == '[' && address.host.back() == ']') {
        address.host = address.host.substr(1, address.host.size() - 2);
    }
    if (address.host == "localhost") address.host = "127.0.0.1";
    address.loopback = address.host.starts_with("127.") || address.host == "::1";
    return address;
}

Result<std::unique_ptr<port::Store>> open_store(cli::ServeOptions const& options) {
    if (options.store == "memory") return std::make_unique<store::MemoryStore>();
    if (options.store == "sqlite") return store::SqliteStore::open(options.data);
    return fail(Code::bad_value, "--store " + options.store + ": must be sqlite or memory");
}

int complain(Error const& error) {
    std::fprintf(stderr, "dormouse serve: %s\n", error.detail.c_str());
    return info(error.code).exit == 0 ? 1 : info(error.code).exit;
}

// Everything that lives as long as the server, in the order in which it depends on each other.
class Server {
public:
    Server(cli::ServeOptions const& options, Address address, std::vector<server::Token> tokens,
           port::Store& store)
        : options_(options),
          address_(std::move(address)),
          registry_(make_registry()),
          catalogue_(registry_),
          workers_(threads_, loop_),
          effects_(registry_, workers_),
          journal_(store, loop_),
          runner_({loop_, clock_, entropy_, journal_, effects_},
                  {.epoch = store.epoch(), .next_session_number = store.next_session_number()}),
          gate_(gate_options(options, std::move(tokens)), clock_),
          api_({loop_, journal_, catalogue_, runner_, gate_}),
          http_(loop_, {.address = address_.host, .port = address_.port}, api_, log_) {}

    int run() {
        auto const port = http_.listen();
        if (!port) return complain(port.error());
        gate_.set_port(*port);
        io::Signals const signals(loop_, [this](int) { stop(0); });
        runner_.on_failed([this] { fail_stop(); });
        runner_.start();
        announce(*port);
        loop_.run();
        threads_.stop();
        journal_.stop();
        return status_;
    }

private:
    static agent::Registry make_registry() {
        agent::Registry registry;
        agent::add_demo_agents(registry);
        return registry;
    }

    // The address under which people know the server is always allowed.
    static server::GateOptions gate_options(cli::ServeOptions const& options,
                                            std::vector<server::Token> tokens) {
        server::GateOptions out;
        out.tokens = std::move(tokens);
        out.allowed_hosts = options.allowed_hosts;
        out.allowed_origins = options.allowed_origins;
        auto const scheme = options.public_url.find("://");
        if (scheme == std::string::npos) return out;
        auto const end = options.public_url.find('/', scheme + 3);
        out.allowed_origins.push_back(options.public_url.substr(0, end));
        out.allowed_hosts.push_back(options.public_url.substr(
            scheme + 3, end == std::string::npos ? end : end - scheme - 3));
        return out;
    }

    void announce(std::uint16_t port) {
        bool const v6 = address_.host.find(':') != std::string::npos;
        std::string const url = "http://" + (v6 ? "[" + address_.host + "]" : address_.host) + ":" +
                                std::to_string(port);
        std::string const line = "ready " + url + "\n";
        int const fd = options_.ready_fd >= 0 ? options_.ready_fd : STDOUT_FILENO;
        if (::write(fd, line.data(), line.size()) < 0) log_.warn("nobody reads the ready line");
        log_.info("ready", {{"url", url}, {"store", options_.store}, {"data", options_.data}});
    }

    // A second signal while stopping ends it at once.
    void stop(int status) {
        status_ = status;
        if (std::exchange(stopping_, true)) return loop_.stop();
        log_.info("stopping");
        http_.stop_accepting();
        http_.close_streams("retry: 1000\nevent: bye\ndata: {\"reason\":\"draining\"}\n\n");
        runner_.drain([this] { http_.shutdown(shutdown_limit, [this] { loop_.stop(); }); });
    }

    // P10: after a failed sync nothing is written any more; a new process reads what the disk
    // really holds.
    void fail_stop() {
        log_.error(
            "a write to the disk failed; stopping, so that a new start reads what is really there");
        http_.stop_accepting();
        http_.shutdown(Duration(500), [this] { loop_.stop(); });
        status_ = 1;
    }

    cli::ServeOptions const& options_;
    Address const address_;
    io::Log log_;
    io::AsioLoop loop_;
    io::SystemClock clock_;
    io::SystemEntropy entropy_;
    agent::Registry const registry_;
    RegistryCatalogue catalogue_;
    io::ToolThreads threads_;
    ThreadWorkers workers_;
    agent::AgentEffects effects_;
    io::StoreThread journal_;
    runner::Runner runner_;
    server::Gate gate_;
    server::Api api_;
    server::HttpServer http_;
    bool stopping_ = false;
    int status_ = 0;
};

Result<std::vector<server::Token>> prepare(cli::ServeOptions const& options) {
    std::error_code error;
    std::filesystem::create_directories(options.data, error);
    if (error)
        return fail(Code::store_unavailable,
                    "can not make " + options.data + ": " + error.message());
    io::SystemEntropy entropy;
    return load_tokens(options.data, entropy);
}

}  // namespace

int serve(cli::ServeOptions const& options) {
    io::ignore_sigpipe();
    io::raise_fd_limit();
    auto address = parse_address(options.listen);
    if (!address) return complain(address.error());
    if (!address->loopback && !options.insecure) {
        return complain(
            {Code::forbidden,
             "--listen " + options.listen +
                 " is reachable from other machines without TLS; use a loopback address "
                 "behind a proxy, or say --insecure"});
    }
    auto store = open_store(options);
    if (!store) return complain(store.error());
    auto tokens = prepare(options);
    if (!tokens) return complain(tokens.error());
    return Server(options, std::move(*address), std::move(*tokens), **store).run();
}

}  // namespace dormouse::app
