#include "app/secrets.h"

#include "app/stores.h"

#include "http/access/token_file.h"
#include "io/clock.h"
#include "serve/serving.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace dormouse::app {

namespace {

// The key is made when notifications to devices are configured first.
Result<std::optional<webhook::PushSender>> push_of(config::Config const& config,
                                                   std::string const& store,
                                                   port::Entropy& entropy) {
    bool const wanted = std::ranges::find(config.notifies, NotifyKind::web_push,
                                          &config::Notify::kind) != config.notifies.end();
    if (!wanted) return std::nullopt;
    auto key = store == ":memory:" ? Result<P256Secret>(http::new_push_key(entropy))
                                   : http::load_push_key(store, entropy);
    if (!key) return std::unexpected(std::move(key.error()));
    config::Server const& server = config.server;
    return webhook::push_sender(
        *key, server.push_contact.empty() ? server.public_url : server.push_contact);
}

}  // namespace

Result<Secrets> load_secrets(cli::ServeOptions const& options, config::Config const& config) {
    // The keys are in the data directory beside any store that outlives the process.
    std::string const keys = in_memory(config.store) ? ":memory:" : options.data;
    std::error_code error;
    std::filesystem::create_directories(options.data, error);
    if (error)
        return fail(Code::store_unavailable,
                    "cannot make " + options.data + ": " + error.message());
    io::SystemEntropy entropy;
    auto tokens = http::load_tokens(options.data, entropy);
    if (!tokens) return std::unexpected(std::move(tokens.error()));
    auto key = serve::capability_key(keys, entropy);
    if (!key) return std::unexpected(std::move(key.error()));
    auto push = push_of(config, keys, entropy);
    if (!push) return std::unexpected(std::move(push.error()));
    return Secrets{.tokens = std::move(*tokens),
                   .stored = {},
                   .capability_key = std::move(*key),
                   .push = *std::move(push)};
}

}  // namespace dormouse::app
