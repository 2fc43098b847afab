#include "app/commands/archive_redact.h"

#include "app/archive_changes.h"
#include "app/commands/archived.h"
#include "app/parts/stores.h"
#include "app/parts/user.h"
#include "archive/writer.h"
#include "backup/files.h"
#include "http/objects/body.h"
#include "http/objects/requests.h"
#include "http/resources/sessions/redaction_fields.h"
#include "io/clock.h"
#include "io/fd.h"
#include "runner/lane/stored.h"
#include "runner/transfer/export.h"
#include "runner/transfer/place.h"
#include "store/memory/memory_store.h"

#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace dormouse::app {

namespace {

using Asks = std::vector<runner::RedactionAsk>;
using Reports = std::vector<runner::RedactionReport>;

Result<Asks> asks_of(SessionId session, cli::ArchiveRedaction const& options) {
    Asks out;
    for (std::string const& request : options.requests) {
        auto const checked = json::check(request);
        if (!checked) return std::unexpected(checked.error());
        http::Body body(json::View(*checked), http::redaction_request);
        out.push_back(http::read_redaction(body, session));
        if (body.error()) return std::unexpected(*body.error());
    }
    return out;
}

// A store with this session alone.
Result<std::unique_ptr<store::MemoryStore>> store_of(std::string_view lines) {
    auto arrival = read_archived(lines);
    if (!arrival) return std::unexpected(std::move(arrival.error()));
    auto out = std::make_unique<store::MemoryStore>();
    runner::ImportGuard const guard{[] { return Result<void>(); },
                                    [](Epoch) { return Result<void>(); }};
    auto const placed = runner::place(*out, std::move(*arrival->placing), {}, guard);
    if (!placed) return std::unexpected(placed.error());
    return out;
}

// The session as the store has it now.
Result<archive::Writer::Session> session_in(port::Store& store, archive::Entry entry) {
    auto const rows = store.all_sessions(entry.id.number() - 1, 1);
    if (!rows) return std::unexpected(rows.error());
    auto const heads = store.newest(std::vector{entry.id});
    if (!heads) return std::unexpected(heads.error());
    auto const exported = runner::SessionExport::open(store);
    if (!exported) return std::unexpected(exported.error());
    auto const lines = exported->lines(rows->front());
    if (!lines) return std::unexpected(lines.error());
    entry.title = rows->front().title;
    entry.head = heads->front().head;
    std::string text;
    for (std::string const& line : *lines) text += line + "\n";
    if (auto const checked = read_archived(text); !checked) return std::unexpected(checked.error());
    return archive::Writer::Session{std::move(entry), std::move(text)};
}

class Redaction {
public:
    Redaction(SessionId session, Asks asks)
        : session_(session),
          asks_(std::move(asks)),
          by_{ActorType::token, user_name()},
          now_(io::SystemClock().now()) {}

    [[nodiscard]] Result<archive::Writer::Session> apply(archive::Writer::Session session) {
        if (session.entry.id != session_) return session;
        auto const store = store_of(session.lines);
        if (!store) return std::unexpected(store.error());
        Reports reports;
        for (runner::RedactionAsk const& ask : asks_) {
            auto report = runner::redact_stored(**store, session_, ask, by_, now_);
            if (!report) return std::unexpected(std::move(report.error()));
            reports.push_back(*std::move(report));
        }
        if (auto noted = note_audit(**store); !noted)
            return std::unexpected(std::move(noted.error()));
        reports_ = std::move(reports);
        return session_in(**store, std::move(session.entry));
    }
    [[nodiscard]] Reports const& reports() const { return reports_; }
    // The lines of the newest apply() that belong into an audit.
    [[nodiscard]] std::string const& audit() const { return audit_; }

private:
    [[nodiscard]] Result<void> note_audit(port::Store& store) {
        auto const rows = store.audit(1, 1'000);  // the first is that of place()
        if (!rows) return std::unexpected(rows.error());
        audit_.clear();
        for (port::AuditRow const& row : *rows) audit_ += row.line + "\n";
        return {};
    }

    SessionId session_;
    Asks asks_;
    session::Actor by_;
    Time now_;
    Reports reports_;
    std::string audit_;
};

Error in_file(archive::File const& file, Error error) {
    error.detail = file.path.string() + ": " + error.detail;
    return error;
}

// `lines`: of the newest apply(), which files_of() has made for each file.
Result<void> add_to_audit(std::filesystem::path const& directory, std::string const& lines) {
    if (lines.empty()) return {};
    auto const path = directory / "audit.jsonl";
    io::Fd const fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    if (!fd.open()) return backup::refused(path, errno);
    if (auto written = backup::write_all(fd.get(), lines, path); !written) return written;
    if (auto synced = backup::sync_file(fd.get(), path); !synced) return synced;
    return backup::sync_directory(directory);
}

// The files that hold a state of the session, of which all can be changed.
Result<std::vector<archive::File const*>> files_of(archive::Archive const& all, SessionId session,
                                                   Redaction& redaction) {
    std::vector<archive::File const*> out;
    for (archive::File const& file : all.files())
        for (archive::Entry const& entry : file.index.sessions) {
            if (entry.id != session) continue;
            auto lines = archive::Archive::read({&file, &entry});
            if (!lines) return std::unexpected(std::move(lines.error()));
            auto const tried = redaction.apply({entry, *std::move(lines)});
            if (!tried) return std::unexpected(in_file(file, tried.error()));
            out.push_back(&file);
        }
    return out;
}

Result<Reports> redact(archive::Archive const& all, SessionId session,
                       cli::ArchiveRedaction const& options) {
    auto asks = asks_of(session, options);
    if (!asks) return std::unexpected(std::move(asks.error()));
    Redaction redaction(session, *std::move(asks));
    auto const files = files_of(all, session, redaction);
    if (!files) return std::unexpected(files.error());
    if (options.dry_run) return redaction.reports();
    auto const masters = master_keys(options.place.key_env);
    if (!masters) return std::unexpected(masters.error());
    io::SystemEntropy entropy;
    for (archive::File const* const file : *files) {
        archive::Encryption encryption;
        if (file->key) encryption = {&**masters, &entropy};
        auto writer = archive::Writer::open(options.place.directory, encryption);
        if (!writer) return std::unexpected(std::move(writer.error()));
        // The line is written first: nobody could know of a removal without a line.
        auto const noted = add_to_audit(options.place.directory, redaction.audit());
        if (!noted) return std::unexpected(noted.error());
        auto const done = rewrite(
            *writer, *file,
            [&](archive::Writer::Session one) { return redaction.apply(std::move(one)); },
            archive::Writer::OnDamage::copy);
        if (!done) return std::unexpected(done.error());
    }
    return redaction.reports();
}

}  // namespace

std::expected<std::vector<std::string>, std::string> redact_archived(
    cli::ArchiveRedaction const& options) {
    auto const all = options.dry_run ? open_archive(options.place) : open_to_change(options.place);
    if (!all) return std::unexpected(all.error().detail);
    auto const found = all->find(options.session);
    if (!found) return std::unexpected(found.error().detail);
    auto const reports = redact(*all, found->entry->id, options);
    if (!reports) return std::unexpected(reports.error().detail);
    std::vector<std::string> out;
    for (runner::RedactionReport const& report : *reports)
        out.push_back(http::object_text(http::RedactionAnswer{report, options.dry_run}));
    return out;
}

}  // namespace dormouse::app
