#include "app/start/secrets.h"

#include "app/start/shared_records.h"

#include "app/parts/stores.h"
#include "http/access/token_file.h"
#include "io/clock.h"
#include "serve/serving.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace dormouse::app {

namespace {

// The key is made when notifications to devices are configured first.
Result<std::optional<webhook::PushSender>> push_of(config::Config const& config,
                                                   std::string const& store, port::Entropy& entropy,
                                                   http::Agree const& agree) {
    bool const wanted = std::ranges::find(config.notifies, NotifyKind::web_push,
                                          &config::Notify::kind) != config.notifies.end();
    if (!wanted) return std::nullopt;
    auto key = store == ":memory:" ? Result<P256Secret>(http::new_push_key(entropy))
                                   : http::load_push_key(store, entropy, agree);
    if (!key) return std::unexpected(std::move(key.error()));
    config::Server const& server = config.server;
    return webhook::push_sender(
        *key, server.push_contact.empty() ? server.public_url : server.push_contact);
}

// Returns the function that agrees on shared secrets; empty: this process uses the store alone.
http::Agree agree_in(runtime::OpenedStore const& opened) {
    if (!opened.shared) return {};
    return [store = opened.shared](std::string const& name, std::string const& proposed) {
        return store->agree(name, proposed);
    };
}

}  // namespace

Result<Secrets> load_secrets(std::string const& data, config::Config const& config,
                             runtime::OpenedStore const& opened) {
    auto const agree = agree_in(opened);
    // The keys are in the data directory beside any store that outlives the process.
    std::string const keys = in_memory(config.store) ? ":memory:" : data;
    std::error_code error;
    std::filesystem::create_directories(data, error);
    if (error) return fail(Code::store_unavailable, "cannot make " + data + ": " + error.message());
    io::SystemEntropy entropy;
    auto tokens = http::load_tokens(data, entropy, agree);
    if (!tokens) return std::unexpected(std::move(tokens.error()));
    auto key = serve::capability_key(keys, entropy, agree);
    if (!key) return std::unexpected(std::move(key.error()));
    auto push = push_of(config, keys, entropy, agree);
    if (!push) return std::unexpected(std::move(push.error()));
    auto stored = opened.store->tokens();
    if (!stored) return std::unexpected(std::move(stored.error()));
    auto devices = opened.store->devices();
    if (!devices) return std::unexpected(std::move(devices.error()));
    auto sign_ins =
        opened.shared ? opened.shared->values(sign_in_values) : std::vector<port::SharedValue>();
    if (!sign_ins) return std::unexpected(std::move(sign_ins.error()));
    return Secrets{.tokens = std::move(*tokens),
                   .stored = *std::move(stored),
                   .capability_key = std::move(*key),
                   .devices = *std::move(devices),
                   .push = *std::move(push),
                   .sign_ins = *std::move(sign_ins)};
}

}  // namespace dormouse::app
