#include "app/parts/settings.h"

#include "app/observe.h"
#include "app/parts/foreign_servers.h"
#include "app/parts/oidc.h"
#include "app/parts/webhooks.h"
#include "base/url.h"
#include "config/effective.h"

#include <filesystem>
#include <map>
#include <utility>

namespace dormouse::app {

namespace {

// Without its secrets.
http::GateOptions gate_options(config::Config const& config) {
    http::GateOptions out;
    out.allowed_hosts = config.server.allowed_hosts;
    out.allowed_origins = config.server.allowed_origins;
    out.failed_auth_per_address_per_s = config.limits.failed_auth_per_address_per_s;
    out.submissions_per_token_per_s = config.limits.submissions_per_token_per_s;
    out.submissions_per_call_per_s = config.limits.submissions_per_call_per_s;
    out.programs = programs_of(config);
    out.public_url = config.server.public_url;
    return out;
}

std::map<std::string, runner::Options::MailOfProject> mail_policies(config::Config const& config) {
    std::map<std::string, runner::Options::MailOfProject> out;
    for (config::Project const& project : config.projects)
        out[project.id] = {project.mail, project.mail_to};
    return out;
}

session::Limits session_limits(config::Config const& config) {
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

// Without its address.
http::HttpOptions http_limits(config::Limits const& limits) {
    return {.connections_max = limits.connections,
            .connections_per_address_max = limits.connections_per_address,
            .buffer_bytes_max = limits.buffer_bytes,
            .header_bytes_max = limits.header_bytes,
            .header_time_limit = limits.header_time_limit,
            .body_time_limit = limits.body_time_limit,
            .idle_time_limit = limits.idle_time_limit,
            .heartbeat = limits.heartbeat};
}

// A server that listens beyond this machine without TLS, because of a proxy, accepts only the
// proxy's connections.
http::HttpOptions http_options(config::Config const& config, ListenAddress const& address,
                               io::TlsServer* tls, bool insecure) {
    http::HttpOptions out = http_limits(config.limits);
    out.address = address.host;
    out.port = address.port;
    out.trusted_proxies = config.server.trusted_proxies;
    out.only_proxied = !address.loopback && !tls && !insecure;
    out.tls = tls;
    return out;
}

http::Ages ages_of(config::Retention const& retention) {
    return {retention.completed_after, retention.audit_after, retention.dead_deliveries_after};
}

runner::Keep keep_of(config::Retention const& retention) {
    return {.messages = retention.messages_per_session,
            .age = retention.message_age,
            .bytes = retention.session_bytes};
}

}  // namespace

runner::Options runner_options(config::Config const& config, session::TraceRules const& tracing) {
    return {.resident_max = config.limits.resident_sessions,
            .resident_bytes = config.limits.resident_bytes,
            .resident_time = config.limits.resident_time,
            .limits = session_limits(config),
            .tracing = tracing,
            .mail = mail_policies(config),
            .completed_after = config.retention.completed_after,
            .audit_after = config.retention.audit_after};
}

serve::ServingSettings serving_settings(cli::ServeOptions const& options,
                                        config::Config const& config, io::TlsServer* tls,
                                        Secrets const& secrets) {
    serve::ServingSettings out;
    out.http =
        http_options(config, *parse_listen_address(config.server.listen), tls, options.insecure);
    out.gate = gate_options(config);
    out.gate.tokens = secrets.tokens;
    out.gate.capability_key = secrets.capability_key;
    out.tokens = secrets.stored;
    out.devices = secrets.devices;
    out.push = secrets.push;
    out.log = log_options(options);
    out.sources = webhook_sources(config);
    out.people = people_of(config);
    out.oidc = oidc_of(config.oidc, secrets.capability_key);
    out.ages = ages_of(config.retention);
    out.waiting_calls = config.limits.waiting_calls;
    out.keep = keep_of(config.retention);
    return out;
}

serve::ServingChanges serving_changes(config::Config const& config) {
    http::People people = people_of(config);
    return {.config = config::effective_json(config),
            .http = http_limits(config.limits),
            .gate = gate_options(config),
            .sources = webhook_sources(config),
            .persons = std::move(people.persons),
            .slack_secrets = std::move(people.slack_secrets),
            .webhooks = webhook_changes(config),
            .ages = ages_of(config.retention),
            .waiting_calls = config.limits.waiting_calls,
            .keep = keep_of(config.retention)};
}

external::Validators::Limits validator_limits(config::Limits const& limits) {
    return {.at_once = limits.validators_at_once, .waiting = limits.validators_waiting};
}

Result<std::unique_ptr<io::TlsServer>> load_tls(config::Config const& config) {
    std::string const& cert = config.server.tls_cert;
    std::string const& key = config.server.tls_key;
    if (cert.empty() && key.empty()) return nullptr;
    if (cert.empty() || key.empty())
        return fail(Code::bad_value, "[server]: tls_cert and tls_key need each other");
    auto const folder = std::filesystem::path(config.file).parent_path();
    return io::TlsServer::load((folder / cert).string(), (folder / key).string());
}

}  // namespace dormouse::app
