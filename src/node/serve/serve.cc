#include "runtime/engine/engine.h"

#include "base/text/text.h"
#include "base/url.h"
#include "http/access/token_file.h"
#include "runtime/stores.h"
#include "serve/serving.h"

#include <algorithm>

// Runs the HTTP server on the loop of a Runtime.
namespace dormouse {

namespace {

constexpr std::size_t token_bytes_min = 16;

Result<std::vector<http::Token>> tokens_of(ServeSettings const& settings, std::string const& store,
                                           port::Entropy& entropy) {
    bool const directory = store != ":memory:" && !runtime::is_database(store);
    if (settings.token.empty() && directory) return http::load_tokens(store, entropy);
    bool const visible =
        std::ranges::all_of(settings.token, [](unsigned char c) { return c > 0x20 && c < 0x7F; });
    if (settings.token.size() >= token_bytes_min && visible)
        return std::vector<http::Token>{{"program", settings.token}};
    std::string const why = settings.token.empty() ? "; this store has no token file" : "";
    return fail(Code::bad_value,
                "ServeSettings::token must be at least 16 bytes of visible ASCII" + why);
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

// Blocks: reads files, and creates missing ones.
Result<serve::ServingSettings> checked(ServeSettings const& settings, std::string const& store,
                                       port::Entropy& entropy) {
    serve::ServingSettings out;
    auto address = parse_listen_address(settings.listen);
    if (!address)
        return fail(Code::bad_value, "listen '" + settings.listen +
                                         "' must be ADDRESS:PORT, for example 127.0.0.1:3676");
    out.http.address = address->host;
    out.http.port = address->port;
    if (!address->loopback && !settings.insecure)
        return fail(Code::forbidden, settings.listen +
                                         " is reachable from other machines without TLS; listen on "
                                         "a loopback address behind a proxy, or set insecure");
    std::string& public_url = out.gate.public_url;
    public_url = settings.public_url;
    if (public_url.ends_with('/')) public_url.pop_back();
    if (!public_url.empty()) {
        if (auto const why = wrong_url(public_url); !why.empty())
            return fail(Code::bad_value, "public_url " + std::string(why));
    }
    auto tokens = tokens_of(settings, store, entropy);
    if (!tokens) return std::unexpected(std::move(tokens.error()));
    out.gate.tokens = *std::move(tokens);
    out.log = log_options(settings);
    out.webhooks.allowed = settings.webhook_hosts;
    // For a database, this key is proposed to the processes that share it.
    auto key = serve::capability_key(runtime::is_database(store) ? ":memory:" : store, entropy);
    if (!key) return std::unexpected(std::move(key.error()));
    out.gate.capability_key = *std::move(key);
    return out;
}

// Agrees on one key, so that callback URLs of one process are valid in all that share the store.
// `done` is called once.
void agree_on_key(runtime::Node& node, std::string const& proposed,
                  port::Fn<void(Result<std::string>)> done) {
    if (!node.shared_store) return done(proposed);
    auto const key = std::make_shared<std::string>();
    auto agree = [&node, key, proposed](port::Store& /*store*/) -> Result<void> {
        auto agreed = node.shared_store->agree("callback.key", proposed);
        if (!agreed) return std::unexpected(std::move(agreed.error()));
        *key = *std::move(agreed);
        return {};
    };
    node.journal.write(std::move(agree),
                       [key, done = std::move(done)](Result<void> agreed) mutable {
                           if (!agreed) return done(std::unexpected(std::move(agreed.error())));
                           done(*key);
                       });
}

// Begins to serve with the tokens of the store, those created over HTTP among them.
void serve_on(runtime::Node& node, serve::ServingSettings settings,
              runtime::Reply<std::string> reply) {
    auto use = [&node, settings = std::move(settings),
                reply = std::move(reply)](Result<std::vector<port::TokenRow>> stored) mutable {
        if (!stored) return reply(std::unexpected(std::move(stored.error())));
        if (node.attached) return reply(fail(Code::conflict, "this runtime serves already"));
        settings.tokens = *std::move(stored);
        auto serving = std::make_unique<serve::Serving>(node, std::move(settings));
        auto address = serving->listen();
        if (address) {
            serving->start();
            node.attached = std::move(serving);
        }
        reply(std::move(address));
    };
    port::ask(
        node.journal, [](port::AccessStore& store) { return store.tokens(); }, std::move(use));
}

}  // namespace

Result<std::string> Runtime::serve(ServeSettings const& settings) {
    auto& node = engine_->node();
    auto found = checked(settings, engine_->store(), node.services.entropy);
    if (!found) return std::unexpected(std::move(found.error()));
    return engine_->block<std::string>(
        [&node, checked = *std::move(found)](runtime::Reply<std::string> reply) mutable {
            std::string const proposed = checked.gate.capability_key;
            agree_on_key(node, proposed,
                         [&node, checked = std::move(checked),
                          reply = std::move(reply)](Result<std::string> key) mutable {
                             if (!key) return reply(std::unexpected(std::move(key.error())));
                             checked.gate.capability_key = *std::move(key);
                             serve_on(node, std::move(checked), std::move(reply));
                         });
        });
}

}  // namespace dormouse
