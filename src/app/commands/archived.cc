#include "app/commands/archived.h"

#include "app/archive_changes.h"
#include "app/commands/programs.h"
#include "app/parts/stores.h"
#include "app/release.h"
#include "app/start/complain.h"
#include "archive/archive.h"
#include "archive/writer.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "http/objects/objects.h"
#include "io/clock.h"
#include "json/json.h"
#include "runner/transfer/export.h"
#include "runner/transfer/portable.h"
#include "wire/journal/history.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

namespace dormouse::app {

namespace {

Result<cli::ArchivedSession> objects_of(runner::Placing const& placing) {
    session::State const& state = placing.state();
    wire::History history(placing.id());
    for (port::Frame const& frame : placing.frames()) {
        auto const records = wire::unpack(placing.id(), frame.first, frame.bytes);
        if (!records) return std::unexpected(records.error());
        for (wire::RecordPtr const& record : *records) history.add(*record);
    }
    cli::ArchivedSession out{http::session_object(state), {}};
    json::View(history.forked_messages()).elements([&](json::View message) {
        out.messages.emplace_back(message.raw());
    });
    for (auto const& [seq, message] : history.messages())
        if (!message.dropped && message.turn != 0)
            out.messages.push_back(http::message_object(state, history, seq));
    return out;
}

Result<cli::ArchivedSession> read_session(cli::ArchivePlace const& from, std::string const& name) {
    auto const all = open_archive(from);
    if (!all) return std::unexpected(all.error());
    auto const place = all->find(name);
    if (!place) return std::unexpected(place.error());
    auto const lines = archive::Archive::read(*place);
    if (!lines) return std::unexpected(lines.error());
    auto const session = read_archived(*lines);
    if (!session) return std::unexpected(session.error());
    return objects_of(*session->placing);
}

std::string listed(archive::Entry const& entry) {
    json::Writer out;
    out.begin_object().member("id", entry.id.text()).member("projectID", entry.project);
    out.member("agentID", entry.agent).member("title", entry.title);
    out.member("status", "completed").member("seq", entry.head);
    out.key("time").begin_object().member("created", to_ms(entry.created));
    out.member("updated", to_ms(entry.updated)).end_object();
    return out.end_object().take();
}

// The damage of the file and its sessions.
struct Findings {
    std::uint64_t sessions = 0;
    std::vector<std::string> what;
};

void check(archive::File const& file, Findings& found) {
    if (auto const size = archive::Archive::check_size(file); !size)
        found.what.push_back(size.error().detail);
    if (auto const key = archive::check_key(file); !key) {
        found.sessions += file.index.sessions.size();
        return found.what.push_back(key.error().detail);
    }
    for (archive::Entry const& entry : file.index.sessions) {
        ++found.sessions;
        auto const lines = archive::Archive::read({&file, &entry});
        if (!lines) {
            found.what.push_back(lines.error().detail);
            continue;
        }
        auto const session = read_archived(*lines);
        if (!session)
            found.what.push_back(file.path.string() + ": " + entry.id.text() + ": " +
                                 session.error().detail);
        else if (session->placing->id() != entry.id)
            found.what.push_back(file.path.string() + ": " + entry.id.text() +
                                 ": the index names another session");
    }
}

// Returns the places of the named sessions, or of the newest state of each session of the project.
Result<std::vector<archive::Place>> places_of(archive::Archive const& all,
                                              cli::ExportOptions const& options) {
    std::vector<archive::Place> out;
    for (std::string const& name : options.sessions) {
        auto const place = all.find(name);
        if (!place) return std::unexpected(place.error());
        out.push_back(*place);
    }
    if (!options.sessions.empty()) return out;
    std::map<SessionId, archive::Place> newest;
    for (archive::File const& file : all.files())
        for (archive::Entry const& entry : file.index.sessions) {
            archive::Place& known = newest[entry.id];
            bool const wanted = options.project.empty() || entry.project == options.project;
            if (wanted && (!known.entry || known.entry->head <= entry.head))
                known = {&file, &entry};
        }
    for (auto const& [id, place] : newest)
        if (place.entry) out.push_back(place);
    return out;
}

Result<std::uint64_t> print_lines(cli::ExportOptions const& options) {
    auto const all = open_archive({options.archive, options.key_env});
    if (!all) return std::unexpected(all.error());
    auto const places = places_of(*all, options);
    if (!places) return std::unexpected(places.error());
    for (archive::Place const& place : *places)
        if (auto const key = archive::check_key(*place.file); !key)
            return std::unexpected(key.error());
    runner::TransferHead head{release(), io::SystemClock().now(), {}, {}};
    for (archive::Place const& place : *places) head.sessions.push_back(place.entry->id);
    std::printf("%s\n", runner::head_line(head).c_str());
    std::uint64_t events = 0;
    for (archive::Place const& place : *places) {
        auto const lines = archive::Archive::read(place);
        if (!lines) return std::unexpected(lines.error());
        events += place.entry->head;
        if (std::fwrite(lines->data(), 1, lines->size(), stdout) != lines->size()) break;
    }
    std::printf("%s\n", runner::end_line(places->size(), events).c_str());
    if (std::fflush(stdout) != 0)
        return fail(Code::store_unavailable, "cannot write to standard output");
    return places->size();
}

}  // namespace

Result<runner::Arrival> read_archived(std::string_view lines) {
    // A session alone is read as an export of it.
    std::optional<std::string> first = runner::head_line({});
    std::optional<std::string> last = runner::end_line(1, 0);
    auto next = [&]() -> Result<std::optional<runner::TransferLine>> {
        if (first) return runner::TransferLine{*std::exchange(first, std::nullopt), false};
        if (lines.empty() && last)
            return runner::TransferLine{*std::exchange(last, std::nullopt), false};
        if (lines.empty()) return std::nullopt;
        auto const end = std::min(lines.find('\n'), lines.size());
        runner::TransferLine out{std::string(lines.substr(0, end)), false};
        lines.remove_prefix(std::min(end + 1, lines.size()));
        return out;
    };
    auto sessions = runner::read_sessions(next, 1);
    if (!sessions) return std::unexpected(std::move(sessions.error()));
    if (sessions->size() != 1) return fail(Code::bad_value, "it is not one session");
    if (!sessions->front().placing) return fail(Code::bad_value, sessions->front().result.error);
    return std::move(sessions->front());
}

Result<archive::Archive> open_archive(cli::ArchivePlace const& from) {
    auto const keys = master_keys(from.key_env);
    if (!keys) return std::unexpected(keys.error());
    return archive::Archive::open(from.directory, *keys);
}

Result<archive::Archive> open_to_change(cli::ArchivePlace const& from) {
    auto before = open_archive(from);  // Writer::open() would make a directory that is missing
    if (!before) return before;
    auto const recovered = archive::Writer::open(from.directory, {});
    if (!recovered) return std::unexpected(recovered.error());
    return open_archive(from);
}

std::expected<cli::ArchivedSession, std::string> show_archived(cli::ArchivePlace const& from,
                                                               std::string const& name) {
    auto session = read_session(from, name);
    if (!session) return std::unexpected(session.error().detail);
    return *std::move(session);
}

std::expected<std::string, std::string> export_one(cli::ArchivePlace const& from,
                                                   std::string const& name) {
    auto const all = open_archive(from);
    if (!all) return std::unexpected(all.error().detail);
    auto const place = all->find(name);
    if (!place) return std::unexpected(place.error().detail);
    auto const lines = archive::Archive::read(*place);
    if (!lines) return std::unexpected(lines.error().detail);
    runner::TransferHead head{release(), io::SystemClock().now(), {place->entry->id}, {}};
    return runner::head_line(head) + "\n" + *lines + runner::end_line(1, place->entry->head) + "\n";
}

std::expected<std::vector<std::string>, std::string> list_archived(cli::ArchivePlace const& from,
                                                                   std::string const& project) {
    auto const all = open_archive(from);
    if (!all) return std::unexpected(all.error().detail);
    std::vector<archive::Entry const*> entries;
    for (archive::File const& file : all->files()) {
        // Without the key there are no titles.
        if (auto const key = archive::check_key(file); !key)
            return std::unexpected(key.error().detail);
        for (archive::Entry const& entry : file.index.sessions)
            if (project.empty() || entry.project == project) entries.push_back(&entry);
    }
    std::ranges::sort(entries, [](auto const* a, auto const* b) {
        return std::pair(a->updated, a->id.number()) > std::pair(b->updated, b->id.number());
    });
    std::vector<std::string> out;
    out.reserve(entries.size());
    for (archive::Entry const* entry : entries) out.push_back(listed(*entry));
    return out;
}

int verify_archive(cli::VerifyOptions const& options) {
    auto const keys = master_keys(options.key_env);
    if (!keys) return complain({"verify", options.json}, keys.error());
    auto const rebuilt =
        options.rebuild ? rebuild_indexes(options.archive) : Result<RebuiltIndexes>();
    if (!rebuilt) return complain({"verify", options.json}, rebuilt.error());
    auto const all = archive::survey(options.archive, *keys);
    if (!all) return complain({"verify", options.json}, all.error());
    Findings found{.sessions = 0, .what = all->findings};
    for (std::string const& one : rebuilt->lost) found.what.push_back(one);
    for (std::string const& one : rebuilt->made)
        std::fprintf(stderr, "made again: %s\n", escape_for_terminal(one).c_str());
    for (archive::File const& file : all->files) check(file, found);
    for (std::string const& one : found.what)
        std::fprintf(stderr, "%s\n", escape_for_terminal(one).c_str());
    if (options.json) {
        json::Writer out;
        out.begin_object().member("ok", found.what.empty()).member("files", all->files.size());
        out.member("sessions", found.sessions).member("findings", found.what.size());
        std::puts(out.end_object().take().c_str());
    } else {
        std::puts((counted(all->files.size(), "file") + ", " + counted(found.sessions, "session") +
                   ", " + counted(found.what.size(), "finding"))
                      .c_str());
    }
    return found.what.empty() ? 0 : 1;
}

int export_archived(cli::ExportOptions const& options) {
    auto const printed = print_lines(options);
    if (!printed) return complain({"export", options.json}, printed.error());
    std::fprintf(stderr, "exported %s\n", counted(*printed, "session").c_str());
    return 0;
}

}  // namespace dormouse::app
