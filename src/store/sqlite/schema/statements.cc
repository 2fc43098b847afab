#include "store/sqlite/schema/statements.h"

#include "port/stored_row.h"

namespace dormouse::store::sqlite {
namespace {

using port::in_order;

// The newest frame; its bytes only if the checksum is a short one (layout.h).
#define NEWEST_FRAME                                                                      \
    "SELECT k, n, sum, CASE WHEN sum BETWEEN 0 AND 4294967295 THEN data END FROM journal" \
    " WHERE k > ?1 AND k < ?2 ORDER BY k DESC LIMIT 1"
// Dead or disabled before ?1. An older release did not store the time.
#define GIVEN_UP " state > 1 AND next_at < ?1 AND created < ?1 AND kind NOT IN ('session', 'held')"

constexpr auto writes = in_order<Write>({
    {Write::begin, "BEGIN IMMEDIATE"},
    {Write::commit, "COMMIT"},
    {Write::rollback, "ROLLBACK"},
    {Write::savepoint, "SAVEPOINT one"},
    {Write::release, "RELEASE one"},
    {Write::undo, "ROLLBACK TO one"},
    {Write::find_session, "SELECT id, project FROM sessions WHERE no = ?1"},
    {Write::find_alias,
     "SELECT no FROM sessions INDEXED BY sessions_by_alias WHERE project = (SELECT id FROM names "
     "WHERE name = ?1) AND alias = ?2 AND alias <> '' AND status <> 'completed' AND status <> "
     "'deleted' AND no <> ?3 LIMIT 1"},
    {Write::find_head, NEWEST_FRAME},
    {Write::find_name, "SELECT id FROM names WHERE name = ?1"},
    {Write::add_name, "INSERT INTO names(name) VALUES(?1) RETURNING id"},
    {Write::add_frame, "INSERT INTO journal(k, n, sum, data) VALUES(?1, ?2, ?3, ?4)"},
    {Write::add_session,
     "INSERT INTO sessions(no, id, project, agent, alias, title, status, created, updated,"
     " turn) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
    // The id, the project and the time of creation never change.
    {Write::put_session,
     "UPDATE sessions SET agent = ?2, alias = ?3, title = ?4, status = ?5, updated = ?6, turn = ?7"
     " WHERE no = ?1"},
    {Write::put_wake,
     "INSERT INTO wakeups(no, wake_at) VALUES(?1, ?2) ON CONFLICT(no) DO UPDATE SET wake_at = "
     "excluded.wake_at"},
    {Write::clear_wake, "DELETE FROM wakeups WHERE no = ?1"},
    {Write::put_pending,
     "INSERT INTO pending(no, call, gen, status, project, tool, created, timeout, paused, settled,"
     " ref) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, nullif(?11, ''))"
     " ON CONFLICT(no, call, gen) DO UPDATE SET status = excluded.status, tool = excluded.tool,"
     " created = excluded.created, timeout = excluded.timeout, paused = excluded.paused,"
     " settled = excluded.settled, ref = excluded.ref"},
    {Write::add_key, "INSERT INTO keys(no, key, seq) VALUES(?1, ?2, ?3)"},
    {Write::put_snapshot,
     "INSERT OR REPLACE INTO snapshots(no, seq, format, sum, state) VALUES(?1, ?2, ?3, ?4, ?5)"},
    {Write::add_created, "INSERT INTO created(key, no) VALUES(?1, ?2)"},
    {Write::erase_frames, "DELETE FROM journal WHERE k > ?1 AND k < ?2"},
    {Write::erase_frames_to, "DELETE FROM journal WHERE k > ?1 AND k <= ?2"},
    {Write::erase_pending_to,
     "DELETE FROM pending WHERE no = ?1 AND paused <= ?2 AND settled > 0 AND settled <= ?2"},
    {Write::erase_keys_to,
     "DELETE FROM keys WHERE no = ?1 AND seq <= ?2 AND instr(?3, CAST(substr(key, 1, 1) AS TEXT)) "
     "> "
     "0"},
    {Write::erase_secrets_to, "DELETE FROM secrets WHERE no = ?1 AND call <= ?2"},
    {Write::erase_sent_to, "DELETE FROM sent WHERE no = ?1 AND call <= ?2"},
    {Write::erase_pending_after, "DELETE FROM pending WHERE no = ?1 AND paused > ?2"},
    {Write::erase_keys_after, "DELETE FROM keys WHERE no = ?1 AND seq > ?2"},
    {Write::erase_pending, "DELETE FROM pending WHERE no = ?1"},
    {Write::erase_keys, "DELETE FROM keys WHERE no = ?1"},
    {Write::erase_snapshot, "DELETE FROM snapshots WHERE no = ?1"},
    {Write::mark_deleted,
     "UPDATE sessions SET status = 'deleted', turn = 0, title = '', alias = '' WHERE no = ?1"},
    {Write::find_deleted,
     "SELECT 1 FROM sessions WHERE no = ?1 AND id = ?2 AND status = 'deleted' AND NOT EXISTS "
     "(SELECT"
     " 1 FROM journal WHERE k > ?3 AND k <= ?4)"},
    {Write::find_unsent,
     "SELECT 1 FROM posts WHERE k > ?1 AND k <= ?2 AND state = 0 AND kind <> 'held' LIMIT 1"},
    {Write::forget_outbox, "DELETE FROM posts WHERE k > ?1 AND k <= ?2 AND state <> 0"},
    {Write::forget_feed, "UPDATE feed SET k = 0 WHERE k > ?1 AND k <= ?2"},
    {Write::forget_session, "DELETE FROM sessions WHERE no = ?1"},
    {Write::add_artifact, "INSERT INTO artifacts(k, sum, data) VALUES(?1, ?2, ?3)"},
    {Write::erase_artifacts, "DELETE FROM artifacts WHERE k > ?1 AND k < ?2"},
    {Write::erase_artifact, "DELETE FROM artifacts WHERE k = ?1"},
    {Write::rewrite_frame,
     "UPDATE journal SET sum = ?3, data = ?4 WHERE k = ?1 AND n = ?2 RETURNING 1"},
    {Write::erase_sent_of, "DELETE FROM sent WHERE no = ?1 AND call = ?2"},
    {Write::overwrite_due,
     "INSERT INTO meta(name, value) VALUES('overwrite', 1) ON CONFLICT(name) DO NOTHING"},
    {Write::removal_due,
     "INSERT INTO meta(name, value) VALUES('removed', 1) ON CONFLICT(name) DO NOTHING"},
    {Write::removal_due_of,
     "INSERT INTO meta(name, value) SELECT 'removed', 1 FROM sessions WHERE no = ?1 AND status ="
     " 'deleted' ON CONFLICT(name) DO UPDATE SET value = 1 RETURNING 1"},
    {Write::add_feed, "INSERT INTO feed(n, k, project) VALUES(?1, ?2, ?3)"},
    {Write::trim_feed, "DELETE FROM feed WHERE n <= ?1"},
    {Write::add_outbox_message,
     "INSERT INTO posts(k, n, state, next_at, kind, target, makes, created, attempts, last_status,"
     " last_error, delivered, sum, data)"
     " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"},
    {Write::take_outbox_message, "DELETE FROM posts WHERE k = ?1 AND n = ?2"},
    {Write::put_message,
     "UPDATE posts SET state = ?3, next_at = ?4, attempts = ?5, last_status = ?6, last_error = ?7,"
     " delivered = ?8 WHERE k = ?1 AND n = ?2"
     " AND (?9 IS NULL OR (state = 0 AND attempts = ?9 AND next_at = ?10))"},
    {Write::drop_message,
     "DELETE FROM posts WHERE k = ?1 AND n = ?2 AND state = 0 AND attempts = ?3 AND next_at = ?4"},
    {Write::put_secret,
     "INSERT OR REPLACE INTO secrets(no, call, gen, secret) VALUES(?1, ?2, ?3, ?4)"},
    {Write::erase_secrets, "DELETE FROM secrets WHERE no = ?1"},
    {Write::put_sent,
     "INSERT OR REPLACE INTO sent(no, call, gen, target, ref, body)"
     " SELECT no, ?2, ?3, ?4, ?5, ?6 FROM sessions WHERE no = ?1 AND status <> 'deleted'"},
    {Write::drop_sent,
     "DELETE FROM sent WHERE no = ?1 AND call = ?2 AND gen = ?3 AND target = ?4 AND ref = ?5"},
    {Write::erase_sent, "DELETE FROM sent WHERE no = ?1"},
    {Write::add_delivered,
     "INSERT INTO delivered(key, digest) VALUES(?1, ?2) ON CONFLICT(key) DO NOTHING"},
    {Write::forget_kept, "DELETE FROM kept WHERE key = ?1"},
    {Write::drop_old_kept, "DELETE FROM kept INDEXED BY kept_by_time WHERE at < ?1"},
    {Write::find_delivered, "SELECT 1 FROM delivered WHERE key = ?1"},
    {Write::add_kept,
     "INSERT INTO kept(key, digest, id, at, source, project, ref, body) VALUES(?1, ?2, ?3, ?4, ?5,"
     " ?6, ?7, ?8)"},
    {Write::put_token,
     "INSERT OR REPLACE INTO tokens(id, kind, name, role, projects, agents, secret, created,"
     " expires) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
    {Write::drop_token, "DELETE FROM tokens WHERE id = ?1 RETURNING 1"},
    {Write::put_device,
     "INSERT OR REPLACE INTO devices(id, token, person, role, label, endpoint, p256dh, auth,"
     " created) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
    {Write::drop_device, "DELETE FROM devices WHERE id = ?1 RETURNING 1"},
    {Write::drop_devices_of_token, "DELETE FROM devices WHERE token = ?1"},
    {Write::find_token, "SELECT 1 FROM tokens WHERE id = ?1"},
    {Write::put_data_key,
     "INSERT OR REPLACE INTO data_keys(id, master, mixed, wrapped) VALUES(?1, ?2, ?3, ?4)"},
    {Write::add_rule,
     "INSERT OR REPLACE INTO rules(id, no, uses, used, sum, data) VALUES(?1, ?2, 0, NULL, ?3, ?4)"},
    {Write::use_rule, "UPDATE rules SET uses = uses + 1, used = ?2 WHERE id = ?1"},
    {Write::drop_rule, "DELETE FROM rules WHERE id = ?1 RETURNING 1"},
    {Write::erase_rules, "DELETE FROM rules WHERE no = ?1"},
    {Write::add_to_day,
     "INSERT INTO day_sums(day, name, amount) VALUES(?1, ?2, ?3)"
     " ON CONFLICT(day, name) DO UPDATE SET amount = amount + excluded.amount"},
    {Write::drop_days, "DELETE FROM day_sums WHERE day < ?1"},
    {Write::add_audit, "INSERT INTO audit(n, line, hash) VALUES(?1, ?2, ?3)"},
    {Write::drop_delivered,
     "DELETE FROM posts INDEXED BY posts_delivered WHERE state = 1 AND delivered < ?1"},
    {Write::drop_given_up,
     "DELETE FROM posts WHERE id IN (SELECT id FROM posts INDEXED BY posts_given_up WHERE" GIVEN_UP
     " LIMIT ?2)"},
    {Write::trim_audit, "DELETE FROM audit WHERE n <= ?1"},
    {Write::audited, "UPDATE meta SET value = ?1 WHERE name = 'audited'"},
});

// The columns of each query for a session's row. CROSS JOIN keeps the order of the tables.
#define SESSION_COLUMNS \
    "SELECT s.id, p.name, a.name, s.alias, s.title, s.status, s.created, s.updated, s.turn "
#define SESSION_NAMES \
    " CROSS JOIN names p ON p.id = s.project CROSS JOIN names a ON a.id = s.agent "
#define PENDING_COLUMNS \
    "SELECT p.call, p.gen, p.status, t.name, p.created, p.timeout, p.paused, p.settled, p.ref"
#define PENDING_TOOL " CROSS JOIN names t ON t.id = p.tool "
// ?4: a tool's name, or '' for all. ?5: a bit set of statuses.
#define PENDING_CHOICE " AND (?4 = '' OR t.name = ?4) AND (?5 >> p.status) & 1 "

#define OUTBOX_COLUMNS                                                                             \
    "SELECT s.id, o.k, o.n, o.state, o.next_at, o.kind, o.target, o.makes, o.created, o.attempts," \
    " o.last_status, o.last_error, o.delivered, o.sum, o.data "
#define OUTBOX_SENDER " CROSS JOIN sessions s ON s.no = o.k >> 24 "

#define FEED                                                                                 \
    "SELECT f.k, j.n, j.sum, j.data, f.n, s.id, s.updated, s.status, p.name FROM feed f"     \
    " CROSS JOIN sessions s ON s.no = abs(f.k) >> 24 CROSS JOIN names p ON p.id = f.project" \
    " LEFT JOIN journal j ON j.k = f.k WHERE f.n > ?1 AND f.n <= ?2 "

constexpr auto reads = in_order<Read>({
    {Read::begin, "BEGIN"},
    {Read::end, "COMMIT"},
    {Read::ping, "SELECT value FROM meta WHERE name = 'epoch'"},
    {Read::session, SESSION_COLUMNS "FROM sessions s" SESSION_NAMES "WHERE s.no = ?1"},
    {Read::snapshot, "SELECT seq, format, sum, state FROM snapshots WHERE no = ?1"},
    {Read::wake, "SELECT wake_at FROM wakeups WHERE no = ?1"},
    {Read::frames, "SELECT k, n, sum, data FROM journal WHERE k >= ?1 AND k < ?2 ORDER BY k"},
    // The key of the frame with event ?2, in the journal that begins at ?1.
    {Read::frames_from, "SELECT max(k) FROM journal WHERE k > ?1 AND k <= ?2"},
    {Read::key, "SELECT seq FROM keys WHERE no = ?1 AND key = ?2"},
    {Read::day_sum, "SELECT amount FROM day_sums WHERE day = ?1 AND name = ?2"},
    {Read::day_mark,
     "SELECT coalesce(sum(amount % ?3), 0) FROM day_sums"
     " WHERE day = ?1 AND (?2 = '' OR substr(name, -length(?2)) = ?2)"},
    {Read::pending, PENDING_COLUMNS " FROM pending p" PENDING_TOOL
                                    "WHERE p.no = ?1 AND p.call = ?2 AND p.gen = ?3"},
    // Two statements, because (wake_at, no) > (?, ?) would read every session with the same wake
    // time.
    {Read::due_at,
     "SELECT o.wake_at, s.id FROM wakeups o INDEXED BY wakeups_by_time CROSS JOIN sessions s ON "
     "s.no = "
     "o.no"
     " WHERE o.wake_at = ?1 AND o.no > ?2 ORDER BY o.no LIMIT ?3"},
    {Read::due_after,
     "SELECT o.wake_at, s.id FROM wakeups o INDEXED BY wakeups_by_time CROSS JOIN sessions s ON "
     "s.no = "
     "o.no"
     " WHERE o.wake_at > ?1 AND o.wake_at <= ?2 ORDER BY o.wake_at, o.no LIMIT ?3"},
    {Read::next_due, "SELECT min(wake_at) FROM wakeups"},
    {Read::largest_number, "SELECT max(no) FROM sessions"},
    {Read::forgotten, "SELECT max(value) FROM meta WHERE name = 'forgotten'"},
    {Read::sessions, SESSION_COLUMNS "FROM sessions s INDEXED BY sessions_by_project" SESSION_NAMES
                                     "WHERE s.project = (SELECT id FROM names WHERE name = ?1) AND "
                                     "s.status <> 'deleted' AND s.no < ?2"
                                     " ORDER BY s.no DESC LIMIT ?3"},
    {Read::all_sessions,
     SESSION_COLUMNS "FROM sessions s" SESSION_NAMES "WHERE s.no > ?1 ORDER BY s.no LIMIT ?2"},
    {Read::session_bytes,
     "SELECT (SELECT coalesce(sum(length(CAST(data AS BLOB))), 0) FROM journal"
     "   WHERE k BETWEEN ?1 << 24 AND ?1 << 24 | 16777215)"
     " + (SELECT coalesce(sum(length(data)), 0) FROM artifacts"
     "   WHERE k BETWEEN ?1 << 24 AND ?1 << 24 | 16777215)"
     " + (SELECT coalesce(sum(length(state)), 0) FROM snapshots WHERE no = ?1)"
     " FROM sessions WHERE no = ?1"},
    {Read::journal_bytes,
     "SELECT coalesce(sum(length(CAST(data AS BLOB))), 0) FROM journal"
     " WHERE k BETWEEN ?1 << 24 AND ?1 << 24 | 16777215"},
    {Read::heads,
     "SELECT s.id, (SELECT (j.k & 16777215) + j.n - 1 FROM journal j"
     "   WHERE j.k BETWEEN s.no << 24 AND s.no << 24 | 16777215 ORDER BY j.k DESC LIMIT 1)"
     " FROM sessions s WHERE s.no > ?1 AND s.status <> 'deleted' ORDER BY s.no LIMIT ?2"},
    {Read::completed_until,
     "SELECT id FROM sessions INDEXED BY sessions_completed WHERE status = 'completed'"
     " AND updated <= ?1 ORDER BY updated, no LIMIT ?2"},
    {Read::aliases, SESSION_COLUMNS
     "FROM sessions s INDEXED BY sessions_by_alias" SESSION_NAMES
     "WHERE s.project = (SELECT id FROM names WHERE name = ?1) AND s.alias <> '' AND s.status <> "
     "'completed' AND s.status <> 'deleted' ORDER BY s.alias, s.no LIMIT ?2"},
    {Read::alias, SESSION_COLUMNS
     "FROM sessions s INDEXED BY sessions_by_alias" SESSION_NAMES
     "WHERE s.project = (SELECT id FROM names WHERE name = ?1) AND s.alias = ?3 AND s.alias <> '' "
     "AND s.status <> 'completed' AND s.status <> 'deleted' ORDER BY s.no LIMIT ?2"},
    {Read::next_project,
     "SELECT (SELECT name FROM names WHERE id = s.project) FROM sessions s INDEXED BY "
     "sessions_by_project WHERE s.status <> 'deleted' AND s.project > coalesce((SELECT id FROM "
     "names WHERE name = ?1), 0) ORDER BY s.project LIMIT 1"},
    // Not count(*), which would read all rows.
    {Read::count_sessions,
     "SELECT 1 FROM sessions INDEXED BY sessions_by_project WHERE project = (SELECT id FROM names "
     "WHERE name = ?1) AND status <> 'deleted' LIMIT ?2"},
    // Not status IN (...): SQLite would read the entries of all of these and compare each with ?3.
    {Read::count_by_status,
     "SELECT 1 FROM sessions INDEXED BY sessions_by_status WHERE project = (SELECT id FROM names "
     "WHERE name = ?1) AND status <> 'active' AND status <> 'deleted' AND status = ?3 LIMIT ?2"},
    {Read::sessions_in_error,
     "SELECT id FROM sessions INDEXED BY sessions_by_status WHERE project = (SELECT id FROM names "
     "WHERE name = ?1) AND status <> 'active' AND status <> 'deleted' AND status = 'error'"
     " ORDER BY no LIMIT ?2"},
    {Read::count_by_turn,
     "SELECT 1 FROM sessions INDEXED BY sessions_by_turn WHERE project = (SELECT id FROM names "
     "WHERE name = ?1) AND turn > 0 AND turn = ?3 LIMIT ?2"},
    // Due at time 0: all of them, so few that the projects are compared.
    {Read::count_at_work,
     "SELECT 1 FROM wakeups o INDEXED BY wakeups_by_time CROSS JOIN sessions s ON s.no = o.no "
     "WHERE o.wake_at = 0 AND s.project = (SELECT id FROM names WHERE name = ?1) AND "
     "s.status = 'active' AND s.turn <> 1 LIMIT ?2"},
    {Read::next_waiting,
     "SELECT p.no FROM pending p INDEXED BY pending_open CROSS JOIN sessions s ON s.no = p.no "
     "WHERE s.status <> 'deleted' AND p.project = (SELECT id FROM names WHERE name = ?1) "
     "AND p.status = 0 AND p.no > ?2 ORDER BY p.no LIMIT 1"},
    {Read::pending_open,
     PENDING_COLUMNS ", s.id FROM pending p INDEXED BY pending_open" PENDING_TOOL
                     "CROSS JOIN sessions s ON s.no = p.no"
                     " WHERE s.status <> 'deleted' AND p.project = (SELECT id FROM names WHERE "
                     "name = ?7) AND p.status = 0"
                     " AND (p.no, p.call, p.gen) < (?1, ?2, ?3)" PENDING_CHOICE
                     "ORDER BY p.no DESC, p.call DESC, p.gen DESC LIMIT ?6"},
    {Read::pending_any, PENDING_COLUMNS
     ", s.id FROM sessions s INDEXED BY sessions_by_project CROSS JOIN pending p ON p.no = "
     "s.no" PENDING_TOOL
     "WHERE s.project = (SELECT id FROM names WHERE name = ?7) AND s.status <> 'deleted'"
     " AND s.no <= ?1 AND (s.no < ?1 OR (p.call, p.gen) < (?2, ?3))" PENDING_CHOICE
     "ORDER BY s.no DESC, p.call DESC, p.gen DESC LIMIT ?6"},
    {Read::pending_of_session, PENDING_COLUMNS
     " FROM pending p" PENDING_TOOL "WHERE p.no = ?1 AND (p.call, p.gen) < (?2, ?3)" PENDING_CHOICE
     "ORDER BY p.call DESC, p.gen DESC LIMIT ?6"},
    {Read::pending_by_ref,
     PENDING_COLUMNS ", s.id FROM pending p INDEXED BY pending_by_ref" PENDING_TOOL
                     "CROSS JOIN sessions s ON s.no = p.no"
                     " WHERE s.status <> 'deleted' AND p.project = (SELECT id FROM names WHERE "
                     "name = ?7) AND p.ref = ?8"
                     " AND (p.no, p.call, p.gen) < (?1, ?2, ?3)" PENDING_CHOICE
                     "ORDER BY p.no DESC, p.call DESC, p.gen DESC LIMIT ?6"},
    // Every project has a number above 0. Not count(*), which would read all rows.
    {Read::pending_count,
     "SELECT created FROM pending INDEXED BY pending_open WHERE project > 0 AND status = 0 LIMIT "
     "?1"},
    {Read::pending_count_of,
     "SELECT 1 FROM pending INDEXED BY pending_open WHERE project = (SELECT id FROM names WHERE "
     "name = ?2) AND status = 0 LIMIT ?1"},
    {Read::pending_sessions,
     "SELECT s.id FROM pending p INDEXED BY pending_open CROSS JOIN sessions s ON s.no = p.no"
     " WHERE (p.project, p.no) > (coalesce((SELECT project FROM sessions WHERE no = ?1), 0), ?1)"
     " AND p.status = 0 ORDER BY p.project, p.no LIMIT ?2"},
    {Read::pending_rows,
     PENDING_COLUMNS " FROM pending p" PENDING_TOOL "WHERE p.no = ?1 ORDER BY p.call, p.gen"},
    {Read::key_rows, "SELECT key, seq FROM keys WHERE no = ?1 ORDER BY key"},
    {Read::newest, NEWEST_FRAME},
    {Read::created,
     "SELECT s.id FROM created c CROSS JOIN sessions s ON s.no = c.no WHERE c.key = ?1"},
    {Read::artifact, "SELECT sum, data FROM artifacts WHERE k = ?1"},
    {Read::has_artifact, "SELECT 1 FROM artifacts WHERE k = ?1"},
    {Read::feed_head, "SELECT max(n) FROM feed"},
    {Read::feed_oldest, "SELECT min(n) FROM feed"},
    {Read::feed, FEED "AND f.project = (SELECT id FROM names WHERE name = ?3) ORDER BY f.n"},
    {Read::feed_of_all, FEED "ORDER BY f.n"},
    {Read::due_messages, OUTBOX_COLUMNS "FROM posts o INDEXED BY posts_due" OUTBOX_SENDER
                                        "WHERE o.state = 0 AND o.kind = ?1 AND o.next_at <= ?2"
                                        " ORDER BY o.next_at, o.k, o.n LIMIT ?3"},
    {Read::next_target,
     "SELECT target FROM posts INDEXED BY posts_by_target WHERE state = 0 AND kind <> 'session'"
     " AND target > ?1 ORDER BY target LIMIT 1"},
    {Read::due_to_target,
     "SELECT s.id, o.k, o.n, o.attempts FROM posts o INDEXED BY posts_by_target" OUTBOX_SENDER
     "WHERE o.state = 0 AND o.kind <> 'session' AND o.target = ?1 AND o.next_at <= ?2"
     " ORDER BY o.next_at, o.k, o.n LIMIT ?3"},
    {Read::outbox_message,
     OUTBOX_COLUMNS "FROM posts o" OUTBOX_SENDER "WHERE o.k = ?1 AND o.n = ?2"},
    {Read::largest_made, "SELECT max(makes) FROM posts WHERE makes IS NOT NULL"},
    {Read::secret, "SELECT secret FROM secrets WHERE no = ?1 AND call = ?2 AND gen = ?3"},
    {Read::sent,
     "SELECT ref, body FROM sent WHERE no = ?1 AND call = ?2 AND gen = ?3 AND target = ?4 ORDER BY "
     "ref"
     " LIMIT 100"},
    {Read::delivered, "SELECT digest FROM delivered WHERE key = ?1"},
    {Read::kept_one, "SELECT digest FROM kept WHERE key = ?1"},
    {Read::kept_delivery,
     "SELECT key, digest, id, at, source, project, ref, body FROM kept WHERE key = ?1"},
    // Rows of one time are in the order in which they were added, as the index has them. If the row
    // of the place is gone, those of its time are read again.
    {Read::kept,
     "SELECT key, digest, id, at, source, project, ref, body FROM kept INDEXED BY kept_by_time"
     " WHERE at >= ?1"
     " AND (at > ?1 OR rowid > coalesce((SELECT rowid FROM kept WHERE key = ?2), 0))"
     " ORDER BY at, rowid LIMIT ?3"},
    {Read::tokens,
     "SELECT id, kind, name, role, projects, agents, secret, created, expires FROM tokens"
     " WHERE id > '' ORDER BY id"},
    {Read::devices,
     "SELECT id, token, person, role, label, endpoint, p256dh, auth, created FROM devices"
     " WHERE id > '' ORDER BY id"},
    {Read::data_keys, "SELECT id, master, mixed, wrapped FROM data_keys WHERE id > '' ORDER BY id"},
    // A rule of a session: with the session's id.
    {Read::rules,
     "SELECT r.id, r.no, s.id, r.uses, r.used, r.sum, r.data FROM rules r LEFT JOIN sessions s"
     " ON s.no = r.no WHERE r.id > '' ORDER BY r.id"},
    {Read::audit, "SELECT n, line, hash FROM audit WHERE n > ?1 ORDER BY n LIMIT ?2"},
    {Read::audit_head, "SELECT n, hash FROM audit WHERE n = (SELECT max(n) FROM audit)"},
    {Read::audited, "SELECT value FROM meta WHERE name = 'audited'"},
    {Read::overwrite_due, "SELECT count(*) FROM meta WHERE name = 'overwrite'"},
    // ?4: a state, or -1 for all.
    {Read::list_messages,
     OUTBOX_COLUMNS "FROM posts o" OUTBOX_SENDER
                    "WHERE (o.k, o.n) < (?1, ?2) AND o.kind NOT IN ('session', 'held')"
                    " AND (?4 < 0 OR o.state = ?4)"
                    " AND s.project = (SELECT id FROM names WHERE name = ?3)"
                    " ORDER BY o.k DESC, o.n DESC LIMIT ?5"},
    {Read::count_given_up,
     "SELECT id FROM posts INDEXED BY posts_given_up WHERE" GIVEN_UP " LIMIT ?2"},
});

#undef GIVEN_UP
#undef SESSION_COLUMNS
#undef SESSION_NAMES
#undef PENDING_COLUMNS
#undef PENDING_TOOL
#undef PENDING_CHOICE
#undef OUTBOX_COLUMNS
#undef OUTBOX_SENDER

}  // namespace

std::span<char const* const> write_statements() { return writes; }
std::span<char const* const> read_statements() { return reads; }

}  // namespace dormouse::store::sqlite
