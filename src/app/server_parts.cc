#include "app/server.h"

#include "app/parts/assemble.h"
#include "app/parts/foreign_servers.h"
#include "app/parts/stores.h"
#include "app/parts/webhooks.h"
#include "app/release.h"
#include "app/start/grant_file.h"
#include "app/start/shared_records.h"
#include "base/text/text.h"
#include "config/effective.h"
#include "external/validator.h"
#include "http/resources/mcp/sign_in.h"
#include "json/json.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace dormouse::app {

ArchiveSweeps::Services Server::archive_services() {
    return {.loop = services_.loop,
            .clock = services_.clock,
            .workers = node_.workers,
            .runner = node_.runner,
            .leads = [this] { return node_.nodes.leads(); },
            .warn =
                [this](std::string const& why) {
                    serving_->log().warn("completed sessions were not archived", {{"why", why}});
                }};
}

ToolServices Server::tool_services() {
    return {services_.http,
            services_.processes,
            services_.clock,
            services_.validators,
            services_.loop,
            services_.entropy,
            [this]() -> port::Mailer* { return serving_ ? &serving_->mail() : nullptr; },
            [&services = services_](std::string const& user) { return services.folders_of(user); },
            [this](SessionId const& session) {
                return serving_ ? own_tools(session) : std::vector<acp::McpServer>();
            },
            [this](SessionId const& session) {
                if (serving_) serving_->gate().tokens().remove_agent_token(session);
            },
            [this](SessionId const& session, std::string const& why) {
                if (serving_) serving_->log().warn(why, {{"sessionID", session.text()}});
            },
            std::filesystem::absolute(options_.data).string()};
}

std::vector<acp::McpServer> Server::own_tools(SessionId const& session) {
    std::error_code none;
    std::string const binary = std::filesystem::read_symlink("/proc/self/exe", none).string();
    std::string const url = tls_ ? config_.server.public_url : loopback_url();
    if (url.empty() || binary.empty()) return {};
    std::string const secret = "dmp_" + base64url(services_.entropy.random());
    serving_->gate().tokens().add_agent_token(session, secret);
    return {{"dormouse",
             binary,
             {"mcp", "--session", session.text(), "--server", url},
             {{"DORMOUSE_TOKEN", secret}}}};
}

std::string Server::data_directory() const {
    return in_memory(config_.store) ? std::string()
                                    : std::filesystem::absolute(options_.data).string();
}

http::ServerFacts Server::facts() const {
    http::ServerFacts out{
        .release = release(),
        .data = data_directory(),
        .config = config::effective_json(config_),
    };
    for (io::StartLine const& one : starts_.all())
        out.starts.push_back({one.epoch, one.started, one.alive, one.clean});
    return out;
}

std::string Server::loopback_url() const {
    std::string url = serving_->address_url();
    for (std::string_view const any : {"//0.0.0.0:", "//[::]:"}) {
        if (auto const at = url.find(any); at != std::string::npos)
            url.replace(at, any.size(), any == "//[::]:" ? "//[::1]:" : "//127.0.0.1:");
    }
    return url;
}

std::unique_ptr<mcp_client::Records> Server::sign_in_records(Secrets const& secrets) {
    auto lost = [this](std::string const& name, std::string const& why) {
        if (serving_)
            serving_->log().error("a sign-in to an MCP server was not stored",
                                  {{"record", name}, {"why", why}});
    };
    if (!node_.shared_store) return std::make_unique<GrantFile>(data_directory(), std::move(lost));
    return std::make_unique<SharedRecords>(
        SharedRecords::Services{services_.loop, node_.journal, *node_.shared_store},
        secrets.sign_ins, std::move(lost));
}

mcp_client::SignInServices Server::sign_in_services() {
    return {.records = sign_ins_.get(), .page = [this](std::string const& server) {
                return http::mcp_sign_in_url(serving_ ? serving_->url() : "", server);
            }};
}

void Server::follow_sign_ins() {
    auto const wants = [](mcp_client::ServerSettings const& one) {
        return one.sign_in.has_value();
    };
    if (std::ranges::any_of(servers_of(config_), wants))
        sign_ins_->follow([this] { foreign_.sign_ins_changed(); });
}

webhook::Pump::Options Server::pump_options() {
    auto out = webhook_options(config_, [this](PendingId const& pending) {
        return serving_->url() + "/a/" + pending.text();
    });
    out.outgoing.programs = true;
    out.external_agent = [this](port::OutboxRow const& row, std::string const& body, auto done) {
        forget(row, json::View(body), std::move(done));
    };
    return out;
}

void Server::report(port::IndexStatus const& index) {
    using enum port::IndexState;
    if (index.state == failed)
        return serving_->log().warn("an index cannot be written; it is tried again",
                                    {{"index", index.name}, {"why", index.why}});
    serving_->log().info(index.state == rebuilding ? "an index is rebuilt" : "an index works again",
                         {{"index", index.name}});
}

void Server::watch_validators() {
    using ValidationStatus = external::Validators::ValidationStatus;
    services_.validators.on_validated([this](PendingId const& pending, std::string const& tool,
                                             ValidationStatus status, std::string const& why) {
        serving_->metrics().validated(external::text(status));
        if (status == ValidationStatus::valid || status == ValidationStatus::invalid) return;
        serving_->log().warn(status == ValidationStatus::failed
                                 ? "a validator failed"
                                 : "the validator queue is full; a result was rejected",
                             {{"pendingID", pending.text()}, {"tool", tool}, {"why", why}});
    });
}

void Server::forget(port::OutboxRow const& row, json::View body,
                    webhook::Pump::Options::Done done) {
    auto const name = std::string_view(row.target).substr(std::string_view("agent:").size());
    agent::Agent const* const agent = node_.registry.agent(name.substr(0, name.find('@')));
    if (!agent || !agent->external)
        return done(fail(Code::not_found, "this agent is no longer an external agent"));
    agent::ExternalAgent::Left left{row.key.from, {}, body["cwd"].string_or("")};
    body["names"].elements([&](json::View name) { left.names.push_back(name.string_or("")); });
    agent->external->forget(std::move(left), std::move(done));
}

}  // namespace dormouse::app
