#include "serve/serving.h"

#include "base/text/split.h"
#include "base/text/text.h"
#include "base/url.h"
#include "http/resources/devices/device_changes.h"
#include "http/resources/operations/handlers.h"
#include "http/resources/tokens/mail_links.h"
#include "http/resources/tokens/oidc_sign_in.h"
#include "http/resources/webhooks/webhooks.h"

#include <algorithm>
#include <utility>

namespace dormouse::serve {

namespace {

// The server's public address is always allowed.
http::GateOptions with_own_address(http::GateOptions options) {
    if (auto const own = parse_url(options.public_url)) {
        options.allowed_origins.push_back(own->origin());
        options.allowed_hosts.push_back(own->authority());
    }
    return options;
}

}  // namespace

Result<std::string> capability_key(std::string const& store, port::Entropy& entropy,
                                   http::Agree const& agree) {
    if (store == ":memory:") return base64url(entropy.random());
    return http::load_capability_key(store, entropy, agree);
}

port::Processes::Number NoProcesses::start(port::ProcessSpec /*spec*/,
                                           port::Fn<void(port::ProcessEnd)> done) {
    loop_.post([done = std::move(done)]() mutable {
        port::ProcessEnd end;
        end.how = port::ProcessEnd::How::not_started;
        end.error = "a runtime that is embedded runs no programs";
        done(std::move(end));
    });
    return 0;
}

Serving::Serving(runtime::Node& node, ServingSettings settings)
    : node_(node),
      options_(settings.http),
      public_url_(settings.gate.public_url),
      recorded_(std::move(settings.recorded)),
      ended_(std::move(settings.ended)),
      appended_(std::move(settings.appended)),
      settled_(std::move(settings.settled)),
      deleted_(std::move(settings.deleted)),
      failed_(std::move(settings.failed)),
      released_(std::move(settings.released)),
      people_mail_(settings.people.mail != nullptr),
      outgoing_(outgoing_of(settings)),
      log_(std::move(settings.log)),
      metrics_(node.services.clock.now()),
      gate_(with_own_address(settings.gate), node.services.clock),
      api_(services(settings)),
      no_processes_(node.services.loop),
      client_(node.services.loop, {.active_max = webhook::Pump::at_once}),
      pump_(
          {node.services.loop, node.services.clock, node.services.entropy, node.journal, client_,
           settings.processes ? *settings.processes : static_cast<port::Processes&>(no_processes_)},
          pump_options(settings)),
      memory_gate_(api_, settings.reserve, node.runner, node.services.loop),
      http_(node.services.loop, node.services.clock, options_, memory_gate_, log_),
      metrics_face_(services({})) {
    for (port::TokenRow const& token : settings.tokens) gate_.tokens().add(token);
    for (port::DeviceRow const& device : settings.devices) gate_.devices().put(device);
    node_.count_by(&metrics_);
    node_.journal.on_failed([this](Error const& error) {
        log_.warn("the store did not take an append",
                  {{"code", info(error.code).text}, {"why", error.detail}});
    });
    metrics_.models = [&node] { return node.models(); };
    metrics_.model_of = [&node](std::string const& agent) {
        auto const agents = node.catalogue.agents();
        auto const at = std::ranges::find(agents, agent, &port::AgentEntry::id);
        return at == agents.end() ? std::string() : at->model;
    };
    if (settings.model_name) metrics_.model_work().name_of = settings.model_name;
    metrics_.shared_with = [&node]() -> std::optional<http::Metrics::SharedWith> {
        auto* const nodes = node.shared_nodes();
        if (!nodes) return std::nullopt;
        return http::Metrics::SharedWith{nodes->table().size(), nodes->removed(), nodes->fenced(),
                                         node.runner.taken_over(), node.feed_behind()};
    };
    if (node.database)
        metrics_.lost_commits = [&node] { return std::optional(node.database->lost_commits()); };
    if (settings.indexes) metrics_.indexes = settings.indexes;
    if (settings.exports) metrics_.exports = settings.exports;
    if (settings.copy) metrics_.copy = settings.copy;
    if (settings.archive) metrics_.archive = settings.archive;
    if (settings.metric_exports) metrics_.metric_exports = settings.metric_exports;
    metrics_.connections = [this] {
        auto const counts = http_.counts();
        return http::Metrics::Connections{counts.connections, counts.streams, counts.refused};
    };
    if (settings.measured)
        settings.measured({metrics_.start(), [this](auto done) {
                               http::collect_metrics(api_.services(), std::move(done));
                           }});
}

Serving::~Serving() {
    node_.journal.on_failed({});
    node_.count_by(nullptr);
}

http::Services Serving::services(ServingSettings const& settings) {
    return {.loop = node_.services.loop,
            .journal = node_.journal,
            .catalogue = node_.catalogue,
            .runner = node_.runner,
            .gate = gate_,
            .metrics = metrics_,
            .log = log_,
            .entropy = node_.services.entropy,
            .clock = node_.services.clock,
            .sources = settings.sources,
            .ages = settings.ages,
            .waiting_calls = settings.waiting_calls,
            .keep = settings.keep,
            .workers = &node_.bodies,
            .web_files = settings.web_files,
            .people = settings.people,
            .client = &client_,
            .webhook_hosts = lower_cased(settings.webhooks.allowed),
            .push = settings.push,
            .facts = facts_of(settings),
            .shared = node_.store->shared(),
            .oidc = oidc_of(settings),
            .foreign_sign_ins = settings.foreign_sign_ins,
            .foreign_sign_in_key =
                hex(hmac_sha256(settings.gate.capability_key, "dormouse mcp sign-in 1")),
            .find_token = node_.find_token,
            .indexes = settings.indexes,
            .database = node_.database,
            .audit_ends = node_.audit_ends,
            .removed = node_.removed,
            .publish = publisher(),
            .shared_values = node_.shared_store,
            .signal_failure = [&node = node_] { return node.channel_failure(); },
            .unwritable = [&node = node_] { return node.unwritable(); },
            .exports = settings.exports,
            .copy = settings.copy,
            .archive = settings.archive,
            .copy_now = settings.copy_now,
            .release = [this](auto done) { release(std::move(done)); },
            .reload = settings.reload};
}

void Serving::report_settled(std::vector<wire::RecordPtr> const& records) const {
    if (!settled_) return;
    for (wire::RecordPtr const& record : records)
        if (auto const* receipt = session::receipt_in(record->event)) settled_(*receipt);
}

void Serving::apply(ServingChanges changes) {
    http::Services& services = api_.services();
    services.facts.config = std::move(changes.config);
    services.sources = std::move(changes.sources);
    services.ages = changes.ages;
    services.waiting_calls = changes.waiting_calls;
    services.keep = changes.keep;
    api_.cutter().set_keep(changes.keep);
    services.people.persons = std::move(changes.persons);
    services.people.slack_secrets = std::move(changes.slack_secrets);
    services.webhook_hosts = lower_cased(changes.webhooks.allowed);
    outgoing_.hooks = changes.webhooks.hooks;
    outgoing_.notices = changes.webhooks.notices;
    pump_.apply(std::move(changes.webhooks));
    gate_.apply(with_own_address(std::move(changes.gate)));
    http_.set_limits(changes.http);
}

std::function<void(std::string_view)> Serving::publisher() const {
    if (!node_.shared_store) return {};
    return [&node = node_](std::string_view text) { node.publish(text); };
}

void Serving::release(port::Fn<void(Result<void>)> done) {
    node_.remove_hold([this, done = std::move(done)](Result<void> removed) mutable {
        if (!removed) return done(std::move(removed));
        begin_work();
        done({});
    });
}

// A heartbeat may say so while what is needed first is being started.
void Serving::begin_work() {
    if (std::exchange(begun_, true)) return;
    auto work = [this] {
        node_.release();
        pump_.start();
        log_.info("the restored copy was released");
    };
    released_ ? released_(work) : work();
}

// Slow receivers of webhooks must not delay a sign-in: it uses the client of the node.
std::shared_ptr<http::OidcSettings const> Serving::oidc_of(ServingSettings const& settings) const {
    if (settings.oidc) {
        settings.oidc->client = &node_.services.http;
        settings.oidc->clock = &node_.services.clock;
    }
    return settings.oidc;
}

http::ServerFacts Serving::facts_of(ServingSettings const& settings) const {
    auto out = settings.facts;
    if (out.starts.empty())
        out.starts.push_back(
            {.epoch = node_.store->epoch(), .started = node_.services.clock.now()});
    return out;
}

webhook::Outgoing Serving::outgoing_of(ServingSettings const& settings) {
    webhook::Outgoing out = settings.webhooks.outgoing;
    if (settings.push) out.devices = [this] { return http::push_receivers(api_); };
    return out;
}

webhook::Pump::Options::Push Serving::push_options(webhook::PushSender const& sender) {
    webhook::Pump::Options::Push out{.tokens = std::make_shared<webhook::VapidTokens>(sender)};
    out.device = [this](std::string const& id) { return http::push_device_of(api_, id); };
    out.gone = [this](std::string const& id) {
        http::remove_device(api_, "device_gone", {}, id, [this](Result<void> done) {
            if (!done && done.error().code != Code::not_found)
                log_.warn("a device was not removed", {{"why", done.error().detail}});
        });
    };
    return out;
}

// nullopt: this process alone sends.
std::optional<webhook::Pump::Options::Sharing> Serving::sharing() {
    if (!node_.shared_store) return std::nullopt;
    using Keys = std::vector<port::OutboxKey>;
    auto claim = [this](Keys keys, Time until, port::Fn<void(Keys)> use) {
        auto const taken = std::make_shared<Keys>();
        auto take = [this, keys = std::move(keys), taken, now = node_.services.clock.now(),
                     until](port::Store& /*store*/) -> Result<void> {
            auto claimed = node_.shared_store->claim(keys, now, until);
            if (!claimed) return std::unexpected(std::move(claimed.error()));
            *taken = *std::move(claimed);
            return {};
        };
        node_.journal.write(std::move(take), [taken, use = std::move(use)](auto const&) mutable {
            use(std::move(*taken));
        });
    };
    auto renew = [this](std::vector<port::OutboxClaim> claims, Time until,
                        port::Fn<void(Result<Keys>)> use) {
        auto const kept = std::make_shared<Keys>();
        auto extend = [this, claims = std::move(claims), kept,
                       until](port::Store& /*store*/) -> Result<void> {
            auto renewed = node_.shared_store->renew(claims, until);
            if (!renewed) return std::unexpected(std::move(renewed.error()));
            *kept = *std::move(renewed);
            return {};
        };
        node_.journal.write(std::move(extend),
                            [kept, use = std::move(use)](Result<void> done) mutable {
                                if (!done) return use(std::unexpected(std::move(done.error())));
                                use(std::move(*kept));
                            });
    };
    auto delivered_since = [this](std::string const& target, Time since,
                                  port::Fn<void(Result<bool>)> use) {
        auto question = [this, target, since](port::Store& /*store*/) {
            return node_.shared_store->delivered_since(target, since);
        };
        port::ask(node_.journal, std::move(question), std::move(use));
    };
    return webhook::Pump::Options::Sharing{
        .has_share = [this](std::uint64_t number) { return node_.nodes.has_share(number); },
        .claim = std::move(claim),
        .renew = std::move(renew),
        .delivered_since = std::move(delivered_since),
        .node = node_.nodes.name()};
}

webhook::Pump::Options Serving::pump_options(ServingSettings const& settings) {
    webhook::Pump::Options options = settings.webhooks;
    options.sharing = sharing();
    if (settings.push) options.push = push_options(*settings.push);
    using End = http::Metrics::DeliveryEnd;
    options.waits = [this](PendingId const& pending, port::Fn<void(bool)> then) {
        http::ask_waits(api_, pending, std::move(then));
    };
    options.delivered = [this](port::OutboxRow const& row) {
        metrics_.delivery_ended(End::delivered);
        metrics_.receivers().accepted(row.target);
    };
    options.withdrawn = [this](port::OutboxRow const& /*row*/) {
        metrics_.delivery_ended(End::withdrawn);
    };
    options.failed = [this](port::OutboxRow const& row, std::string const& why, bool last) {
        metrics_.delivery_ended(last ? End::given_up : End::failed);
        // Devices that are gone are removed.
        if (!last || !row.target.starts_with(webhook::push_target))
            metrics_.receivers().refused(row.target, row.attempts + 1, why,
                                         node_.services.clock.now());
        std::string const what =
            row.target.starts_with("agent:") ? "the deletion of a session" : "a webhook";
        log_.warn(what + (last ? " is not tried any more" : " was not taken"),
                  {{"delivery", webhook::delivery_text(row)}, {"why", why}});
    };
    if (!people_mail_) return options;
    options.mail = [this](webhook::Notice const& notice, webhook::Notification const& it,
                          std::string const& id, std::function<bool()> wanted,
                          webhook::Pump::Options::Done done) {
        http::mail_notification(api_, notice.person, it, id, std::move(wanted), std::move(done));
    };
    return options;
}

Result<std::string> Serving::listen(int listener) {
    auto const port = http_.listen(listener);
    if (!port) return std::unexpected(port.error());
    gate_.set_port(*port);
    std::string const& host = options_.address;
    address_url_ = (options_.tls ? "https://" : "http://") +
                   (host.contains(':') ? "[" + host + "]" : host) + ":" + std::to_string(*port);
    if (auto* const nodes = node_.shared_nodes()) nodes->set_url(url());
    return address_url_;
}

Result<std::uint16_t> Serving::listen_for_metrics(ListenAddress const& address) {
    http::HttpOptions options;
    options.address = address.host;
    options.port = address.port;
    options.connections_max = 64;
    metrics_http_ = std::make_unique<http::HttpServer>(node_.services.loop, node_.services.clock,
                                                       options, metrics_face_, log_);
    return metrics_http_->listen();
}

void Serving::start() {
    api_.webhooks().start();
    if (!node_.held()) pump_.start();
    memory_gate_.start();
}

void Serving::stop_accepting() {
    metrics_http_.reset();
    pump_.stop();
    http_.stop_accepting();
    http_.close_streams("retry: 1000\nevent: bye\ndata: {\"reason\":\"draining\"}\n\n");
}

void Serving::end(port::Fn<void()> done) {
    http_.shutdown(shutdown_limit, [this, done = std::move(done)]() mutable {
        ended_ ? ended_(std::move(done)) : done();
    });
}

void Serving::end_within(Duration limit, port::Fn<void()> done) {
    http_.stop_accepting();
    http_.shutdown(limit, std::move(done));
}

}  // namespace dormouse::serve
