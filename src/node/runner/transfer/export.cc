#include "runner/transfer/export.h"

#include "json/json.h"
#include "port/stored_row.h"
#include "runner/transfer/portable.h"
#include "wire/journal/record.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

namespace dormouse::runner {

namespace {

constexpr std::uint32_t page_rows = 1'000;
constexpr std::size_t export_page_bytes = std::size_t{8} << 20;
constexpr std::uint32_t all_rows = std::numeric_limits<std::int32_t>::max();

Result<std::vector<port::SessionRow>> chosen_rows(port::Store& store, std::string const& project) {
    std::vector<port::SessionRow> out;
    for (std::uint64_t after = 0;;) {
        auto rows = store.all_sessions(after, page_rows);
        if (!rows) return std::unexpected(std::move(rows.error()));
        if (rows->empty()) return out;
        after = rows->back().id.number();
        for (port::SessionRow& row : *rows) {
            bool const wanted = project.empty() || row.project == project;
            if (row.status != "deleted" && wanted) out.push_back(std::move(row));
        }
    }
}

Result<port::SessionRow> find(std::vector<port::SessionRow> const& rows, std::string const& name) {
    auto const begins = [&](port::SessionRow const& row) {
        return row.id.text().starts_with(name);
    };
    auto const found = std::ranges::find_if(rows, begins);
    if (found == rows.end() || name.size() <= std::string_view("ses_").size())
        return fail(Code::not_found, "unknown session " + name);
    if (std::ranges::count_if(rows, begins) > 1)
        return fail(Code::bad_value, name + " is the beginning of several sessions");
    return *found;
}

Result<std::vector<port::SessionRow>> rows_of(port::Store& store, ExportChoice const& choice) {
    auto rows = chosen_rows(store, choice.names.empty() ? choice.project : std::string());
    if (!rows || choice.names.empty()) return rows;
    std::vector<port::SessionRow> out;
    for (std::string const& name : choice.names) {
        auto row = find(*rows, name);
        if (!row) return std::unexpected(std::move(row.error()));
        out.push_back(*std::move(row));
    }
    return out;
}

// The lines of one session, of which nothing is written before all are there: an error leaves it
// out.
class SessionLines {
public:
    SessionLines(port::Store& store, port::SessionRow const& row,
                 std::vector<port::OutboxRow> const& undelivered)
        : store_(store), row_(row), outbox_(undelivered) {}

    [[nodiscard]] Result<std::vector<std::string>> all() {
        auto done = add(session_line(row_));
        if (done) done = add_frames();
        if (done) done = add_pending();
        if (done) done = add_keys();
        if (done) done = add_messages();
        if (done) done = add_rules();
        if (!done) return std::unexpected(std::move(done.error()));
        json::Writer out;
        out.begin_object().member("type", "session_end").member("id", row_.id.text());
        out.member("lines", lines_.size()).member("digest", digest_.text());
        lines_.push_back(out.end_object().take());
        return std::move(lines_);
    }
    [[nodiscard]] std::uint64_t events() const { return events_; }

private:
    [[nodiscard]] Result<void> add(std::string line) {
        bytes_ += line.size();
        if (line.size() > transfer_line_bytes_max || bytes_ > transfer_session_bytes_max)
            return fail(Code::too_large, "it is too large for an export: use dormouse backup");
        digest_.add(line);
        lines_.push_back(std::move(line));
        return {};
    }

    [[nodiscard]] Result<void> add_frames() {
        for (Seq from = 1;;) {
            auto frames = store_.page(row_.id, from, export_page_bytes);
            if (!frames) return std::unexpected(std::move(frames.error()));
            if (frames->empty()) break;
            for (port::Frame const& frame : *frames) {
                if (auto done = add(row_line(frame)); !done) return done;
                events_ += frame.count;
                if (auto done = add_artifacts(frame); !done) return done;
            }
            from = frames->back().first + frames->back().count;
        }
        if (events_ == 0) return fail(Code::internal, "its journal is empty");
        return {};
    }

    [[nodiscard]] Result<void> add_artifacts(port::Frame const& frame) {
        auto const records = wire::unpack(row_.id, frame.first, frame.bytes);
        if (!records) return std::unexpected(records.error());
        for (wire::RecordPtr const& record : *records) {
            if (!std::holds_alternative<session::ArtifactEmitted>(record->event.body)) continue;
            auto const bytes = store_.artifact(row_.id, record->event.seq);
            if (!bytes) return std::unexpected(bytes.error());
            if (!*bytes) continue;  // a fork's original has it
            if (auto done = add(artifact_line(record->event.seq, **bytes)); !done) return done;
        }
        return {};
    }

