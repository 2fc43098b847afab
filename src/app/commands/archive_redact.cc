#include "app/commands/archive_redact.h"

#include "app/archive_changes.h"
#include "app/commands/archived.h"
#include "app/commands/archived_forks.h"
#include "app/parts/stores.h"
#include "app/parts/user.h"
#include "archive/writer.h"
#include "backup/files.h"
#include "base/text/text.h"
#include "http/objects/body.h"
#include "http/objects/requests.h"
#include "http/resources/sessions/redaction_fields.h"
#include "io/clock.h"
#include "io/fd.h"
#include "runner/lane/redact/redact_copies.h"
#include "runner/lane/stored.h"
#include "runner/transfer/export.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace dormouse::app {

namespace {

using Reports = std::vector<runner::RedactionReport>;

Result<RedactionAsks> asks_of(SessionId session, cli::ArchiveRedaction const& options) {
    RedactionAsks out;
    for (std::string const& request : options.requests) {
        auto const checked = json::check(request);
        if (!checked) return std::unexpected(checked.error());
        http::Body body(json::View(*checked), http::redaction_request);
        out.push_back(http::read_redaction(body, session));
        if (body.error()) return std::unexpected(*body.error());
    }
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

using AsksBySession = std::map<SessionId, RedactionAsks>;

class Redaction {
public:
    explicit Redaction(SessionId root)
        : root_(root), by_{ActorType::token, user_name()}, now_(io::SystemClock().now()) {}

    void add(SessionId session, runner::RedactionAsk ask) {
        asks_[session].push_back(std::move(ask));
    }
    [[nodiscard]] bool changes(SessionId session) const { return asks_.contains(session); }

    [[nodiscard]] Result<archive::Writer::Session> apply(archive::Writer::Session session) {
        auto const asks = asks_.find(session.entry.id);
        if (asks == asks_.end()) return session;
        auto const store = archived_store(session.lines);
        if (!store) return std::unexpected(store.error());
        Reports reports;
        for (runner::RedactionAsk const& ask : asks->second) {
            auto report = runner::redact_stored(**store, session.entry.id, ask, by_, now_);
            // One of several states of a fork may lack it.
            bool const lacks = !report && report.error().code == Code::not_found;
            if (lacks && session.entry.id != root_) report = runner::RedactionReport{};
            if (!report) return std::unexpected(std::move(report.error()));
            reports.push_back(*std::move(report));
        }
        if (auto noted = note_audit(**store); !noted)
            return std::unexpected(std::move(noted.error()));
        reports_[session.entry.id] = std::move(reports);
        return session_in(**store, std::move(session.entry));
    }
    // Returns the reports of the newest apply(), in the order of add().
    [[nodiscard]] Reports const& reports(SessionId session) const { return reports_.at(session); }
    // The lines of the newest apply() that belong into an audit.
    [[nodiscard]] std::string const& audit() const { return audit_; }
    [[nodiscard]] session::Actor const& by() const { return by_; }
    [[nodiscard]] Time now() const { return now_; }

private:
    [[nodiscard]] Result<void> note_audit(port::Store& store) {
        auto const rows = store.audit(1, 1'000);  // the first is that of place()
        if (!rows) return std::unexpected(rows.error());
        audit_.clear();
        for (port::AuditRow const& row : *rows) audit_ += row.line + "\n";
        return {};
    }

    SessionId root_;
    AsksBySession asks_ = {};
    session::Actor by_;
    Time now_;
    std::map<SessionId, Reports> reports_ = {};
    std::string audit_ = {};
};

Error in_file(archive::File const& file, Error error) {
    error.detail = file.path.string() + ": " + error.detail;
    return error;
}

Result<void> add_to_audit(std::filesystem::path const& directory, std::string const& lines) {
    if (lines.empty()) return {};
    auto const path = directory / "audit.jsonl";
    io::Fd const fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
    if (!fd.open()) return backup::refused(path, errno);
    if (auto written = backup::write_all(fd.get(), lines, path); !written) return written;
    if (auto synced = backup::sync_file(fd.get(), path); !synced) return synced;
    return backup::sync_directory(directory);
}

struct ChangedFile {
    archive::File const* file = nullptr;
    std::string audit = {};
};

// The files that hold a state of the sessions, of which all can be changed.
Result<std::vector<ChangedFile>> files_of(archive::Archive const& all, Redaction& redaction) {
    std::vector<ChangedFile> out;
    for (archive::File const& file : all.files()) {
        ChangedFile changed{.file = &file};
        bool any = false;
        for (archive::Entry const& entry : file.index.sessions) {
            if (!redaction.changes(entry.id)) continue;
            auto lines = archive::Archive::read({&file, &entry});
            if (!lines) return std::unexpected(std::move(lines.error()));
            auto const tried = redaction.apply({entry, *std::move(lines)});
            if (!tried) return std::unexpected(in_file(file, tried.error()));
            changed.audit += redaction.audit();
            any = true;
        }
        if (any) out.push_back(std::move(changed));
    }
    return out;
}

// People must know that a part of the file could not be searched.
void name_damaged(archive::File const& file) {
    for (archive::Entry const& entry : file.index.sessions) {
        auto const lines = archive::Archive::read({&file, &entry});
        if (lines) continue;
        auto const text = lines.error().detail + "; it stays as it is";
        std::fprintf(stderr, "%s\n", escape_for_terminal(text).c_str());
    }
}

Result<void> write_files(std::vector<ChangedFile> const& files, Redaction& redaction,
                         cli::ArchiveRedaction const& options) {
    auto const masters = master_keys(options.place.key_env);
    if (!masters) return std::unexpected(masters.error());
    io::SystemEntropy entropy;
    for (auto const& [file, audit] : files) {
        archive::Encryption encryption;
        if (file->key) encryption = {&**masters, &entropy};
        auto writer = archive::Writer::open(options.place.directory, encryption);
        if (!writer) return std::unexpected(std::move(writer.error()));
        // The line is written first: nobody could know of a removal without a line.
        auto const noted = add_to_audit(options.place.directory, audit);
        if (!noted) return std::unexpected(noted.error());
        auto const done = rewrite(
            *writer, *file,
            [&](archive::Writer::Session one) { return redaction.apply(std::move(one)); },
            archive::Writer::OnDamage::copy);
        if (!done) return std::unexpected(done.error());
        name_damaged(*done);
    }
    return {};
}

// The answer for an ask about a session that is not in the archive, of which forks are.
runner::RedactionReport report_of_forks(SessionId root, runner::RedactionAsk const& ask,
                                        Redaction const& redaction) {
    runner::RedactionReport out{.session = root, .what = {}};
    out.what.message = ask.message;
    out.what.call = ask.call;
    out.what.turn = ask.turn;
    out.what.by = redaction.by();
    out.what.reason = ask.reason;
    return out;
}

// The answers for the session, with the forks in which it was removed, too.
Reports answers_of(SessionId root, bool there, RedactionAsks const& asks,
                   ArchivedForks const& forks, Redaction const& redaction) {
    Reports out;
    std::map<SessionId, std::size_t> taken;  // of the reports of each fork
    for (std::size_t i = 0; i < asks.size(); ++i) {
        auto report =
            there ? redaction.reports(root).at(i) : report_of_forks(root, asks[i], redaction);
        for (auto const& [ask, copy, ancestor] : forks) {
            if (ask != i) continue;
            auto const& its = redaction.reports(copy.session).at(taken[copy.session]++);
            report.copies.push_back(copy);
            report.copies.back().seq = its.seq;
            if (there) continue;
            report.what.events += its.what.events;
            report.what.bytes += its.what.bytes;
            report.what.artifacts += its.what.artifacts;
        }
        out.push_back(std::move(report));
    }
    return out;
}

// `there`: the archive has the session itself.
Result<Reports> redact(archive::Archive const& all, SessionId session, bool there,
                       cli::ArchiveRedaction const& options) {
    auto const asks = asks_of(session, options);
    if (!asks) return std::unexpected(asks.error());
    Redaction redaction(session);
    if (there)
        for (runner::RedactionAsk const& ask : *asks) redaction.add(session, ask);
    auto const forks = find_archived_forks(all, session, *asks, redaction.by(), redaction.now());
    if (!forks) return std::unexpected(forks.error());
    if (!there && forks->empty())
        return fail(Code::not_found, "session " + session.text() +
                                         " is not in the archive, and no fork of it that has it");
    for (auto const& [i, copy, ancestor] : *forks) {
        auto ask = runner::ask_for(copy, asks->at(i), ancestor);
        ask.dry_run = options.dry_run;
        redaction.add(copy.session, std::move(ask));
    }
    auto const files = files_of(all, redaction);
    if (!files) return std::unexpected(files.error());
    auto answers = answers_of(session, there, *asks, *forks, redaction);
    if (options.dry_run) return answers;
    if (auto written = write_files(*files, redaction, options); !written)
        return std::unexpected(std::move(written.error()));
    return answers_of(session, there, *asks, *forks, redaction);
}

}  // namespace

std::expected<std::vector<std::string>, std::string> redact_archived(
    cli::ArchiveRedaction const& options) {
    auto const all = options.dry_run ? open_archive(options.place) : open_to_change(options.place);
    if (!all) return std::unexpected(all.error().detail);
    auto const found = all->find(options.session);
    auto const id = found ? found->entry->id : SessionId::parse(options.session);
    if (!found && (!id || !options.forks)) return std::unexpected(found.error().detail);
    auto const reports = redact(*all, *id, found.has_value(), options);
    if (!reports) return std::unexpected(reports.error().detail);
    std::vector<std::string> out;
    for (runner::RedactionReport const& report : *reports)
        out.push_back(http::object_text(http::RedactionAnswer{report, options.dry_run}));
    return out;
}

}  // namespace dormouse::app
