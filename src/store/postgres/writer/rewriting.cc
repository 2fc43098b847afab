#include "store/postgres/writer/rewriting.h"

#include "base/text/text.h"
#include "store/postgres/reader/read_rows.h"
#include "store/postgres/schema/layout.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::store::postgres {

namespace {

using port::Rewriter;

constexpr std::int64_t rewritten_rows = 200;
constexpr std::int64_t rewritten_bytes = std::int64_t{4} << 20;
constexpr auto vacuum_wait = std::chrono::hours(12);

// A row of a batch; its texts are copies, which the Rewriter takes.
struct Stored : Row {
    [[nodiscard]] std::string text(int column) const { return std::string(Row::text(column)); }
};

// The parameters of the update; nullopt: the row stays.
using Change = Result<std::optional<Parameters>>;

// `select`: rows beyond a cursor, in its order, by size and number; its first columns are the
// cursor. The parameters of both statements begin with the cursor.
struct ContentTable {
    char const* name;
    int numbers;  // of the cursor
    int texts;    // of the cursor, after them
    char const* select;
    char const* update;
    Change (*handle)(Stored const& row, Rewriter& rewriter, Parameters cursor);
};

Change handle_frame(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const session = session_id(row.text(2));
    if (!session) return std::unexpected(session.error());
    auto frame = frame_of(*session, row.rows, row.row, 3);
    if (!frame) return std::unexpected(std::move(frame.error()));
    auto changed = rewriter.frame(*session, *frame);
    if (!changed) return std::nullopt;
    frame->bytes = *std::move(changed);
    auto const n = row.integer(4);
    auto const sum = n < 0 ? checksum(key_of(session->number(), frame->first), n, frame->bytes)
                           : static_cast<std::int64_t>(port::stamp_of(*session, *frame));
    return std::move(cursor.integer(sum).text(frame->bytes));
}

Change handle_snapshot(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const session = session_id(row.text(1));
    if (!session) return std::unexpected(session.error());
    port::SnapshotRow const snapshot{static_cast<Seq>(row.integer(2)),
                                     static_cast<std::uint32_t>(row.integer(3)), row.text(5)};
    auto const place = key_of(session->number(), snapshot.seq);
    if (checksum(place, snapshot.format, snapshot.state) != row.integer(4))
        return damaged("the snapshot of " + session->text());
    auto const changed = rewriter.snapshot(*session, snapshot);
    if (!changed) return std::nullopt;
    return std::move(cursor.integer(checksum(place, snapshot.format, *changed)).bytes(*changed));
}

Change handle_artifact(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const session = session_id(row.text(2));
    if (!session) return std::unexpected(session.error());
    auto const seq = static_cast<Seq>(row.integer(1));
    auto const sum_of = [&](std::string const& bytes) {
        return checksum(key_of(session->number(), seq), static_cast<std::int64_t>(bytes.size()),
                        bytes);
    };
    auto const bytes = row.text(4);
    if (sum_of(bytes) != row.integer(3))
        return damaged("the artifact of " + session->text() + ", event " + std::to_string(seq));
    auto const changed = rewriter.artifact(*session, seq, bytes);
    if (!changed) return std::nullopt;
    return std::move(cursor.integer(sum_of(*changed)).bytes(*changed));
}

Change handle_title(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const session = session_id(row.text(1));
    if (!session) return std::unexpected(session.error());
    auto const changed = rewriter.title(*session, row.text(2));
    if (!changed) return std::nullopt;
    return std::move(cursor.text(*changed));
}

Change handle_message(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const session = session_id(row.text(3));
    if (!session) return std::unexpected(session.error());
    port::OutboxKey const key{*session, static_cast<Seq>(row.integer(1)),
                              static_cast<std::uint32_t>(row.integer(2))};
    auto const sum_of = [&](std::string const& body) {
        return checksum(key_of(session->number(), key.seq), key.n, body);
    };
    auto const body = row.text(5), error = row.text(6);
    if (sum_of(body) != row.integer(4))
        return damaged("a message of " + session->text() + ", event " + std::to_string(key.seq));
    auto const new_body = rewriter.message(key, body);
    auto const new_error = error.empty() ? Rewriter::Changed() : rewriter.message_error(key, error);
    if (!new_body && !new_error) return std::nullopt;
    auto const kept = new_body.value_or(body);
    return std::move(cursor.integer(sum_of(kept)).bytes(kept).text(new_error.value_or(error)));
}

Change handle_secret(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const session = session_id(row.text(3));
    if (!session) return std::unexpected(session.error());
    auto const changed =
        rewriter.secret(*session, {static_cast<CallNo>(row.integer(1)),
                                   static_cast<Generation>(row.integer(2)), row.text(4)});
    if (!changed) return std::nullopt;
    return std::move(cursor.text(*changed));
}

Change handle_sent(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const session = session_id(row.text(5));
    if (!session) return std::unexpected(session.error());
    auto const changed = rewriter.sent(
        *session, {static_cast<CallNo>(row.integer(1)), static_cast<Generation>(row.integer(2)),
                   row.text(3), row.text(4), row.text(6)});
    if (!changed) return std::nullopt;
    return std::move(cursor.bytes(*changed));
}

Change handle_kept(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const changed = rewriter.kept(port::bits_of(row.text(0)), row.text(1));
    if (!changed) return std::nullopt;
    return std::move(cursor.bytes(*changed));
}

Change handle_rule(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    auto const id = row.text(0), body = row.text(3);
    if (checksum(row.integer(1), 0, id + body) != row.integer(2)) return damaged("the rule " + id);
    auto const changed = rewriter.rule(id, body);
    if (!changed) return std::nullopt;
    return std::move(cursor.integer(checksum(row.integer(1), 0, id + *changed)).bytes(*changed));
}

Change handle_device(Stored const& row, Rewriter& rewriter, Parameters cursor) {
    port::DeviceRow device;
    device.id = row.text(0);
    device.p256dh = row.text(1);
    device.auth = row.text(2);
    auto const changed = rewriter.device(device);
    if (!changed) return std::nullopt;
    return std::move(cursor.text(changed->p256dh).text(changed->auth));
}

// Rows of the inner query until their total reaches `bytes`; the last one may exceed it.
#define WITHIN(order, size, inner, bytes)                                              \
    "SELECT * FROM (SELECT x.*, sum(octet_length(" size ")) OVER (ORDER BY " order     \
    ") - octet_length(" size ") AS before FROM (" inner ") x) y WHERE before < " bytes \
    " ORDER BY " order
#define OF_SESSION " JOIN sessions s ON s.no = t.no "

constexpr std::array rewritten_tables{
    ContentTable{"journal", 2, 0,
                 WITHIN("no, first", "data",
                        "SELECT t.no, t.first, s.id, t.first AS from_event, t.n, t.sum, t.data"
                        " FROM journal t" OF_SESSION
                        "WHERE (t.no, t.first) > ($1, $2) ORDER BY t.no, t.first LIMIT $3",
                        "$4"),
                 // The row of a session has the stamp of its newest frame.
                 "WITH changed AS (UPDATE journal SET sum = $3, data = $4"
                 "  WHERE no = $1 AND first = $2 RETURNING n)"
                 " UPDATE sessions SET stamp = $3 WHERE no = $1"
                 "  AND head = $2 + (SELECT n FROM changed) - 1",
                 handle_frame},
    ContentTable{
        "snapshots", 1, 0,
        WITHIN("no", "state",
               "SELECT t.no, s.id, t.seq, t.format, t.sum, t.state FROM snapshots t" OF_SESSION
               "WHERE t.no > $1 ORDER BY t.no LIMIT $2",
               "$3"),
        "UPDATE snapshots SET sum = $2, state = $3 WHERE no = $1", handle_snapshot},
    ContentTable{"artifacts", 2, 0,
                 WITHIN("no, seq", "data",
                        "SELECT t.no, t.seq, s.id, t.sum, t.data FROM artifacts t" OF_SESSION
                        "WHERE (t.no, t.seq) > ($1, $2) ORDER BY t.no, t.seq LIMIT $3",
                        "$4"),
                 "UPDATE artifacts SET sum = $3, data = $4 WHERE no = $1 AND seq = $2",
                 handle_artifact},
    ContentTable{"sessions", 1, 0,
                 WITHIN("no", "title",
                        "SELECT no, id, title FROM sessions WHERE no > $1 AND title <> ''"
                        " ORDER BY no LIMIT $2",
                        "$3"),
                 "UPDATE sessions SET title = $2 WHERE no = $1", handle_title},
    ContentTable{
        "posts", 3, 0,
        WITHIN("no, seq, n", "data",
               "SELECT t.no, t.seq, t.n, s.id, t.sum, t.data, t.last_error FROM posts t" OF_SESSION
               "WHERE (t.no, t.seq, t.n) > ($1, $2, $3) ORDER BY t.no, t.seq, t.n"
               " LIMIT $4",
               "$5"),
        "UPDATE posts SET sum = $4, data = $5, last_error = $6"
        " WHERE no = $1 AND seq = $2 AND n = $3",
        handle_message},
    ContentTable{"secrets", 3, 0,
                 WITHIN("no, call, gen", "secret",
                        "SELECT t.no, t.call, t.gen, s.id, t.secret FROM secrets t" OF_SESSION
                        "WHERE (t.no, t.call, t.gen) > ($1, $2, $3)"
                        " ORDER BY t.no, t.call, t.gen LIMIT $4",
                        "$5"),
                 "UPDATE secrets SET secret = $4 WHERE no = $1 AND call = $2 AND gen = $3",
                 handle_secret},
    ContentTable{
        "sent", 3, 2,
        WITHIN("no, call, gen, target, ref", "body",
               "SELECT t.no, t.call, t.gen, t.target, t.ref, s.id, t.body FROM sent t" OF_SESSION
               "WHERE (t.no, t.call, t.gen, t.target, t.ref) > ($1, $2, $3, $4, $5)"
               " ORDER BY t.no, t.call, t.gen, t.target, t.ref LIMIT $6",
               "$7"),
        "UPDATE sent SET body = $6 WHERE no = $1 AND call = $2 AND gen = $3"
        " AND target = $4 AND ref = $5",
        handle_sent},
    ContentTable{"kept", 0, 1,
                 WITHIN("key", "body",
                        "SELECT key, body FROM kept WHERE key > $1 ORDER BY key LIMIT $2", "$3"),
                 "UPDATE kept SET body = $2 WHERE key = $1", handle_kept},
    ContentTable{"rules", 0, 1,
                 WITHIN("id", "data",
                        "SELECT id, coalesce(no, 0) AS no, sum, data FROM rules WHERE id > $1"
                        " ORDER BY id LIMIT $2",
                        "$3"),
                 "UPDATE rules SET sum = $2, data = $3 WHERE id = $1", handle_rule},
    ContentTable{
        "devices", 0, 1,
        WITHIN("id", "auth",
               "SELECT id, p256dh, auth FROM devices WHERE id > $1 ORDER BY id LIMIT $2", "$3"),
        "UPDATE devices SET p256dh = $2, auth = $3 WHERE id = $1", handle_device},
};
#undef OF_SESSION
#undef WITHIN

Parameters start_of(ContentTable const& table) {
    Parameters out;
    for (int i = 0; i < table.numbers; ++i) out.integer(-1);
    for (int i = 0; i < table.texts; ++i) out.text("");
    return out;
}

Parameters cursor_at(ContentTable const& table, Stored const& row) {
    Parameters out;
    for (int i = 0; i < table.numbers; ++i) out.integer(row.integer(i));
    for (int i = 0; i < table.texts; ++i) out.text(row.text(table.numbers + i));
    return out;
}

Result<std::vector<Call>> updates_of(ContentTable const& table, Rows const& rows,
                                     Rewriter& rewriter) {
    std::vector<Call> out;
    for (int i = 0; i < rows.size(); ++i) {
        Stored const row{{rows, i}};
        auto change = table.handle(row, rewriter, cursor_at(table, row));
        if (!change) return std::unexpected(std::move(change.error()));
        if (*change) out.push_back({table.update, **std::move(change)});
    }
    return out;
}

}  // namespace

