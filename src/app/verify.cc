#include "app/programs.h"

#include "json/json.h"
#include "runner/repair/verify.h"
#include "store/sqlite/sqlite_store.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

namespace dormouse::app {

namespace {

void print_json(runner::VerifyReport const& report) {
    json::Writer out;
    out.begin_object().member("ok", report.findings.empty()).member("sessions", report.sessions);
    out.member("events", report.events)
        .member("audited", report.audited)
        .key("findings")
        .begin_array();
    for (runner::Finding const& finding : report.findings) {
        bool const of_session = finding.session.number() > 0;
        out.begin_object()
            .member("sessionID", of_session ? std::optional(finding.session.text()) : std::nullopt)
            .member("what", finding.what)
            .end_object();
    }
    std::puts(out.end_array().end_object().take().c_str());
}

}  // namespace

int verify(cli::VerifyOptions const& options) {
    // Opening would create a missing database; verify must only read.
    if (!std::filesystem::exists(std::filesystem::path(options.data) / "dormouse.db")) {
        std::fprintf(stderr, "dormouse verify: dormouse.db not found in %s; set --data DIR\n",
                     options.data.c_str());
        return info(Code::not_found).exit;
    }
    auto store = store::SqliteStore::open(options.data);
    if (!store) {
        std::fprintf(stderr, "dormouse verify: %s\n", store.error().detail.c_str());
        return info(store.error().code).exit;
    }
    auto report = runner::verify(**store, [](std::uint64_t sessions) {
        if (sessions % 100'000 == 0)
            std::fprintf(stderr, "verify: %llu sessions\n",
                         static_cast<unsigned long long>(sessions));
    });
    if (!report) {
        std::fprintf(stderr, "dormouse verify: %s\n", report.error().detail.c_str());
        return info(report.error().code).exit;
    }
    auto places = (*store)->feed_and_audit_findings();
    if (!places) {
        std::fprintf(stderr, "dormouse verify: %s\n", places.error().detail.c_str());
        return info(places.error().code).exit;
    }
    for (std::string& place : *places) report->findings.push_back({{}, std::move(place)});
    if (options.json) {
        print_json(*report);
    } else {
        for (runner::Finding const& finding : report->findings) {
            bool const of_session = finding.session.number() > 0;
            std::printf("%s%s\n", of_session ? (finding.session.text() + ": ").c_str() : "",
                        finding.what.c_str());
        }
        std::printf("%llu sessions, %llu events, %zu findings\n",
                    static_cast<unsigned long long>(report->sessions),
                    static_cast<unsigned long long>(report->events), report->findings.size());
    }
    return report->findings.empty() ? 0 : 1;
}

}  // namespace dormouse::app