    [[nodiscard]] Result<void> add_pending() {
        auto const rows = store_.pending_rows(row_.id);
        if (!rows) return std::unexpected(rows.error());
        for (port::PendingRow const& row : *rows) {
            if (auto done = add(row_line(row)); !done) return done;
            if (row.settled > 0) continue;
            auto const secret = store_.secret(row_.id, row.call, row.generation);
            if (!secret) return std::unexpected(secret.error());
            if (!*secret) continue;
            if (auto done = add(row_line(port::SecretRow{row.call, row.generation, **secret}));
                !done)
                return done;
        }
        return {};
    }

    [[nodiscard]] Result<void> add_keys() {
        auto const rows = store_.key_rows(row_.id);
        if (!rows) return std::unexpected(rows.error());
        for (port::KeyRow const& row : *rows)
            if (auto done = add(row_line(row)); !done) return done;
        return {};
    }

    [[nodiscard]] Result<void> add_messages() {
        for (port::OutboxRow const& row : outbox_)
            if (auto done = add(row_line(row)); !done) return done;
        port::OutboxFilter filter;
        filter.project = row_.project;
        filter.before = port::OutboxKey{row_.id, port::seq_end - 1, UINT32_MAX};
        filter.limit = page_rows;
        for (;;) {
            auto const rows = store_.list_messages(filter);
            if (!rows) return std::unexpected(rows.error());
            for (port::OutboxRow const& row : *rows) {
                if (row.key.from != row_.id) return {};
                if (auto done = add(row_line(row)); !done) return done;
            }
            if (rows->empty()) return {};
            filter.before = rows->back().key;
        }
    }

    [[nodiscard]] Result<void> add_rules() {
        auto const rules = store_.rules();
        if (!rules) return std::unexpected(rules.error());
        for (port::RuleRow const& rule : *rules) {
            if (rule.session != row_.id) continue;
            if (auto done = add(row_line(rule)); !done) return done;
        }
        return {};
    }

    port::Store& store_;
    port::SessionRow const& row_;
    std::vector<port::OutboxRow> const& outbox_;
    std::vector<std::string> lines_;
    LineDigest digest_;
    std::size_t bytes_ = 0;
    std::uint64_t events_ = 0;
};

using OutboxBySender = std::map<SessionId, std::vector<port::OutboxRow>>;

// Messages between sessions, and quarantined mail: what waits, of all sessions.
Result<OutboxBySender> undelivered_messages(port::Store& store) {
    OutboxBySender out;
    for (std::string const kind : {"session", "held"}) {
        auto rows = store.due_messages(kind, Time::max(), all_rows);
        if (!rows) return std::unexpected(std::move(rows.error()));
        for (port::OutboxRow& row : *rows) out[row.key.from].push_back(std::move(row));
    }
    return out;
}

}  // namespace

Result<SessionExport> SessionExport::open(port::Store& store) {
    auto undelivered = undelivered_messages(store);
    if (!undelivered) return std::unexpected(std::move(undelivered.error()));
    return SessionExport(store, *std::move(undelivered));
}

Result<std::vector<std::string>> SessionExport::lines(port::SessionRow const& row) const {
    static std::vector<port::OutboxRow> const none;
    auto const found = outbox_.find(row.id);
    return SessionLines(*store_, row, found == outbox_.end() ? none : found->second).all();
}

std::string end_line(std::uint64_t sessions, std::uint64_t events) {
    json::Writer out;
    out.begin_object().member("type", "end").member("sessions", sessions);
    return out.member("events", events).end_object().take();
}

Result<ExportReport> export_sessions(port::Store& store, ExportChoice const& choice,
                                     TransferSink const& line) {
    auto const rows = rows_of(store, choice);
    if (!rows) return std::unexpected(rows.error());
    auto undelivered = undelivered_messages(store);
    if (!undelivered) return std::unexpected(std::move(undelivered.error()));
    TransferHead head{choice.release, choice.at, {}, {}};
    for (port::SessionRow const& row : *rows) {
        head.sessions.push_back(row.id);
        for (port::OutboxRow const& message : (*undelivered)[row.id])
            if (message.makes) head.reserved.push_back(*message.makes);
    }
    if (auto done = line(head_line(head)); !done) return std::unexpected(std::move(done.error()));
    ExportReport report;
    for (port::SessionRow const& row : *rows) {
        SessionLines session(store, row, (*undelivered)[row.id]);
        auto lines = session.all();
        if (!lines && lines.error().code == Code::store_unavailable)
            return std::unexpected(std::move(lines.error()));
        if (!lines) {
            report.left_out.push_back(row.id.text() + ": " + lines.error().detail);
            continue;
        }
        for (std::string& one : *lines)
            if (auto done = line(std::move(one)); !done)
                return std::unexpected(std::move(done.error()));
        ++report.sessions;
        report.events += session.events();
    }
    auto done = line(end_line(report.sessions, report.events));
    if (!done) return std::unexpected(std::move(done.error()));
    return report;
}

}  // namespace dormouse::runner
