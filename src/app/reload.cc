#include "app/reload.h"

#include "app/start/config_checks.h"
#include "app/start/flags.h"
#include "app/start/start_checks.h"
#include "config/changes.h"
#include "io/process/service_manager.h"
#include "json/json.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>

namespace dormouse::app {

namespace {

// Something that can be read once only, such as a pipe, cannot be read again.
bool is_readable_again(std::string const& file) {
    std::error_code error;
    auto const status = std::filesystem::status(file, error);
    return !std::filesystem::exists(status) || std::filesystem::is_directory(status) ||
           std::filesystem::is_regular_file(status);
}

}  // namespace

Error mistaken(Mistakes const& mistakes) {
    json::Writer extra;
    extra.begin_object().key("mistakes").begin_array();
    for (std::string const& mistake : mistakes) extra.value(mistake);
    std::size_t const n = mistakes.size();
    return {Code::bad_value,
            "The configuration has " + std::to_string(n) + (n == 1 ? " mistake" : " mistakes") +
                "; the one before stays in force.",
            extra.end_array().end_object().json()};
}

std::expected<config::Config, Mistakes> read_again(cli::ServeOptions const& options,
                                                   std::string const& inherited) {
    if (!is_readable_again(options.config))
        return std::unexpected(
            Mistakes{options.config + ": must be a regular file to be read again; restart"});
    auto config = load_config(options.config);
    if (!config) return config;
    Mistakes out = mistakes_in(*config);
    auto const note = [&](Result<void> const& checked) {
        if (!checked) out.push_back(config->file + ": " + checked.error().detail);
    };
    note(apply_flags(options, config->server, config->store));
    if (!inherited.empty()) config->server.listen = inherited;
    auto const address = listen_address(config->server.listen);
    note(address ? refuse_open(options.insecure, config->server, *address)
                 : std::unexpected(address.error()));
    note(refuse_exposed_data(*config, options.data));
    auto const secrets = secrets_folder(*config);
    if (!secrets.empty()) note(io::check_secrets(secrets));
    if (!out.empty()) return std::unexpected(std::move(out));
    return config;
}

http::ReloadReport compare(config::Config const& in_force, config::Config const& next) {
    http::ReloadReport out;
    for (config::Change const& one : config::changes(in_force, next))
        (one.applies == config::Applies::reload ? out.applied : out.needs_restart)
            .push_back(config::text(one));
    return out;
}

void log_reload(io::Log& log, Result<http::ReloadReport> const& report) {
    if (!report) {
        json::View const mistakes = json::View(report.error().extra)["mistakes"];
        mistakes.elements([&](json::View one) { log.error(one.string_or("")); });
        return log.error("the configuration was not reloaded", {{"why", report.error().detail}});
    }
    for (std::string const& one : report->applied) log.info("reload: applied", {{"what", one}});
    for (std::string const& one : report->needs_restart)
        log.warn("reload: needs a restart", {{"what", one}});
    for (std::string const& one : report->warnings) log.warn("reload: " + one);
    log.info("the configuration was reloaded",
             {{"applied", std::to_string(report->applied.size())},
              {"needsRestart", std::to_string(report->needs_restart.size())}});
}

void Reloads::reload(Done done) {
    if (auto ready = parts_.refusal(); !ready) return done(std::unexpected(ready.error()));
    if (waiting_.size() >= waiting_max)
        return done(fail(Code::overloaded, "Too many reloads wait already; try again."));
    waiting_.push_back(std::move(done));
    if (asking_.empty()) begin();
}

void Reloads::begin() {
    asking_ = std::exchange(waiting_, {});
    auto const read = std::make_shared<std::optional<Read>>();
    auto job = [read, work = parts_.read](std::stop_token const&) { *read = work(); };
    static_cast<void>(parts_.workers.run(std::move(job), scope_.guard([this, read](bool ran) {
        if (ran && *read) return finish(std::move(**read));
        finish(fail(Code::overloaded, "Too much work is queued; the configuration was not read."));
    })));
}

// The answers come last: each may ask for the next reload.
void Reloads::finish(Result<Read> read) {
    auto const report = report_on(std::move(read));
    auto const asking = std::make_shared<std::vector<Done>>(std::exchange(asking_, {}));
    if (!waiting_.empty()) begin();
    for (Done& done : *asking) done(report);
}

Result<http::ReloadReport> Reloads::report_on(Result<Read> read) {
    if (!read) return std::unexpected(read.error());
    if (!*read) return std::unexpected(mistaken(read->error()));
    if (auto ready = parts_.refusal(); !ready) return std::unexpected(ready.error());
    return parts_.apply(**read);
}

}  // namespace dormouse::app
