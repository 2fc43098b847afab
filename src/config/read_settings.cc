#include "config/parts.h"

#include <array>

namespace dormouse::config {

Server read_server(Section const& section) {
    Server out;
    section.read("listen", out.listen);
    section.read("public_url", out.public_url);
    section.read("allowed_hosts", out.allowed_hosts);
    section.read("allowed_origins", out.allowed_origins);
    section.read("trusted_proxies", out.trusted_proxies);
    section.read("tls_cert", out.tls_cert);
    section.read("tls_key", out.tls_key);
    section.read("metrics_listen", out.metrics_listen);
    section.read("webhook_hosts", out.webhook_hosts);
    section.read("demo", out.demo);
    section.read("remind_after", out.remind_after);
    section.read("remind_every", out.remind_every);
    if (!out.remind_after) out.remind_after = out.remind_every;
    if (out.tls_cert.empty() != out.tls_key.empty()) {
        bool const cert = out.tls_key.empty();
        section.report(cert ? "tls_cert" : "tls_key", "stands alone",
                       std::string("name the file of ") +
                           (cert ? "its key in tls_key" : "its certificate in tls_cert"));
    }
    return out;
}

Store read_store(Section const& section) {
    Store out;
    section.read("url", out.url);
    return out;
}

Limits read_limits(Section const& section) {
    Limits out;
    section.read("submissions_per_token_per_s", out.submissions_per_token_per_s);
    section.read("submissions_per_call_per_s", out.submissions_per_call_per_s);
    section.read("failed_auth_per_address_per_s", out.failed_auth_per_address_per_s);
    section.read("connections", out.connections);
    section.read("connections_per_address", out.connections_per_address);
    section.read("buffer_bytes", out.buffer_bytes);
    section.read("header_bytes", out.header_bytes);
    section.read("header_time_limit", out.header_time_limit);
    section.read("body_time_limit", out.body_time_limit);
    section.read("idle_time_limit", out.idle_time_limit);
    section.read("heartbeat", out.heartbeat);
    section.read("resident_sessions", out.resident_sessions);
    section.read("resident_bytes", out.resident_bytes);
    section.read("validators_at_once", out.validators_at_once);
    section.read("validators_waiting", out.validators_waiting);
    section.read("prompt_bytes", out.prompt_bytes);
    section.read("output_bytes", out.output_bytes);
    section.read("queued_prompts", out.queued_prompts);
    section.read("open_calls", out.open_calls);
    section.read("calls_per_reply", out.calls_per_reply);
    section.read("progress_per_s", out.progress_per_s);
    section.read("progress_per_call", out.progress_per_call);
    if (out.calls_per_reply > out.open_calls) {
        bool const calls = section.given("calls_per_reply");
        section.report(calls ? "calls_per_reply" : "open_calls",
                       "does not fit: " + std::to_string(out.calls_per_reply) +
                           " calls of a reply, " + std::to_string(out.open_calls) + " open ones",
                       "let open_calls be no less than calls_per_reply");
    }
    return out;
}

Retention read_retention(Section const& section) {
    Retention out;
    section.read("completed_after", out.completed_after);
    section.read("audit_after", out.audit_after);
    section.read("dead_deliveries_after", out.dead_deliveries_after);
    section.read("message_age", out.message_age);
    for (auto* const age :
         {&out.completed_after, &out.audit_after, &out.dead_deliveries_after, &out.message_age})
        if (*age == Duration::max()) age->reset();
    section.read("messages_per_session", out.messages_per_session);
    section.read("session_bytes", out.session_bytes);
    return out;
}

Project read_project(Section const& section, Reading const& /*reading*/) {
    Project out;
    out.line = section.line();
    section.read("id", out.id);
    constexpr std::array wakes{session::Wake::usual, session::Wake::never, session::Wake::always};
    if (auto const word = section.word("mail")) out.mail.usual = wakes.at(*word);
    section.read("mail_tells_parent", out.mail.tells_the_parent);
    section.read("mail_to", out.mail_to);
    return out;
}

}  // namespace dormouse::config
