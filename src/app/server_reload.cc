#include "app/server.h"

#include "app/parts/assemble.h"
#include "app/parts/foreign_servers.h"
#include "app/parts/settings.h"
#include "config/changes.h"
#include "config/read.h"
#include "io/http/tls.h"

#include <utility>

namespace dormouse::app {

void Server::hang_up() {
    manager_.reloading();
    reload([this](Result<http::ReloadReport> const& report) {
        log_reload(serving_->log(), report);
        manager_.ready();
    });
}

void Server::reload(Reloads::Done done) {
    auto const certificate = reload_certificate();
    if (options_.config.empty()) {
        http::ReloadReport report;
        if (!certificate.empty()) report.warnings.push_back(certificate);
        report.warnings.emplace_back(
            "the server was started without a configuration file: restart it with --config");
        return done(std::move(report));
    }
    reloads_.reload(
        [certificate, done = std::move(done)](Result<http::ReloadReport> report) mutable {
            if (report && !certificate.empty()) report->warnings.push_back(certificate);
            done(std::move(report));
        });
}

std::string Server::reload_certificate() {
    if (!tls_) return {};
    if (auto const done = tls_->reload(); !done) {
        serving_->log().error("reload: the certificate stays as it was",
                              {{"why", done.error().detail}});
        return "the certificate stays as it was: " + done.error().detail;
    }
    serving_->log().info("reload: the certificate was reloaded");
    return {};
}

Result<void> Server::may_reload() const {
    if (stopping_) return fail(Code::draining, "The server is stopping.");
    if (!begun_) return fail(Code::recovering, "The server is still starting.");
    return {};
}

Result<http::ReloadReport> Server::apply(config::Config const& read) {
    http::ReloadReport out = compare(config_, read);
    config::Config next = config::applicable(config_, read);
    Former const former{config_, node_.registry};
    agent::Registry registry = assemble(next, tool_services(), &former);
    foreign_.exchange(servers_of(next), registry);
    node_.exchange_registry(std::move(registry));
    bool const other_budgets = next.budgets != config_.budgets;
    config_ = std::move(next);
    services_.validators.set_limits(validator_limits(config_.limits));
    node_.runner.apply(runner_options(config_, trace_rules(config_)));
    if (other_budgets) node_.runner.budgets_changed();
    serving_->apply(serving_changes(config_));
    archive_.apply(config_);
    follow_sign_ins();
    for (config::Problem const& warning : config::warnings(config_))
        out.warnings.push_back(config::line_of(config_.file, warning));
    return out;
}

}  // namespace dormouse::app