Answer<std::uint64_t> Rewriting::all() {
    std::uint64_t changed = 0;
    for (std::size_t which = 0; which < rewritten_tables.size(); ++which) {
        auto const some = table(which);
        if (!some) return some;
        changed += *some;
    }
    return changed;
}

Answer<std::uint64_t> Rewriting::table(std::size_t which) {
    ContentTable const& table = rewritten_tables.at(which);
    std::uint64_t changed = 0;
    for (auto cursor = start_of(table);;) {
        Call call{table.select, std::move(cursor)};
        call.parameters.integer(rewritten_rows).integer(rewritten_bytes);
        auto const rows = connection_.run(call, wait_);
        if (!rows) return std::unexpected(rows.error());
        if (rows->size() == 0) return changed;
        auto updates = updates_of(table, *rows, rewriter_);
        if (!updates) return std::unexpected(Failure{.error = std::move(updates.error())});
        changed += updates->size();
        if (auto done = write(std::move(*updates)); !done)
            return std::unexpected(std::move(done.error()));
        cursor = cursor_at(table, {*rows, rows->size() - 1});
    }
}

Answer<void> Rewriting::write(std::vector<Call> updates) {
    if (updates.empty()) return {};
    updates.insert(updates.begin(), fence_());
    auto const done = connection_.run(updates, wait_);
    if (!done) return std::unexpected(done.error());
    if (!connection_.warned()) return {};
    // A wait for the standby was cancelled: it may not have them.
    return std::unexpected(Failure{
        .error = {Code::store_unavailable, "PostgreSQL: a standby did not confirm", {}, 0}});
}

namespace {

bool vacuum_all(Connection& connection) {
    for (ContentTable const& table : rewritten_tables) {
        auto const done = connection.script(std::string("VACUUM FULL ") + table.name, vacuum_wait);
        if (!done || connection.warned()) return false;
    }
    return true;
}

}  // namespace

bool drop_old_versions(Connection& connection) {
    if (!connection.script("SET statement_timeout TO 0", look_wait)) return false;
    bool const dropped = vacuum_all(connection);
    bool const limited = connection.script("SET statement_timeout TO '10s'", look_wait).has_value();
    return dropped && limited;
}

}  // namespace dormouse::store::postgres
