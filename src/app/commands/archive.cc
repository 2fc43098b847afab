// dormouse archive: completed sessions of a store become files, and are then deleted there.
#include "app/commands/programs.h"

#include "app/commands/archived.h"
#include "app/commands/views.h"
#include "app/parts/stores.h"
#include "app/release.h"
#include "app/start/complain.h"
#include "archive/archive.h"
#include "archive/writer.h"
#include "base/text/text.h"
#include "io/clock.h"
#include "json/json.h"
#include "runner/transfer/export.h"
#include "runner/transfer/portable.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::app {

namespace {

constexpr std::uint32_t sessions_max = 1'000'000;  // of one run

// Completed sessions of one project and month, which become one file.
struct Group {
    std::string project;
    Time month{};
    std::vector<port::SessionRow> rows;
};

Result<std::vector<Group>> groups_of(port::Store& store, cli::ArchiveOptions const& options) {
    auto const ids = store.completed_until(options.until, sessions_max);
    if (!ids) return std::unexpected(ids.error());
    using Month = std::chrono::year_month;
    std::map<std::pair<std::string, Month>, Group> out;
    for (SessionId const& id : *ids) {
        auto rows = store.all_sessions(id.number() - 1, 1);
        if (!rows) return std::unexpected(std::move(rows.error()));
        if (rows->empty() || rows->front().id != id) continue;
        port::SessionRow& row = rows->front();
        if (!options.project.empty() && row.project != options.project) continue;
        std::chrono::year_month_day const day(std::chrono::floor<std::chrono::days>(row.updated));
        Group& group = out[{row.project, day.year() / day.month()}];
        group.project = row.project;
        group.month = row.updated;
        group.rows.push_back(std::move(row));
    }
    std::vector<Group> list;
    list.reserve(out.size());
    for (auto& [key, group] : out) list.push_back(std::move(group));
    return list;
}

struct Report {
    std::uint64_t archived = 0;
    std::uint64_t bytes = 0;   // of new files
    std::uint64_t before = 0;  // sessions that were in the archive already
    std::uint64_t deleted = 0;
    std::vector<std::string> left;  // session and why it stays in the store
};

class Archiving {
public:
    Archiving(port::Store& store, runner::SessionExport const& exported,
              cli::ArchiveOptions const& options, std::unique_ptr<archive::Archive> known)
        : store_(store), export_(exported), options_(options), known_(std::move(known)) {}

    [[nodiscard]] Result<Report> run(archive::Writer* writer, std::vector<Group> const& groups) {
        for (Group const& group : groups) {
            auto fresh = sort(group);
            if (!fresh) return std::unexpected(std::move(fresh.error()));
            if (fresh->empty()) continue;
            if (writer == nullptr) {
                report_.archived += fresh->size();
                continue;
            }
            if (auto done = write(*writer, group, *fresh); !done)
                return std::unexpected(std::move(done.error()));
        }
        return std::move(report_);
    }

private:
    using Rows = std::vector<port::SessionRow const*>;

    // Those that are not in the archive yet; deletes the others.
    [[nodiscard]] Result<Rows> sort(Group const& group) {
        Rows out;
        for (port::SessionRow const& row : group.rows) {
            auto const there = is_there(row);
            if (!there) return std::unexpected(there.error());
            if (!*there) {
                out.push_back(&row);
                continue;
            }
            ++report_.before;
            if (!options_.dry_run) remove(row.id, **there);
        }
        return out;
    }

    // The newest event of the session, if the archive has that state of it and it can be read.
    [[nodiscard]] Result<std::optional<Seq>> is_there(port::SessionRow const& row) {
        if (!known_) return std::nullopt;
        auto const place = known_->find(row.id.text());
        if (!place) return std::nullopt;
        auto const newest = store_.newest(std::vector{row.id});
        if (!newest) return std::unexpected(newest.error());
        if (newest->front().head != place->entry->head) return std::nullopt;
        if (auto const lines = archive::Archive::read(*place); !lines)
            return std::unexpected(lines.error());
        return place->entry->head;
    }

