#include "app/parts/webhooks.h"

#include "app/parts/tools.h"

#include <algorithm>

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

// Names the receiver in rows, without its address.
std::string name_of(config::Notify const& notify) {
    if (!notify.channel.empty()) return notify.token->env + ":" + notify.channel;
    if (notify.url) return notify.url->env;
    return notify.command.empty() ? "" : notify.command.front();
}

webhook::Notice notice_of(config::Notify const& notify) {
    webhook::Notice out;
    out.kind = notify.kind;
    out.target = "notify:" + name_of(notify);
    if (notify.url) out.url = notify.url->value;
    if (notify.token) out.token = notify.token->value;
    out.api_url = notify.api_url;
    out.channel = notify.channel;
    out.buttons = notify.signing_secret.has_value();
    out.command = notify.command;
    out.on = notify.on;
    out.reasons = notify.reasons;
    out.to = notify.to;
    return out;
}

// The roles under which a person may answer; those of an admin are all.
std::vector<std::string> roles_of(config::User const& user) {
    std::vector<std::string> out;
    for (std::string const role : {"read", "answer", "operate", "admin"}) {
        out.push_back("role:" + role);
        if (role == user.role) break;
    }
    return out;
}

// One receiver for each person.
void add_mails(config::Config const& config, config::Notify const& notify,
               std::vector<webhook::Notice>& out) {
    for (config::User const& user : config.users) {
        bool const meant =
            notify.to.empty() || std::ranges::find(notify.to, user.name) != notify.to.end();
        if (!meant || user.email.empty() || user.role == "read") continue;
        webhook::Notice made = notice_of(notify);
        made.target = "notify:email:" + user.name;
        made.person = user.name;
        made.projects = user.projects;
        made.roles = roles_of(user);
        out.push_back(std::move(made));
    }
}

}  // namespace

webhook::Pump::Changes webhook_changes(config::Config const& config) {
    webhook::Pump::Changes out;
    for (config::Webhook const& hook : config.webhooks) {
        out.hooks.push_back(
            {hook.url, hook.secret ? hook.secret->value : "", hook.events, hook.project});
    }
    for (config::Notify const& notify : config.notifies) {
        if (notify.kind == NotifyKind::email) {
            add_mails(config, notify, out.notices);
        } else {
            out.notices.push_back(notice_of(notify));
        }
    }
    out.allowed = config.server.webhook_hosts;
    for (config::Tool const& tool : config.tools) {
        if (tool.webhook_secret) out.tool_secrets[tool.name] = tool.webhook_secret->value;
    }
    out.given_up_after = config.retention.dead_deliveries_after;
    return out;
}

webhook::Pump::Options webhook_options(config::Config const& config,
                                       std::function<std::string(PendingId const&)> page) {
    webhook::Pump::Changes changes = webhook_changes(config);
    webhook::Pump::Options out;
    out.outgoing.hooks = std::move(changes.hooks);
    out.outgoing.notices = std::move(changes.notices);
    out.outgoing.page = std::move(page);
    out.allowed = std::move(changes.allowed);
    out.environment = base_environment();
    out.tool_secrets = std::move(changes.tool_secrets);
    out.given_up_after = changes.given_up_after;
    return out;
}

http::People people_of(config::Config const& config) {
    http::People out;
    out.mail_from = config.email.from;
    for (config::User const& user : config.users)
        out.persons.push_back({.name = user.name,
                               .role = http::parse_role(user.role).value_or(http::Role::read),
                               .projects = user.projects,
                               .email = user.email,
                               .slack = user.slack,
                               .subject = user.oidc_subject});
    for (config::Notify const& notify : config.notifies)
        if (notify.signing_secret) out.slack_secrets.push_back(notify.signing_secret->value);
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

std::unique_ptr<io::SmtpClient> mail_client_of(config::Config const& config, port::Loop& loop) {
    config::Email const& email = config.email;
    if (email.server.empty()) return nullptr;
    static_assert(static_cast<int>(config::MailTls::none) ==
                  static_cast<int>(io::MailServer::Tls::none));
    return std::make_unique<io::SmtpClient>(
        loop, io::MailServer{.host = email.server,
                             .tls = static_cast<io::MailServer::Tls>(email.tls),
                             .user = email.user,
                             .password = email.password ? email.password->value : ""});
}

}  // namespace dormouse::app
