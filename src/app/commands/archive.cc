// dormouse archive: completed sessions of a store become files, and are then deleted there.
#include "app/commands/programs.h"

#include "app/archive_run.h"
#include "app/commands/archive_redact.h"
#include "app/commands/archived.h"
#include "app/commands/views.h"
#include "app/parts/stores.h"
#include "app/start/complain.h"
#include "base/text/text.h"
#include "json/json.h"

#include <cstdio>
#include <string>
#include <utility>

namespace dormouse::app {

namespace {

Result<ArchiveReport> run(cli::ArchiveOptions const& options) {
    auto const view = open_view(options.data, options.store, options.key_env);
    if (!view) return std::unexpected(view.error());
    auto const keys = master_keys(options.key_env);
    if (!keys) return std::unexpected(keys.error());
    ArchivePlan const plan{
        .directory = options.directory,
        .project = options.project,
        .until = options.until,
        .plain = options.plain,
        .dry_run = options.dry_run,
        .remove = [&](SessionId session, Seq head) { return options.remove(session.text(), head); },
        .stopped = [] { return false; }};
    return archive_completed(*view->store, plan, *keys);
}

int conclude(cli::ArchiveOptions const& options, ArchiveReport const& report) {
    for (auto const& [session, why] : report.left)
        std::fprintf(stderr, "left: %s: %s\n", session.text().c_str(),
                     escape_for_terminal(why).c_str());
    if (options.json) {
        json::Writer out;
        out.begin_object().member("dryRun", options.dry_run).member("archived", report.archived);
        out.member("bytes", report.bytes).member("before", report.before);
        out.member("deleted", report.deleted).member("left", report.left.size());
        std::puts(out.end_object().take().c_str());
    } else {
        std::printf(
            "%s %llu session%s, there already %llu, deleted from the store %llu, left %zu\n",
            options.dry_run ? "would archive" : "archived",
            static_cast<unsigned long long>(report.archived), report.archived == 1 ? "" : "s",
            static_cast<unsigned long long>(report.before),
            static_cast<unsigned long long>(report.deleted), report.left.size());
    }
    return report.left.empty() ? 0 : 1;
}

int archive_sessions(cli::ArchiveOptions const& options) {
    auto const report = run(options);
    if (!report) return complain("archive", report.error());
    return conclude(options, *report);
}

}  // namespace

cli::ArchivePrograms archive_programs() {
    return {archive_sessions, show_archived, list_archived, export_one, redact_archived};
}

}  // namespace dormouse::app
