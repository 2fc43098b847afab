#include "store/postgres/statements.h"

#include "port/stored_row.h"

namespace dormouse::store::postgres {
namespace {

using port::in_order;

// The number of the database's history, which changes when a standby is promoted; 0 on a standby.
#define TIMELINE                                \
    "CASE WHEN pg_is_in_recovery() THEN 0 ELSE" \
    " ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END"

constexpr auto writes = in_order<Write>({
    {Write::free_writers,
     "UPDATE writers SET epoch = NULL, incarnation = NULL WHERE epoch IS NOT NULL"},
    {Write::forget_nodes, "DELETE FROM nodes"},
    {Write::register_node, "SELECT register_6($1, $2, $3, $4, $5)"},
    {Write::leave, "SELECT leave_1($1, $2), pg_notify(current_schema(), '')"},
    {Write::take_block, "SELECT take_block_1($1)"},
    {Write::propose,
     "INSERT INTO settings(name, value) VALUES($1, $2) ON CONFLICT(name) DO NOTHING"},
    {Write::agreed, "SELECT value FROM settings WHERE name = $1"},
    {Write::drop_setting, "DELETE FROM settings WHERE name = $1"},
    {Write::values, "SELECT name, value FROM settings WHERE starts_with(name, $1) ORDER BY name"},
    {Write::exchange,
     "WITH changed AS (UPDATE settings SET value = $3 WHERE name = $1 AND value = $2 RETURNING 1),"
     " added AS (INSERT INTO settings(name, value) SELECT $1, $3 WHERE $2 = ''::bytea"
     "   ON CONFLICT(name) DO NOTHING RETURNING 1)"
     "SELECT (SELECT count(*) FROM changed) + (SELECT count(*) FROM added)"},
    {Write::register_keys,
     "UPDATE nodes SET masters = $2"
     " WHERE epoch = (SELECT epoch FROM writers WHERE incarnation = $1)"},
    {Write::announce_keys, "UPDATE nodes SET masters = $2 WHERE epoch = $1"},
    {Write::is_copy,
     "SELECT (NOT EXISTS (SELECT FROM settings WHERE name = 'identity'"
     " AND value = database_identity_4()))::int::bigint"},
    {Write::settle,
     "INSERT INTO settings(name, value) VALUES('identity', database_identity_4())"
     " ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value"},
    // Claims in the order of the keys, and skips messages that another process is about to claim.
    {Write::claim,
     "WITH due AS (SELECT p.no, p.seq, p.n FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])"
     "   k(no, seq, n) JOIN posts p USING (no, seq, n) WHERE p.state = 0 AND p.next_at <= $4"
     "   ORDER BY p.no, p.seq, p.n FOR UPDATE OF p SKIP LOCKED)"
     " UPDATE posts p SET next_at = $5 FROM due"
     " WHERE p.no = due.no AND p.seq = due.seq AND p.n = due.n RETURNING p.no, p.seq, p.n"},
    // A claim of another process ends later than this one's ($5). $6: it may be made twice.
    {Write::renew,
     "WITH own AS (SELECT p.no, p.seq, p.n FROM unnest($1::bigint[], $2::bigint[], $3::bigint[],"
     "   $4::bigint[], $5::bigint[]) k(no, seq, n, attempts, next_at) JOIN posts p"
     "   USING (no, seq, n) WHERE p.state = 0 AND p.attempts = k.attempts"
     "   AND p.next_at IN (k.next_at, $6) ORDER BY p.no, p.seq, p.n FOR UPDATE OF p)"
     " UPDATE posts p SET next_at = $6 FROM own"
     " WHERE p.no = own.no AND p.seq = own.seq AND p.n = own.n RETURNING p.no, p.seq, p.n"},
    {Write::note_timeline,
     "INSERT INTO meta(name, value) SELECT 'timeline', " TIMELINE " ON CONFLICT (name) DO NOTHING"},
    // Only the process that stores the new timeline raises the numbers, once. It raises those of
    // the feed at one writer: all others take numbers above it. It waits for a call of that writer.
    {Write::raise_numbers,
     "WITH other AS (UPDATE meta SET value = " TIMELINE
     "   WHERE name = 'timeline' AND value <> " TIMELINE " RETURNING value),"
     " fed AS (UPDATE writers w SET n = ((SELECT max(x.n) >> 8 FROM writers x) + $1) << 8 | w.slot"
     "   WHERE w.slot = (SELECT min(x.slot) FROM writers x) AND EXISTS (SELECT FROM other))"
     " SELECT count(nextval('epochs')), count(nextval('blocks'))"
     " FROM other, generate_series(1, $2::bigint)"},
    {Write::newest_call,
     "SELECT batch, statuses FROM writers WHERE slot = $1 AND incarnation = $2 FOR UPDATE"},
    {Write::append,
     "SELECT append_5($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,"
     " $18, $19, $20)"},
    // Returns no row if the session from which it copies has changed. It waits for an append to
    // that session that is under way, and a later append waits for it.
    {Write::append_copy,
     "SELECT append_5($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,"
     " $18, $19, $20) WHERE EXISTS (SELECT FROM sessions WHERE no = $21 AND id = $22"
     " AND head = $23 AND stamp = $24 AND status <> 'deleted' FOR SHARE)"},
    // Returns no row if a message of the deleted session is undelivered.
    {Write::append_restored,
     "SELECT restore_12($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,"
     " $17, $18, $19, $20, $21, $22)"},
    // erase_1() and append_5() leave a row that another session is about to take, and that session
    // may not get it.
    {Write::drop_aliases,
     "DELETE FROM aliases d USING (SELECT x.project, x.alias FROM aliases x JOIN sessions s"
     "   ON s.no = x.no WHERE x.no = ANY ($1::bigint[]) AND s.alias <> x.alias"
     "   ORDER BY x.project, x.alias FOR UPDATE OF x) o"
     " WHERE d.project = o.project AND d.alias = o.alias"},
    {Write::messages, "SELECT messages_15($1, $2, $3, $4, $5, $6)"},
    {Write::drop_delivered, "SELECT drop_delivered_1($1, $2, $3, $4, $5)"},
    {Write::drop_given_up, "SELECT drop_given_up_1($1, $2, $3, $4, $5, $6)"},
    {Write::trim_audit, "SELECT trim_audit_1($1, $2, $3, $4, $5, $6)"},
    {Write::keep, "SELECT keep_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"},
    {Write::drop_kept, "SELECT drop_kept_1($1, $2, $3, $4, $5)"},
    {Write::drop_old_kept,
     "DELETE FROM kept d WHERE d.key IN (SELECT k.key FROM kept k WHERE k.at < $1"
     " ORDER BY k.key FOR UPDATE SKIP LOCKED)"},
    {Write::change_tokens,
     "SELECT change_tokens_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"},
    {Write::change_devices,
     "SELECT change_devices_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"},
    {Write::drop_rule, "SELECT drop_rule_1($1, $2, $3, $4, $5, $6)"},
    {Write::put_data_keys,
     "INSERT INTO data_keys(id, master, mixed, wrapped)"
     " SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[])"
     " ON CONFLICT(id) DO UPDATE SET master = EXCLUDED.master, mixed = EXCLUDED.mixed,"
     " wrapped = EXCLUDED.wrapped"},
    {Write::restore_data_keys,
     "INSERT INTO data_keys(id, master, mixed, wrapped)"
     " SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[])"
     " ON CONFLICT(id) DO NOTHING"},
});

#define SESSION_COLUMNS \
    "SELECT s.id, s.project, s.agent, s.alias, s.title, s.status, s.created, s.updated, s.turn "
#define ALIASED " s.alias <> '' AND s.status <> 'completed' AND s.status <> 'deleted' "
#define PENDING_COLUMNS \
    "SELECT p.call, p.gen, p.status, p.tool, p.created, p.timeout, p.paused, p.settled, p.ref"
// $4: a tool's name, or '' for all. $5: a bit set of statuses.
#define PENDING_CHOICE \
    " AND ($4::text = '' OR p.tool = $4) AND ($5::bigint >> p.status::int) & 1 = 1 "
// For each project of $7: the newest $6 rows; of these the newest $6.
#define OF_EACH_PROJECT(INNER)                                                                  \
    "SELECT x.call, x.gen, x.status, x.tool, x.created, x.timeout, x.paused, x.settled, x.ref," \
    " x.id FROM unnest($7::text[]) q(project) CROSS JOIN LATERAL (" INNER                       \
    " ORDER BY p.no DESC, p.call DESC, p.gen DESC LIMIT $6::bigint) x"                          \
    " ORDER BY x.no DESC, x.call DESC, x.gen DESC LIMIT $6"
#define BEFORE_PLACE " AND (p.no, p.call, p.gen) < ($1::bigint, $2::bigint, $3::bigint)"
#define OUTBOX_COLUMNS                                                                    \
    "SELECT s.id, o.seq, o.n, o.state, o.next_at, o.kind, o.target, o.makes, o.created, " \
    "o.attempts,"                                                                         \
    " o.last_status, o.last_error, o.delivered, o.sum, o.data "
#define OUTBOX_SENDER " JOIN sessions s ON s.no = o.no "
#define GIVEN_UP \
    " state > 1 AND next_at < $1 AND created < $1 AND kind <> 'session' AND kind <> 'held'"

constexpr auto reads = in_order<Read>({
    {Read::session,
     SESSION_COLUMNS ", s.head, s.stamp, s.driver FROM sessions s WHERE s.no = $1 AND s.id = $2"},
    // For each session also when it is due, the newest event that the row of its newest pause
    // names, and its snapshot, without a state of more than $3 bytes.
    {Read::load, SESSION_COLUMNS
     ", s.head, s.stamp, s.driver, (SELECT w.wake_at FROM wakeups w WHERE w.no = s.no),"
     " coalesce((SELECT greatest(p.paused, p.settled) FROM pending p WHERE p.no = s.no"
     "   ORDER BY p.call DESC, p.gen DESC LIMIT 1), 0), y.seq, y.format, y.sum,"
     " CASE WHEN octet_length(y.state) <= $3::bigint THEN y.state END"
     " FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY a(no, id, place)"
     " LEFT JOIN sessions s ON s.no = a.no AND s.id = a.id"
     " LEFT JOIN snapshots y ON y.no = s.no ORDER BY a.place"},
    // For each session $3 of the frames that are needed beside its snapshot, from the one with the
    // snapshot's event on; without those of more than $2 bytes.
    {Read::frames,
     "SELECT a.place, f.first, f.n, f.sum, CASE WHEN octet_length(f.data) <= $2::bigint"
     " THEN f.data END FROM unnest($1::bigint[]) WITH ORDINALITY a(no, place) CROSS JOIN LATERAL"
     " (SELECT j.first, j.n, j.sum, j.data FROM journal j WHERE j.no = a.no AND j.first >="
     "   coalesce((SELECT max(x.first) FROM journal x WHERE x.no = a.no AND x.first <="
     "     (SELECT y.seq FROM snapshots y WHERE y.no = a.no)), 0)"
     "   ORDER BY j.first LIMIT $3::bigint) f ORDER BY a.place, f.first"},
    // Frames from the one with event $2 on, until $3 bytes or $4 frames are reached.
    {Read::page,
     "SELECT first, n, sum, data FROM (SELECT j.*, sum(octet_length(j.data)) OVER (ORDER BY"
     "   j.first) - octet_length(j.data) AS before FROM (SELECT y.first, y.n, y.sum, y.data"
     "   FROM journal y WHERE y.no = $1 AND y.first >= coalesce((SELECT max(x.first)"
     "     FROM journal x WHERE x.no = $1 AND x.first <= $2), 0) AND y.first + abs(y.n) > $2"
     "   ORDER BY y.first LIMIT $4) j) f WHERE before < $3 ORDER BY first"},
    {Read::lookup,
     "SELECT coalesce((SELECT x.seq FROM keys x WHERE x.no = $1 AND x.key = k.key), 0)"
     " FROM unnest($2::bytea[]) WITH ORDINALITY k(key, place) ORDER BY k.place"},
    {Read::day_sums,
     "SELECT coalesce((SELECT sum(x.amount) FROM day_sums x WHERE x.day = $1 AND x.name = k.name),"
     "   0)::bigint FROM unnest($2::text[]) WITH ORDINALITY k(name, place) ORDER BY k.place"},
    {Read::day_mark,
     "SELECT coalesce(sum(amount % $3::bigint), 0)::bigint FROM day_sums"
     " WHERE day = $1 AND right(name, length($2::text)) = $2"},
    {Read::pending,
     PENDING_COLUMNS " FROM pending p WHERE p.no = $1 AND p.call = $2 AND p.gen = $3"},
    {Read::due,
     "SELECT w.at, s.id, s.driver, s.head FROM"
     " ((SELECT 0::bigint AS at, no FROM wakeups WHERE driver IS NOT NULL"
     "    AND no > CASE WHEN $1::bigint < 0 THEN 0 WHEN $1 = 0 THEN $2::bigint"
     "      ELSE 9223372036854775807 END AND $3::bigint >= 0 ORDER BY no LIMIT $4)"
     "  UNION ALL (SELECT wake_at, no FROM wakeups WHERE driver IS NULL"
     "    AND (wake_at, no) > ($1::bigint, $2::bigint) AND wake_at <= $3::bigint"
     "    ORDER BY wake_at, no LIMIT $4)) w"
     " JOIN sessions s ON s.no = w.no ORDER BY w.at, w.no LIMIT $4"},
    {Read::next_due,
     "SELECT least((SELECT 0::bigint FROM wakeups WHERE driver IS NOT NULL LIMIT 1),"
     " (SELECT min(wake_at) FROM wakeups WHERE driver IS NULL))"},
    {Read::largest_number,
     "SELECT greatest((SELECT max(no) FROM sessions),"
     " (SELECT max(makes) FROM posts WHERE makes IS NOT NULL), 0)"},
    {Read::sessions,
     SESSION_COLUMNS "FROM sessions s WHERE s.project = $1 AND s.status <> 'deleted' AND s.no < $2"
                     " ORDER BY s.no DESC LIMIT $3"},
    {Read::all_sessions, SESSION_COLUMNS "FROM sessions s WHERE s.no > $1 ORDER BY s.no LIMIT $2"},
    {Read::session_bytes,
     "SELECT (coalesce((SELECT sum(octet_length(data)) FROM journal WHERE no = $1), 0)"
     " + coalesce((SELECT sum(octet_length(data)) FROM artifacts WHERE no = $1), 0)"
     " + coalesce((SELECT sum(octet_length(state)) FROM snapshots WHERE no = $1), 0))::bigint"},
    {Read::journal_bytes,
     "SELECT coalesce(sum(octet_length(data)), 0)::bigint FROM journal WHERE no = $1"},
    {Read::heads,
     "SELECT id, head FROM sessions WHERE no > $1 AND status <> 'deleted' ORDER BY no LIMIT $2"},
    {Read::completed_until,
     "SELECT id FROM sessions WHERE status = 'completed' AND updated <= $1"
     " ORDER BY updated, no LIMIT $2"},
    {Read::aliases, SESSION_COLUMNS "FROM sessions s WHERE s.project = $1 AND" ALIASED
                                    "ORDER BY s.alias, s.no LIMIT $2"},
    {Read::alias, SESSION_COLUMNS
     "FROM sessions s WHERE s.project = $1 AND s.alias = $3 AND" ALIASED "ORDER BY s.no LIMIT $2"},
    // Reads one entry of the index for each project.
    {Read::projects,
     "WITH RECURSIVE found(project) AS ("
     "  (SELECT project FROM sessions WHERE status <> 'deleted' AND project > $1"
     "    ORDER BY project LIMIT 1)"
     "  UNION ALL SELECT (SELECT s.project FROM sessions s WHERE s.status <> 'deleted'"
     "    AND s.project > f.project ORDER BY s.project LIMIT 1) FROM found f"
     "    WHERE f.project IS NOT NULL)"
     " SELECT project FROM found WHERE project IS NOT NULL LIMIT $2"},
    {Read::counts,
     "WITH RECURSIVE waiting(no) AS ("
     "  (SELECT no FROM pending WHERE status = 0 AND project = $1 ORDER BY no LIMIT 1)"
     "  UNION ALL SELECT (SELECT p.no FROM pending p WHERE p.status = 0 AND p.project = $1"
     "    AND p.no > w.no ORDER BY p.no LIMIT 1) FROM waiting w WHERE w.no IS NOT NULL)"
     " SELECT (SELECT count(*) FROM (SELECT FROM sessions WHERE project = $1"
     "    AND status <> 'deleted' LIMIT $2) x),"
     "  (SELECT count(*) FROM (SELECT FROM waiting WHERE no IS NOT NULL LIMIT $2) x),"
     "  (SELECT count(*) FROM (SELECT FROM sessions WHERE project = $1 AND status = 'paused'"
     "    LIMIT $2) x),"
     "  (SELECT count(*) FROM (SELECT FROM sessions WHERE project = $1 AND status = 'error'"
     "    LIMIT $2) x),"
     "  (SELECT count(*) FROM (SELECT FROM sessions WHERE project = $1 AND status = 'completed'"
     "    LIMIT $2) x),"
     "  (SELECT least($2, (SELECT count(*) FROM"
     "    (SELECT FROM sessions WHERE project = $1 AND turn = 1 LIMIT $2) x)"
     // Few sessions have a driver, so their projects are compared one by one.
     "   + (SELECT count(*) FROM (SELECT FROM wakeups w, LATERAL (SELECT FROM sessions s"
     "      WHERE s.no = w.no AND s.project = $1 AND s.status = 'active' AND s.turn <> 1 OFFSET 0) "
     "s"
     "      WHERE w.driver IS NOT NULL LIMIT $2) x))),"
     "  (SELECT count(*) FROM (SELECT FROM sessions WHERE project = $1 AND turn = 2 LIMIT $2) x)"},
    {Read::pending_open,
     OF_EACH_PROJECT(
         "SELECT p.*, s.id FROM pending p JOIN sessions s ON s.no = p.no"
         " WHERE p.project = q.project AND p.status = 0 AND s.status <> 'deleted'" BEFORE_PLACE
             PENDING_CHOICE)},
    {Read::pending_any,
     OF_EACH_PROJECT(
         "SELECT p.*, s.id FROM sessions s JOIN pending p ON p.no = s.no"
         " WHERE s.project = q.project AND s.status <> 'deleted' AND s.no <= $1" BEFORE_PLACE
             PENDING_CHOICE)},
    {Read::pending_of_session,
     PENDING_COLUMNS " FROM pending p WHERE p.no = $1 AND (p.call, p.gen) < ($2::bigint,"
                     " $3::bigint)" PENDING_CHOICE "ORDER BY p.call DESC, p.gen DESC LIMIT $6"},
    {Read::pending_by_ref,
     OF_EACH_PROJECT(
         "SELECT p.*, s.id FROM pending p JOIN sessions s ON s.no = p.no"
         " WHERE p.project = q.project AND p.ref = $8 AND s.status <> 'deleted'" BEFORE_PLACE
             PENDING_CHOICE)},
    {Read::open_pending,
     "SELECT count(*), min(created) FROM (SELECT created FROM pending WHERE status = 0 LIMIT $1) "
     "x"},
    {Read::count_waiting,
     "SELECT count(*) FROM (SELECT FROM pending WHERE project = $2 AND status = 0 LIMIT $1) x"},
    {Read::waiting_sessions,
     "SELECT s.id FROM pending p JOIN sessions s ON s.no = p.no"
     " WHERE (p.project, p.no) > (coalesce((SELECT project FROM sessions WHERE no = $1), ''), $1)"
     " AND p.status = 0 ORDER BY p.project, p.no LIMIT $2"},
    {Read::sessions_in_error,
     "SELECT id FROM sessions WHERE project = $1 AND status <> 'active' AND status <> 'deleted'"
     " AND status = 'error' LIMIT $2"},
    {Read::pending_rows, PENDING_COLUMNS " FROM pending p WHERE p.no = $1 ORDER BY p.call, p.gen"},
    {Read::key_rows, "SELECT key, seq FROM keys WHERE no = $1 ORDER BY key"},
    {Read::newest,
     "SELECT coalesce(s.head, 0), coalesce(s.stamp, 0)"
     " FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY a(no, id, place)"
     " LEFT JOIN sessions s ON s.no = a.no AND s.id = a.id ORDER BY a.place"},
    {Read::created, "SELECT s.id FROM created c JOIN sessions s ON s.no = c.no WHERE c.key = $1"},
    {Read::artifact, "SELECT sum, data FROM artifacts WHERE no = $1 AND seq = $2"},
    {Read::artifact_piece,
     "SELECT CASE WHEN $3::bigint < octet_length(data)"
     " THEN substring(data FROM $3::int + 1 FOR $4::bigint::int) ELSE '' END"
     " FROM artifacts WHERE no = $1 AND seq = $2"},
    // For each writer its newest number, and whether it writes now.
    {Read::feed_horizon,
     "SELECT n, (NOT (pg_try_advisory_lock_shared($1::bigint::int, slot::int)"
     " AND pg_advisory_unlock_shared($1::bigint::int, slot::int)))::int::bigint FROM writers"},
    // The newest removed number, the last number that one query looks at, and the newest number.
    {Read::feed_bounds,
     "SELECT (SELECT value FROM meta WHERE name = 'feed_floor'),"
     " coalesce((SELECT max(n) FROM (SELECT n FROM feed WHERE n > $1 AND n <= $2 ORDER BY n"
     "   LIMIT $3) x), 0),"
     " greatest((SELECT max(n) FROM feed WHERE n <= $2), least($2, (SELECT value FROM meta"
     "   WHERE name = 'feed_floor'))), " TIMELINE},
    // $4: the projects, or NULL. $5: bytes. $6: the slot of a writer whose entries are left out, or
    // -1. The last column: the frame was removed by retention, not lost.
    {Read::feed,
     "SELECT n, first, erased::int::bigint, project, id, status, updated, count, sum, data, cut"
     " FROM (SELECT f.n, f.first, f.erased, f.project, s.id, s.status, s.updated, j.n AS count,"
     "   j.sum, j.data, CASE WHEN j.n IS NULL THEN (SELECT (x.n < 0 AND x.first >= f.first)::int"
     "     ::bigint FROM journal x WHERE x.no = f.no ORDER BY x.first LIMIT 1) END AS cut,"
     "   sum(coalesce(octet_length(j.data), 0)) OVER (ORDER BY f.n)"
     "     - coalesce(octet_length(j.data), 0) AS before"
     "   FROM (SELECT * FROM feed WHERE n > $1 AND n <= $2 ORDER BY n LIMIT $3) f"
     "   JOIN sessions s ON s.no = f.no LEFT JOIN journal j ON j.no = f.no AND j.first = f.first"
     "   WHERE ($4::text[] IS NULL OR f.project = ANY ($4)) AND f.n & 255 <> $6) r"
     " WHERE before < $5 ORDER BY n"},
    {Read::feed_head,
     "SELECT greatest((SELECT max(n) FROM feed WHERE n <= $1::bigint), least($1,"
     " (SELECT value FROM meta WHERE name = 'feed_floor'))), " TIMELINE},
    // A writer that is gone has no row any more.
    {Read::feed_limit,
     "SELECT greatest((SELECT max(n) FROM writers), (SELECT max(n) FROM feed),"
     " (SELECT value FROM meta WHERE name = 'feed_floor'))"},
    {Read::due_messages, OUTBOX_COLUMNS "FROM posts o" OUTBOX_SENDER
                                        "WHERE o.state = 0 AND o.kind = $1 AND o.next_at <= $2"
                                        " ORDER BY o.next_at, o.no, o.seq, o.n LIMIT $3"},
    // Reads one entry of the index for each target, and $3 messages of each.
    {Read::due_by_target,
     "WITH RECURSIVE found(target) AS ("
     "  (SELECT target FROM posts WHERE state = 0 AND kind <> 'session' AND target > $1"
     "    ORDER BY target LIMIT 1)"
     "  UNION ALL SELECT (SELECT p.target FROM posts p WHERE p.state = 0 AND p.kind <> 'session'"
     "    AND p.target > f.target ORDER BY p.target LIMIT 1) FROM found f"
     "    WHERE f.target IS NOT NULL)"
     " SELECT (SELECT s.id FROM sessions s WHERE s.no = x.no), x.seq, x.n, x.attempts, x.target"
     " FROM found f CROSS JOIN LATERAL"
     "  (SELECT o.no, o.seq, o.n, o.attempts, o.target FROM posts o WHERE o.state = 0"
     "    AND o.kind <> 'session' AND o.target = f.target AND o.next_at <= $2"
     "    ORDER BY o.next_at, o.no, o.seq, o.n LIMIT $3) x WHERE f.target IS NOT NULL LIMIT $4"},
    {Read::outbox_message, OUTBOX_COLUMNS
     "FROM posts o" OUTBOX_SENDER "WHERE o.no = $1 AND s.id = $2 AND o.seq = $3 AND o.n = $4"},
    // $5: a state, or -1 for all.
    {Read::list_messages, OUTBOX_COLUMNS
     "FROM posts o" OUTBOX_SENDER "WHERE (o.no, o.seq, o.n) < ($1::bigint, $2::bigint, $3::bigint)"
     " AND o.kind NOT IN ('session', 'held') AND ($5::bigint < 0 OR o.state = $5)"
     " AND s.project = $4 ORDER BY o.no DESC, o.seq DESC, o.n DESC LIMIT $6"},
    {Read::count_given_up, "SELECT count(*) FROM (SELECT FROM posts WHERE" GIVEN_UP " LIMIT $2) x"},
    {Read::secret, "SELECT secret FROM secrets WHERE no = $1 AND call = $2 AND gen = $3"},
    {Read::sent,
     "SELECT ref, body FROM sent WHERE no = $1 AND call = $2 AND gen = $3 AND target = $4"
     " ORDER BY ref LIMIT 100"},
    {Read::delivered,
     "SELECT coalesce((SELECT digest FROM delivered WHERE key = $1),"
     " (SELECT digest FROM kept WHERE key = $1))"},
    {Read::kept_delivery,
     "SELECT key, digest, id, at, source, project, ref, body FROM kept WHERE key = $1"},
    {Read::kept,
     "SELECT key, digest, id, at, source, project, ref, body FROM (SELECT k.*,"
     "   sum(octet_length(k.body)) OVER (ORDER BY k.at, k.key) - octet_length(k.body) AS before"
     "   FROM (SELECT * FROM kept WHERE at >= $1 AND (at, key) > ($1, $2)"
     "     ORDER BY at, key LIMIT $3) k) p WHERE before < $4 ORDER BY at, key"},
    {Read::tokens,
     "SELECT id, kind, name, role, projects, agents, secret, created, expires FROM tokens"
     " ORDER BY id"},
    {Read::token_of,
     "SELECT id, kind, name, role, projects, agents, secret, created, expires FROM tokens"
     " WHERE secret = $1"},
    {Read::delivered_since,
     "SELECT 1::bigint FROM posts WHERE state = 1 AND delivered >= $1 AND target = $2 LIMIT 1"},
    {Read::devices,
     "SELECT id, token, person, role, label, endpoint, p256dh, auth, created FROM devices"
     " ORDER BY id"},
    {Read::data_keys, "SELECT id, master, mixed, wrapped FROM data_keys ORDER BY id"},
    {Read::rules,
     "SELECT r.id, r.no, s.id, r.uses, r.used, r.sum, r.data FROM rules r LEFT JOIN sessions s"
     " ON s.no = r.no ORDER BY r.id"},
    {Read::audit, "SELECT n, line, hash FROM audit WHERE n > $1 ORDER BY n LIMIT $2"},
    // A reader's own transactions are read-only.
    {Read::ping,
     "SELECT value, (pg_is_in_recovery() OR (SELECT reset_val = 'on' FROM pg_settings"
     "   WHERE name = 'default_transaction_read_only'))::int::bigint"
     " FROM meta WHERE name = 'format'"},
    {Read::node, "SELECT name FROM nodes WHERE epoch = $1"},
});

#undef SESSION_COLUMNS
#undef ALIASED
#undef PENDING_COLUMNS
#undef PENDING_CHOICE
#undef OF_EACH_PROJECT
#undef BEFORE_PLACE
#undef OUTBOX_COLUMNS
#undef OUTBOX_SENDER
#undef GIVEN_UP

}  // namespace

char const* sql(Write name) { return writes.at(static_cast<std::size_t>(name)); }
char const* sql(Read name) { return reads.at(static_cast<std::size_t>(name)); }

}  // namespace dormouse::store::postgres
