#include "app/archive_run.h"

#include "app/archive_outdated.h"
#include "app/commands/archived.h"
#include "app/release.h"
#include "archive/archive.h"
#include "archive/writer.h"
#include "io/clock.h"
#include "runner/transfer/export.h"
#include "runner/transfer/portable.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace dormouse::app {

namespace {

// Completed sessions of one project and month, which become one file.
struct Group {
    std::string project;
    Time month{};
    std::vector<port::SessionRow> rows;
};

// Groups the oldest completed sessions. Skipped ones do not count, so they never hide later ones.
Result<std::vector<Group>> groups_of(port::Store& store, ArchivePlan const& plan) {
    auto const skipped = static_cast<std::uint32_t>(plan.skipped.size());
    auto const ids = store.completed_until(plan.until, plan.sessions_max + skipped);
    if (!ids) return std::unexpected(ids.error());
    using Month = std::chrono::year_month;
    std::map<std::pair<std::string, Month>, Group> out;
    std::uint32_t chosen = 0;
    for (SessionId const& id : *ids) {
        if (plan.skipped.contains(id)) continue;
        if (chosen++ == plan.sessions_max) break;
        auto rows = store.all_sessions(id.number() - 1, 1);
        if (!rows) return std::unexpected(std::move(rows.error()));
        if (rows->empty() || rows->front().id != id) continue;
        port::SessionRow& row = rows->front();
        if (!plan.project.empty() && row.project != plan.project) continue;
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

// Empty: nothing waits for the session.
std::string why_it_stays(runner::Placing const& placing) {
    session::State const& state = placing.state();
    if (state.lifecycle != session::Lifecycle::completed) return "it is not completed any more";
    if (placing.has_work()) return "it has messages that were not delivered yet";
    if (!state.inbox.empty()) return "it has unread mail";
    bool const works =
        std::ranges::any_of(state.tasks, [](auto const& task) { return task.second.active(); });
    return works ? "it has a task that has not ended" : "";
}

class Archiving {
public:
    Archiving(port::Store& store, runner::SessionExport const& exported, ArchivePlan const& plan,
              std::unique_ptr<archive::Archive> known)
        : store_(store), export_(exported), plan_(plan), known_(std::move(known)) {}

    [[nodiscard]] Result<ArchiveReport> run(archive::Writer* writer,
                                            std::vector<Group> const& groups) {
        for (Group const& group : groups) {
            if (plan_.stopped()) break;
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

    // Returns the sessions that are not in the archive yet. Unless this is a dry run, deletes the
    // others from the store.
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
            if (!plan_.dry_run) remove(row.id, **there);
        }
        return out;
    }

    // Returns the newest event of the session if the archive has a readable copy of this state.
    [[nodiscard]] Result<std::optional<Seq>> is_there(port::SessionRow const& row) {
        if (!known_) return std::nullopt;
        auto const place = known_->find(row.id.text());
        if (!place) return std::nullopt;
        auto const newest = store_.newest(std::vector{row.id});
        if (!newest) return std::unexpected(newest.error());
        if (newest->front().head != place->entry->head) return std::nullopt;
        // A copy that cannot be read, or has as many events but differs, is written again.
        auto const stored = export_.lines(row);
        auto const there = archive::Archive::read(*place);
        if (!stored || !there || !is_same(text_of(*stored), *there)) return std::nullopt;
        return place->entry->head;
    }

    // Messages that were delivered are kept for some days only, so a copy may have more of them.
    [[nodiscard]] static bool is_same(std::string const& stored, std::string const& copied) {
        if (stored == copied) return true;
        auto const checked = read_archived(stored);
        return checked && why_it_stays(*checked->placing).empty() &&
               without_messages(stored) == without_messages(copied);
    }

    [[nodiscard]] static std::string without_messages(std::string_view text) {
        std::string out;
        for (std::size_t end = 0; !text.empty(); text.remove_prefix(end)) {
            end = std::min(text.find('\n'), text.size() - 1) + 1;
            auto const line = text.substr(0, end);
            // The last line has the digest of all.
            if (!line.starts_with(R"({"type":"post")") &&
                !line.starts_with(R"({"type":"session_end")"))
                out += line;
        }
        return out;
    }

    [[nodiscard]] static std::string text_of(std::vector<std::string> const& lines) {
        std::string text;
        for (std::string const& line : lines) text += line + "\n";
        return text;
    }

    [[nodiscard]] Result<void> write(archive::Writer& writer, Group const& group,
                                     Rows const& rows) {
        runner::TransferHead head{release(), io::SystemClock().now(), {}, {}};
        for (port::SessionRow const* row : rows) head.sessions.push_back(row->id);
        events_ = 0;
        std::size_t at = 0;
        auto read_next = [&]() -> Result<std::optional<archive::Writer::Session>> {
            while (at < rows.size() && !plan_.stopped()) {
                auto session = read(*rows[at++]);
                if (!session || *session) return session;
            }
            return std::nullopt;
        };
        auto first = read_next();
        if (!first) return std::unexpected(std::move(first.error()));
        if (!*first) return {};
        auto next = [&]() -> Result<std::optional<archive::Writer::Session>> {
            if (*first) return std::exchange(*first, std::nullopt);
            return read_next();
        };
        auto end = [this](std::vector<archive::Entry> const& all) {
            return runner::end_line(all.size(), events_);
        };
        auto const file = writer.write(group.project, group.month, {release(), head.at},
                                       {runner::head_line(head), std::move(end)}, next);
        if (!file) return std::unexpected(file.error());
        report_.archived += file->index.sessions.size();
        report_.bytes += file->index.bytes;
        for (archive::Entry const& entry : file->index.sessions) remove(entry.id, entry.head);
        return {};
    }

    // Returns nullopt if the session stays in the store.
    [[nodiscard]] Result<std::optional<archive::Writer::Session>> read(
        port::SessionRow const& row) {
        auto const lines = export_.lines(row);
        if (!lines && lines.error().code == Code::store_unavailable)
            return std::unexpected(lines.error());
        if (!lines) return leave(row.id, lines.error().detail);
        std::string text = text_of(*lines);
        // Read back as show and import do, before the store loses it.
        auto const checked = read_archived(text);
        if (!checked) return leave(row.id, checked.error().detail);
        session::State const& state = checked->placing->state();
        auto const why = why_it_stays(*checked->placing);
        if (!why.empty()) return leave(row.id, why);
        events_ += state.head;
        return archive::Writer::Session{
            {row.id, row.project, row.agent, row.title, row.created, row.updated, state.head},
            std::move(text)};
    }

    [[nodiscard]] std::optional<archive::Writer::Session> leave(SessionId id, std::string why) {
        report_.left.emplace_back(id, std::move(why));
        return std::nullopt;
    }

    void remove(SessionId id, Seq head) {
        auto const done = plan_.remove(id, head);
        report_.refused = report_.refused || !done;
        if (done)
            ++report_.deleted;
        else
            report_.left.emplace_back(id,
                                      "it is in the archive, and was not deleted: " + done.error());
    }

    port::Store& store_;
    runner::SessionExport const& export_;
    ArchivePlan const& plan_;
    std::unique_ptr<archive::Archive> known_;  // null: the directory is new
    std::uint64_t events_ = 0;                 // of the file that is being written
    ArchiveReport report_;
};

Result<std::unique_ptr<archive::Archive>> open_known(std::string const& directory,
                                                     std::optional<store::MasterKeys> const& keys) {
    auto opened = archive::Archive::open(directory, keys);
    if (opened) return std::make_unique<archive::Archive>(*std::move(opened));
    if (opened.error().code == Code::not_found) return nullptr;
    return std::unexpected(std::move(opened.error()));
}

// Removes copies of sessions that the store has, and that were redacted since.
Result<OutdatedCopies> check_copies(port::Store& store, archive::Writer& writer,
                                    std::string const& directory,
                                    std::optional<store::MasterKeys> const& keys,
                                    archive::Encryption encryption) {
    auto const all = open_known(directory, keys);
    if (!all) return std::unexpected(all.error());
    if (!*all) return OutdatedCopies();
    return remove_outdated(store, writer, **all, encryption);
}

}  // namespace

Result<ArchiveReport> archive_completed(port::Store& store, ArchivePlan const& plan,
                                        std::optional<store::MasterKeys> const& keys) {
    io::SystemEntropy entropy;
    archive::Encryption const with_keys{keys ? &*keys : nullptr, &entropy};
    archive::Encryption const fresh = plan.plain ? archive::Encryption() : with_keys;
    std::optional<archive::Writer> writer;
    if (!plan.dry_run) {
        auto opened = archive::Writer::open(plan.directory, fresh);
        if (!opened) return std::unexpected(std::move(opened.error()));
        writer.emplace(*std::move(opened));
    }
    auto const exported = runner::SessionExport::open(store);
    if (!exported) return std::unexpected(exported.error());
    Result<OutdatedCopies> checked;
    if (writer) checked = check_copies(store, *writer, plan.directory, keys, with_keys);
    if (!checked) return std::unexpected(std::move(checked.error()));
    if (writer) writer->encrypt(fresh);
    auto known = open_known(plan.directory, keys);
    if (!known) return std::unexpected(std::move(known.error()));
    auto const groups = groups_of(store, plan);
    if (!groups) return std::unexpected(groups.error());
    Archiving archiving(store, *exported, plan, *std::move(known));
    auto report = archiving.run(writer ? &*writer : nullptr, *groups);
    if (report) report->failed = std::move(checked->kept);
    return report;
}

Result<void> check_archived(port::Store& store, std::string const& directory,
                            std::optional<store::MasterKeys> const& keys, ArchiveReport& report) {
    io::SystemEntropy entropy;
    archive::Encryption const encryption{keys ? &*keys : nullptr, &entropy};
    auto writer = archive::Writer::open(directory, encryption);
    if (!writer) return std::unexpected(std::move(writer.error()));
    auto checked = check_copies(store, *writer, directory, keys, encryption);
    if (!checked) return std::unexpected(std::move(checked.error()));
    for (auto& [session, why] : report.left)
        if (checked->removed.contains(session)) why = "it was redacted while it was archived";
    report.failed = std::move(checked->kept);
    return {};
}

}  // namespace dormouse::app
