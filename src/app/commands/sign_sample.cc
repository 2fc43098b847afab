// Signs a delivery as a [[source]] of the configuration does, for `trigger` and `listen`.
#include "app/commands/programs.h"
#include "app/parts/webhooks.h"
#include "app/start/configuration.h"

#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/client.h"
#include "io/process/service_manager.h"
#include "json/json.h"
#include "webhook/sample.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

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
        return {"no configuration was found here: name that of the server with --config FILE"};
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
    return webhook::sample_body(source.kind, *made);
}

std::unexpected<cli::Mistakes> mistake(std::string what) {
    return std::unexpected(cli::Mistakes{std::move(what)});
}

// The Slack account of the person who presses.
std::expected<std::string, cli::Mistakes> slack_account(config::Config const& config,
                                                        std::string const& name) {
    std::vector<config::User const*> found;
    for (config::User const& user : config.users)
        if (!user.slack.empty() && (name.empty() || user.name == name)) found.push_back(&user);
    if (found.size() == 1) return found.front()->slack;
    if (found.empty() && !name.empty())
        return mistake("no [[user]] \"" + name + "\" with slack is in the configuration");
    if (found.empty()) return mistake("no [[user]] of the configuration has slack");
    std::string names;
    for (config::User const* const user : found) names += (names.empty() ? "" : ", ") + user->name;
    return mistake("several people can press it: name one with --as, of " + names);
}

Time wall_time() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

std::expected<cli::SignedDelivery, cli::Mistakes> sign_press(config::Config const& config,
                                                             cli::SampleOptions const& options) {
    config::Secret const* secret = nullptr;
    for (config::Notify const& notify : config.notifies)
        if (!secret && notify.signing_secret) secret = &*notify.signing_secret;
    if (!secret)
        return mistake(
            "no [[notify]] of kind slack-bot has its signing_secret_env here: export that "
            "variable");
    auto const user = slack_account(config, options.press->user);
    if (!user) return std::unexpected(user.error());
    cli::SignedDelivery out{.target = "/async-tool/slack",
                            .headers = {},
                            .body = webhook::sample_press({.user = *user,
                                                           .pending = options.pending,
                                                           .digest = options.press->digest,
                                                           .approves = options.press->approves})};
    out.headers = webhook::sign(webhook::Kind::slack, secret->value, {}, out.body, wall_time());
    out.headers.emplace_back("Content-Type", content_type(out.body));
    return out;
}

// The secret of a call: that of its tool, or what a variable holds.
std::expected<std::string, cli::Mistakes> own_secret(config::Config const& config,
                                                     cli::SampleOptions const& options) {
    if (!options.secret_env.empty()) {
        auto const value = io::variable_now(options.secret_env);
        if (value && !value->empty()) return *value;
        return mistake("the variable " + options.secret_env + " of --secret-env is not set");
    }
    auto const tool = std::ranges::find(config.tools, options.tool, &config::Tool::name);
    if (tool != config.tools.end() && tool->webhook_secret) return tool->webhook_secret->value;
    return mistake("tool " + options.tool +
                   " has no webhook_secret_env in the configuration: name the variable with the "
                   "secret of its calls with --secret-env");
}

std::expected<cli::SignedDelivery, cli::Mistakes> sign_own(config::Config const& config,
                                                           cli::SampleOptions const& options) {
    auto const secret = own_secret(config, options);
    if (!secret) return std::unexpected(secret.error());
    webhook::Source const source{.id = "default", .kind = webhook::Kind::hmac};
    auto body = body_of(source, options);
    if (!body) return mistake(body.error().detail);
    cli::SignedDelivery out{
        .target = "/async-tool/webhook",
        .headers =
            webhook::sign(source.kind, *secret, "msg_" + cli::random_key(), *body, wall_time()),
        .body = *std::move(body)};
    out.headers.emplace_back("Content-Type", content_type(out.body));
    return out;
}

}  // namespace

std::expected<cli::SignedDelivery, cli::Mistakes> sign_sample(cli::SampleOptions const& options) {
    auto const config = first_config(options.config);
    if (!config) return std::unexpected(config.error());
    if (!options.tool.empty()) return sign_own(*config, options);
    if (options.press) return sign_press(*config, options);
    auto const sources = webhook_sources(*config);
    auto const source = std::ranges::find(sources, options.source, &webhook::Source::id);
    if (source == sources.end()) return std::unexpected(no_source(*config, options.source));
    if (options.only_source) return cli::SignedDelivery{};
    auto body = body_of(*source, options);
    if (!body)
        return std::unexpected(cli::Mistakes{"source " + source->id + ": " + body.error().detail});
    cli::SignedDelivery out{
        .target = "/async-tool/webhook/" + percent_encode(source->id),
        .headers = webhook::sign(source->kind, source->secrets.front(), "msg_" + cli::random_key(),
                                 *body, wall_time()),
        .body = *std::move(body)};
    out.headers.emplace_back("Content-Type", content_type(out.body));
    return out;
}

}  // namespace dormouse::app
