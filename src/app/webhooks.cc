#include "app/webhooks.h"

#include "app/tools.h"

namespace dormouse::app {

namespace {

webhook::Kind kind_of(config::SourceKind kind) {
    switch (kind) {
        case config::SourceKind::standard: break;
        case config::SourceKind::hmac: return webhook::Kind::hmac;
        case config::SourceKind::github: return webhook::Kind::github;
        case config::SourceKind::slack: return webhook::Kind::slack;
    }
    return webhook::Kind::standard;
}

webhook::Notice notice_of(config::Notify const& notify) {
    webhook::Notice out;
    out.kind = static_cast<webhook::Notice::Kind>(notify.kind);
    static_assert(static_cast<int>(config::NotifyKind::command) ==
                  static_cast<int>(webhook::Notice::Kind::command));
    out.target = "notify:" + (notify.url               ? notify.url->env
                              : notify.command.empty() ? std::string()
                                                       : notify.command.front());
    if (notify.url) out.url = notify.url->value;
    out.command = notify.command;
    out.on = notify.on;
    out.reasons = notify.reasons;
    return out;
}

}  // namespace

webhook::Pump::Options webhook_options(config::Config const& config,
                                       std::function<std::string(PendingId const&)> page) {
    webhook::Pump::Options out;
    for (config::Webhook const& hook : config.webhooks) {
        out.outgoing.hooks.push_back(
            {hook.url, hook.secret ? hook.secret->value : "", hook.events, hook.project});
    }
    for (config::Notify const& notify : config.notifies)
        out.outgoing.notices.push_back(notice_of(notify));
    out.outgoing.page = std::move(page);
    out.allowed = config.server.webhook_hosts;
    out.environment = base_environment();
    for (config::Tool const& tool : config.tools) {
        if (tool.webhook_secret) out.tool_secrets[tool.name] = tool.webhook_secret->value;
    }
    return out;
}

std::vector<webhook::Source> webhook_sources(config::Config const& config) {
    std::vector<webhook::Source> out;
    for (config::Source const& source : config.sources) {
        if (source.secrets.empty()) continue;
        webhook::Source made{.id = source.id,
                             .kind = kind_of(source.kind),
                             .project = source.project,
                             .tools = source.tools,
                             .pending = source.pending,
                             .external_ref = source.external_ref,
                             .output = source.output,
                             .error = source.error,
                             .title = source.title,
                             .when = source.when};
        for (config::Secret const& secret : source.secrets) made.secrets.push_back(secret.value);
        out.push_back(std::move(made));
    }
    return out;
}

}  // namespace dormouse::app
