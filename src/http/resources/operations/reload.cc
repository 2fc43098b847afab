#include "http/resources/operations/reload.h"

#include "http/resources/operations/handlers.h"
#include "http/resources/operations/reload_fields.h"
#include "json/json.h"
#include "wire/audit.h"

// POST /api/reload: reads the configuration again.
namespace dormouse::http {

namespace {

// The audit line: the caller and the number of changed settings. The log names the settings.
std::string audit_line(ReloadReport const& report, session::Actor const& by, Time at) {
    json::Writer out = wire::begin_audit_line("config_reloaded", at, by);
    out.member("applied", std::uint64_t{report.applied.size()});
    out.member("needsRestart", std::uint64_t{report.needs_restart.size()});
    return out.end_object().take();
}

void answer(Api& api, ExchangePtr const& x, ReloadReport report) {
    std::string line = audit_line(report, x->by, api.services().runner.now());
    api.services().journal.write(
        [line = std::move(line)](port::AccessStore& store) {
            return store.change_tokens({.audit = line});
        },
        [x, report = std::move(report)](Result<void> const& written) {
            if (!written) return x->fail(written.error());
            x->json(200, object_text(report));
        });
}

}  // namespace

void post_reload(Api& api, ExchangePtr const& x) {
    Body const body(json::View(x->body), empty_request);
    if (body.error()) return x->fail(*body.error());
    if (!api.services().reload)
        return x->fail({Code::not_found, "This server has no configuration to reload."});
    api.services().reload([&api, x](Result<ReloadReport> report) {
        report ? answer(api, x, *std::move(report)) : x->fail(report.error());
    });
}

}  // namespace dormouse::http
