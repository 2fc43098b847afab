// dormouse archive: completed sessions of a store become files, and are then deleted there.
#include "app/commands/programs.h"

#include "app/archive_run.h"
#include "app/commands/archive_redact.h"
#include "app/commands/archived.h"
#include "app/commands/views.h"
#include "app/parts/stores.h"
#include "app/parts/user.h"
#include "app/start/complain.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "io/clock.h"
#include "json/json.h"
#include "runner/lane/stored.h"
#include "webhook/outgoing.h"

#include <cstdio>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::app {

namespace {

using Removed = std::expected<void, std::string>;
using Remove = std::function<Removed(SessionId session, Seq head)>;

Result<ArchiveReport> move_all(cli::ArchiveOptions const& options, port::Store& store,
                               Remove remove) {
    auto const keys = master_keys(options.key_env);
    if (!keys) return std::unexpected(keys.error());
    ArchivePlan const plan{.directory = options.directory,
                           .project = options.project,
                           .until = options.until,
                           .plain = options.plain,
                           .dry_run = options.dry_run,
                           .remove = std::move(remove),
                           .stopped = [] { return false; }};
    return archive_completed(store, plan, *keys);
}

// As a server that no subscriber of events is known to.
Removed remove_stored(port::Store& store, SessionId session, Seq head) {
    session::Context context;
    context.at = io::SystemClock().now();
    context.epoch = store.epoch();
    webhook::Outgoing outgoing;
    outgoing.programs = true;
    auto const done = runner::delete_stored(
        store, session, head, context, {ActorType::token, user_name()},
        [&](session::State const& state, std::span<wire::RecordPtr const> records,
            std::vector<session::PendingChange> const& changes) {
            return webhook::outbox_of(outgoing, state, records, changes);
        });
    if (!done) return std::unexpected(done.error().detail);
    return {};
}

Result<ArchiveReport> run_alone(cli::ArchiveOptions const& options) {
    auto const opened = open_alone(options.data, options.store, options.key_env, "archive");
    if (!opened) return std::unexpected(opened.error());
    return move_all(options, *opened->store, [&](SessionId session, Seq head) {
        return remove_stored(*opened->store, session, head);
    });
}

Result<ArchiveReport> run(cli::ArchiveOptions const& options) {
    if (!options.remove && !options.dry_run) return run_alone(options);
    auto const view = open_view(options.data, options.store, options.key_env);
    if (!view) return std::unexpected(view.error());
    auto report = move_all(options, *view->store, [&](SessionId session, Seq head) {
        return options.remove(session.text(), head);
    });
    if (!report || !report->refused) return report;
    // The view does not have what was changed meanwhile.
    auto const now = open_view(options.data, options.store, options.key_env);
    if (!now) return std::unexpected(now.error());
    auto const keys = master_keys(options.key_env);
    if (!keys) return std::unexpected(keys.error());
    auto const checked = check_archived(*now->store, options.directory, *keys, *report);
    if (!checked) return std::unexpected(checked.error());
    return report;
}

int conclude(cli::ArchiveOptions const& options, ArchiveReport const& report) {
    for (auto const& [session, why] : report.left)
        std::fprintf(stderr, "left: %s: %s\n", session.text().c_str(),
                     escape_for_terminal(why).c_str());
    for (std::string const& why : report.failed)
        std::fprintf(stderr, "has content that was redacted: %s\n",
                     escape_for_terminal(why).c_str());
    if (options.json) {
        json::Writer out;
        out.begin_object().member("dryRun", options.dry_run).member("archived", report.archived);
        out.member("bytes", report.bytes).member("before", report.before);
        out.member("deleted", report.deleted).member("left", report.left.size());
        std::puts(out.end_object().take().c_str());
    } else {
        std::printf("%s %s, there already %llu, deleted from the store %llu, left %zu\n",
                    options.dry_run ? "would archive" : "archived",
                    counted(report.archived, "session").c_str(),
                    static_cast<unsigned long long>(report.before),
                    static_cast<unsigned long long>(report.deleted), report.left.size());
    }
    return report.left.empty() && report.failed.empty() ? 0 : 1;
}

int archive_sessions(cli::ArchiveOptions const& options) {
    auto const report = run(options);
    if (!report) return complain({"archive", options.json}, report.error());
    return conclude(options, *report);
}

}  // namespace

cli::ArchivePrograms archive_programs() {
    return {archive_sessions, show_archived, list_archived, export_one, redact_archived};
}

}  // namespace dormouse::app
