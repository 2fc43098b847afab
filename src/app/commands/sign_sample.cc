// Signs a delivery as a [[source]] of the configuration does, for `trigger` and `listen`.
#include "app/commands/programs.h"
#include "app/parts/webhooks.h"
#include "app/start/configuration.h"

#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/client.h"
#include "json/json.h"
#include "webhook/sample.h"

#include <algorithm>
#include <chrono>

namespace dormouse::app {

namespace {

// Why the configuration has no such source with a secret.
cli::Mistakes no_source(config::Config const& config, std::string const& id) {
    std::string names;
    for (config::Source const& source : config.sources) {
        if (source.id == id)
            return {"source " + id + " has no secret here: export a variable of its secrets_env"};
        names += (names.empty() ? "" : ", ") + source.id;
    }
    if (config.file.empty())
        return {"there is no configuration here: name that of the server with --config FILE"};
    return {config.file + (names.empty() ? " has no [[source]]"
                                         : " has no source " + id + "; there are: " + names)};
}

// Slack sends forms.
std::string content_type(std::string_view body) {
    return json::check(body) ? "application/json" : "application/x-www-form-urlencoded";
}

Result<std::string> body_of(webhook::Source const& source, cli::SampleOptions const& options) {
    if (options.body) return *options.body;
    auto const made = webhook::sample_payload(source, {.pending = options.pending,
                                                       .reference = options.reference,
                                                       .error = options.error,
                                                       .output = Json::trusted(options.output)});
    if (!made) return std::unexpected(made.error());
    return std::string(made->text());
}

}  // namespace

std::expected<cli::SignedDelivery, cli::Mistakes> sign_sample(cli::SampleOptions const& options) {
    auto const config = load_config(options.config);
    if (!config) return std::unexpected(config.error());
    auto const sources = webhook_sources(*config);
    auto const source = std::ranges::find(sources, options.source, &webhook::Source::id);
    if (source == sources.end()) return std::unexpected(no_source(*config, options.source));
    auto body = body_of(*source, options);
    if (!body)
        return std::unexpected(cli::Mistakes{"source " + source->id + ": " + body.error().detail});
    auto const now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    cli::SignedDelivery out{.target = "/async-tool/webhook/" + percent_encode(source->id),
                            .headers = webhook::sign(source->kind, source->secrets.front(),
                                                     "msg_" + cli::random_key(), *body, now),
                            .body = *std::move(body)};
    out.headers.emplace_back("Content-Type", content_type(out.body));
    return out;
}

}  // namespace dormouse::app