    [[nodiscard]] Result<void> write(archive::Writer& writer, Group const& group,
                                     Rows const& rows) {
        runner::TransferHead head{release(), io::SystemClock().now(), {}, {}};
        for (port::SessionRow const* row : rows) head.sessions.push_back(row->id);
        std::size_t at = 0;
        auto next = [&]() -> Result<std::optional<archive::Writer::Session>> {
            while (at < rows.size()) {
                auto session = read(*rows[at++]);
                if (!session || *session) return session;
            }
            return std::nullopt;
        };
        auto end = [this](std::vector<archive::Entry> const& all) {
            return runner::end_line(all.size(), events_);
        };
        events_ = 0;
        auto const file = writer.write(group.project, group.month, {release(), head.at},
                                       {runner::head_line(head), std::move(end)}, next);
        if (!file) return std::unexpected(file.error());
        report_.archived += file->index.sessions.size();
        report_.bytes += file->index.bytes;
        for (archive::Entry const& entry : file->index.sessions) remove(entry.id, entry.head);
        return {};
    }

    // nullopt: it stays in the store.
    [[nodiscard]] Result<std::optional<archive::Writer::Session>> read(
        port::SessionRow const& row) {
        auto const lines = export_.lines(row);
        if (!lines && lines.error().code == Code::store_unavailable)
            return std::unexpected(lines.error());
        if (!lines) return leave(row.id, lines.error().detail);
        std::string text;
        for (std::string const& line : *lines) text += line + "\n";
        // Read back as show and import do, before the store loses it.
        auto const checked = read_archived(text);
        if (!checked) return leave(row.id, checked.error().detail);
        session::State const& state = checked->placing->state();
        if (state.lifecycle != session::Lifecycle::completed)
            return leave(row.id, "it is not completed any more");
        if (checked->placing->has_work())
            return leave(row.id, "it has messages that were not delivered yet");
        events_ += state.head;
        return archive::Writer::Session{
            {row.id, row.project, row.agent, row.title, row.created, row.updated, state.head},
            std::move(text)};
    }

    [[nodiscard]] std::optional<archive::Writer::Session> leave(SessionId id,
                                                                std::string const& why) {
        report_.left.push_back(id.text() + ": " + why);
        return std::nullopt;
    }

    void remove(SessionId id, Seq head) {
        auto const done = options_.remove(id.text(), head);
        if (done)
            ++report_.deleted;
        else
            report_.left.push_back(id.text() +
                                   ": it is in the archive, and was not deleted: " + done.error());
    }

    port::Store& store_;
    runner::SessionExport const& export_;
    cli::ArchiveOptions const& options_;
    std::unique_ptr<archive::Archive> known_;  // null: the directory is new
    std::uint64_t events_ = 0;                 // of the file that is being written
    Report report_;
};

Result<std::unique_ptr<archive::Archive>> open_known(std::string const& directory,
                                                     std::optional<store::MasterKeys> const& keys) {
    auto opened = archive::Archive::open(directory, keys);
    if (opened) return std::make_unique<archive::Archive>(*std::move(opened));
    if (opened.error().code == Code::not_found) return nullptr;
    return std::unexpected(std::move(opened.error()));
}

Result<Report> run(cli::ArchiveOptions const& options) {
    auto const view = open_view(options.data, options.store, options.key_env);
    if (!view) return std::unexpected(view.error());
    port::Store& store = *view->store;
    auto const keys = master_keys(options.key_env);
    if (!keys) return std::unexpected(keys.error());
    io::SystemEntropy entropy;
    archive::Encryption encryption;
    if (*keys && !options.plain) encryption = {&**keys, &entropy};
    std::optional<archive::Writer> writer;
    if (!options.dry_run) {
        auto opened = archive::Writer::open(options.directory, encryption);
        if (!opened) return std::unexpected(std::move(opened.error()));
        writer.emplace(*std::move(opened));
    }
    auto known = open_known(options.directory, *keys);
    if (!known) return std::unexpected(std::move(known.error()));
    auto const groups = groups_of(store, options);
    if (!groups) return std::unexpected(groups.error());
    auto const exported = runner::SessionExport::open(store);
    if (!exported) return std::unexpected(exported.error());
    Archiving archiving(store, *exported, options, *std::move(known));
    return archiving.run(writer ? &*writer : nullptr, *groups);
}

int conclude(cli::ArchiveOptions const& options, Report const& report) {
    for (std::string const& one : report.left)
        std::fprintf(stderr, "left: %s\n", escape_for_terminal(one).c_str());
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

cli::ArchivePrograms archive_programs() { return {archive_sessions, show_archived, list_archived}; }

}  // namespace dormouse::app
