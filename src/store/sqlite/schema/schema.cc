#include "store/sqlite/schema/schema.h"

#include "store/sqlite/schema/pending_view.h"

#include <algorithm>
#include <array>
#include <string>

namespace dormouse::store::sqlite {
namespace {

// "DORM" in the file's header marks our databases.
constexpr std::int64_t application_id = 0x444f524d;

// The rows. Times are milliseconds since the Unix epoch.
constexpr char const* tables = R"sql(
-- name -> small number: projects, agents and tools are repeated in many rows.
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta(name, value) VALUES('epoch', 0);

-- One row an append. k = session number << 24 | first sequence number; n events; sum: checksum
-- over k, n and data. data: a JSON array of [type, at, data, ...]. A rowid table: one without would
-- put a body of more than 1 KB on an overflow page of its own. data is the last column, so that
-- reading the head reads no overflow pages.
CREATE TABLE journal(k INTEGER PRIMARY KEY, n INTEGER NOT NULL, sum INTEGER NOT NULL,
  data TEXT NOT NULL) STRICT;

-- id: the 22 characters after "ses_", so that ordinary SQL can show it.
CREATE TABLE sessions(no INTEGER PRIMARY KEY, id TEXT NOT NULL, project INTEGER NOT NULL,
  agent INTEGER NOT NULL, alias TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL,
  created INTEGER NOT NULL, updated INTEGER NOT NULL) STRICT;
CREATE INDEX sessions_by_project ON sessions(project) WHERE status <> 'deleted';

-- status: 0 waiting, 1 completed, 2 failed, 3 expired, 4 cancelled. paused, settled: sequence
-- numbers of the events with the content. No index is led by status: the planner would take it for
-- every question about it.
CREATE TABLE pending(no INTEGER NOT NULL, call INTEGER NOT NULL, gen INTEGER NOT NULL,
  status INTEGER NOT NULL, project INTEGER NOT NULL, tool INTEGER NOT NULL,
  created INTEGER NOT NULL, timeout INTEGER, paused INTEGER NOT NULL, settled INTEGER NOT NULL,
  PRIMARY KEY(no, call, gen)) STRICT, WITHOUT ROWID;
CREATE INDEX pending_open ON pending(project, no, call, gen) WHERE status = 0;

-- Sessions that will owe something, and when. The only table read at start.
CREATE TABLE owed(no INTEGER PRIMARY KEY, wake_at INTEGER NOT NULL) STRICT;
CREATE INDEX owed_by_time ON owed(wake_at);

CREATE TABLE keys(no INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY(no, key)) STRICT, WITHOUT ROWID;

-- sum: checksum over session number << 24 | seq, format, state.
CREATE TABLE snapshots(no INTEGER PRIMARY KEY, seq INTEGER NOT NULL, format INTEGER NOT NULL,
  sum INTEGER NOT NULL, state BLOB NOT NULL) STRICT;

CREATE TABLE created(key BLOB PRIMARY KEY, no INTEGER NOT NULL) STRICT, WITHOUT ROWID;
)sql";

// Views for people and tools that read the file with SQL; nothing in this program reads them.
// Columns without stored data are NULL. The view of pending calls is in pending_view.h.
constexpr char const* views = R"sql(
CREATE VIEW agent_sessions AS
SELECT 'ses_' || s.id AS id, p.name AS project_id, a.name AS agent_id, NULL AS acp_session_id,
  nullif(s.title, '') AS title, s.status AS status,
  (SELECT json_extract(j.data, '$[0][2].cwd') FROM journal j
    WHERE j.k = s.no << 24 | 1) AS working_directory,
  s.created / 1000 AS created_at, s.updated / 1000 AS updated_at
FROM sessions s JOIN names p ON p.id = s.project JOIN names a ON a.id = s.agent
WHERE s.status <> 'deleted';
)sql";

// n: the order of commits. k: the frame's key; negative for the append that deleted the session and
// its frames.
constexpr char const* feed_and_artifacts = R"sql(
CREATE TABLE feed(n INTEGER PRIMARY KEY, k INTEGER NOT NULL, project INTEGER NOT NULL) STRICT;

-- k = session number << 24 | the event that names it; sum: checksum over k, the size and data.
CREATE TABLE artifacts(k INTEGER PRIMARY KEY, sum INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
)sql";

// For retention; contains only completed sessions.
constexpr char const* completed =
    "CREATE INDEX sessions_completed ON sessions(updated) WHERE status = 'completed';";

// Outbox messages. k = sender's number << 24 | the event that sends it. state: 0 pending, 1
// delivered, 2 dead, 3 disabled. makes: the number of the session that its delivery creates, whose
// id is the target. sum: checksum over k, n and data.
constexpr char const* posts = R"sql(
CREATE TABLE posts(id INTEGER PRIMARY KEY, k INTEGER NOT NULL, n INTEGER NOT NULL,
  state INTEGER NOT NULL, next_at INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
  makes INTEGER, created INTEGER NOT NULL, attempts INTEGER NOT NULL, last_status INTEGER NOT NULL,
  last_error TEXT NOT NULL, delivered INTEGER, sum INTEGER NOT NULL, data BLOB NOT NULL,
  UNIQUE(k, n)) STRICT;
CREATE INDEX posts_due ON posts(kind, next_at, k, n) WHERE state = 0;
CREATE INDEX posts_makes ON posts(makes) WHERE makes IS NOT NULL;
)sql";

// ref: the pause's externalRef; NULL if it has none. delivered: accepted deliveries of sources, by
// a hash of source and delivery id, with a hash of the body. kept: deliveries that fit no call yet.
// secrets: sign the webhooks of one pause.
constexpr char const* webhooks = R"sql(
ALTER TABLE pending ADD COLUMN ref TEXT;
UPDATE pending SET ref = (SELECT nullif(json_extract(j.data,
    '$[' || (pending.paused - (j.k & 16777215)) || '][2].externalRef'), '')
  FROM journal j WHERE j.k = (SELECT max(k) FROM journal
    WHERE k BETWEEN pending.no << 24 AND pending.no << 24 | pending.paused));
CREATE INDEX pending_by_ref ON pending(project, ref, no, call, gen) WHERE ref IS NOT NULL;

CREATE TABLE delivered(key BLOB PRIMARY KEY, digest BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE kept(key BLOB PRIMARY KEY, digest BLOB NOT NULL, id TEXT NOT NULL,
  at INTEGER NOT NULL, source TEXT NOT NULL, project TEXT NOT NULL, ref TEXT NOT NULL,
  body TEXT NOT NULL) STRICT;
CREATE INDEX kept_by_time ON kept(at);

CREATE INDEX posts_delivered ON posts(delivered) WHERE state = 1;

CREATE TABLE secrets(no INTEGER NOT NULL, call INTEGER NOT NULL, gen INTEGER NOT NULL,
  secret TEXT NOT NULL, PRIMARY KEY(no, call, gen)) STRICT, WITHOUT ROWID;
)sql";

// Tokens, and the audit of actions. secret, hash: 32 bytes. projects, agents: one name a line.
// hash: over the line and the hash before it (port/audit.h).
constexpr char const* tokens_and_audit = R"sql(
CREATE TABLE tokens(id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL,
  projects TEXT NOT NULL, agents TEXT NOT NULL, secret BLOB NOT NULL, created INTEGER NOT NULL,
  expires INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE audit(n INTEGER PRIMARY KEY, line TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
)sql";

// The owners of aliases; a completed session releases its alias.
constexpr char const* aliases =
    "CREATE INDEX sessions_by_alias ON sessions(project, alias) WHERE alias <> '' AND status <> "
    "'completed' AND status <> 'deleted';";

// Waiting messages by receiver.
constexpr char const* posts_by_target =
    "CREATE INDEX posts_by_target ON posts(target, next_at, k, n) WHERE state = 0 AND kind <> "
    "'session';";

// Messages that were given up, by time.
constexpr char const* posts_given_up =
    "CREATE INDEX posts_given_up ON posts(next_at) WHERE state > 1;";

// The rows of messages. The SQL between the two texts numbers the events.
constexpr char messages_before[] = R"sql(
CREATE VIEW agent_session_messages AS
WITH events AS (
  SELECT s.id AS session, )sql";
constexpr char messages_after[] = R"sql( AS seq,
    json_extract(event.value, '$[0]') AS type, json_extract(event.value, '$[2]') AS data,
    (json_extract(j.data, '$[0][1]')
      + iif(event.key = 0, 0, json_extract(event.value, '$[1]'))) / 1000 AS at
  FROM sessions s JOIN journal j ON j.k BETWEEN s.no << 24 AND s.no << 24 | 16777215,
    json_each(j.data) event
  WHERE s.status <> 'deleted'),
parts AS (
  SELECT e.session, iif(e.type = 'agent_update', json_extract(e.data, '$.messageID'),
      'msg_' || e.session || '_' || e.seq) AS message, e.seq, part.key AS place,
    json_extract(part.value, '$.type') AS type, json_extract(part.value, '$.text') AS text,
    coalesce(json_extract(part.value, '$.url'),
      '/api/artifacts/' || json_extract(part.value, '$.artifactID')) AS url,
    json_extract(part.value, '$.name') AS name, json_extract(part.value, '$.alt') AS alt
  FROM events e, json_each(e.data,
    iif(e.type = 'agent_update', '$.body', '$.parts')) part
  WHERE e.type IN ('input_received', 'model_replied')
    OR (e.type = 'agent_update' AND json_extract(e.data, '$.kind') = 'message')),
calls AS (
  SELECT e.session, 'msg_' || e.session || '_' || e.seq AS message, e.seq,
    json_extract(call.value, '$.callID') AS id, json_extract(call.value, '$.tool') AS name,
    json_extract(call.value, '$.input') AS input,
    (SELECT json_array(o.type, coalesce(json_extract(o.data, '$.output'),
        json_extract(o.data, '$.result.output'), json_extract(o.data, '$.error')),
        json_extract(o.data, '$.error') IS NOT NULL) FROM events o
      WHERE o.session = e.session
        AND o.type IN ('tool_finished', 'submitted', 'expired', 'cancelled')
        AND json_extract(o.data, '$.callID') = json_extract(call.value, '$.callID')
      ORDER BY o.seq DESC LIMIT 1) AS outcome
  FROM events e, json_each(e.data, '$.calls') call WHERE e.type = 'model_replied'
  UNION ALL
  SELECT first.session, json_extract(first.data, '$.messageID'), first.seq,
    json_extract(first.data, '$.toolCallID'),
    'acp:' || coalesce(json_extract(first.data, '$.body.kind'), 'other'),
    json_extract(first.data, '$.body.input'),
    (SELECT json_array(json_extract(o.data, '$.status'), json_extract(o.data, '$.body.output'),
        json_extract(o.data, '$.status') = 'failed') FROM events o
      WHERE o.session = first.session AND o.type = 'agent_update' AND o.seq >= first.seq
        AND json_extract(o.data, '$.toolCallID') = json_extract(first.data, '$.toolCallID')
      ORDER BY o.seq DESC LIMIT 1)
  FROM events first WHERE first.type = 'agent_update'
    AND json_extract(first.data, '$.kind') = 'tool'
    AND json_extract(first.data, '$.messageID') IS NOT NULL),
messages AS (
  SELECT session, iif(type = 'agent_update', json_extract(data, '$.messageID'),
      'msg_' || session || '_' || seq) AS message, min(seq) AS seq, min(at) AS at,
    iif(type = 'input_received', 'user', 'assistant') AS role
  FROM events WHERE type IN ('input_received', 'model_replied')
    OR (type = 'agent_update' AND json_extract(data, '$.messageID') IS NOT NULL)
  GROUP BY session, message)
SELECT m.message AS id, 'ses_' || m.session AS session_id, m.role AS role,
  json_object(
    'text', (SELECT coalesce(group_concat(text, ''), '') FROM (SELECT text FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'text'
      ORDER BY p.seq, p.place)),
    'images', (SELECT json_group_array(json_object('url', url, 'alt', coalesce(alt, name)))
      FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'image'),
    'files', (SELECT json_group_array(json_object('path', coalesce(name, url))) FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'file')) AS content,
  (SELECT nullif(json_group_array(json_object('id', id, 'name', name, 'input', json(input),
      'output', json_extract(outcome, '$[1]'),
      'status', CASE WHEN outcome IS NULL
          OR json_extract(outcome, '$[0]') IN ('pending', 'in_progress') THEN 'pending'
        WHEN json_extract(outcome, '$[2]')
          OR json_extract(outcome, '$[0]') IN ('expired', 'cancelled')
        THEN 'failed' ELSE 'completed' END)), '[]')
    FROM calls c WHERE c.session = m.session AND c.message = m.message) AS tool_calls,
  m.at AS created_at
FROM messages m ORDER BY m.session, m.seq;
)sql";

// Returns the concatenation of several texts, with a terminating NUL.
template <std::size_t... Sizes> consteval auto joined(char const (&... texts)[Sizes]) {
    std::array<char, ((Sizes - 1) + ... + 1)> out{};
    auto* at = out.data();
    ((at = std::copy_n(texts, Sizes - 1, at)), ...);
    return out;
}

// The external agent's session id is that of its newest attachment. A message's tool calls are
// those of a model's reply, or those that an external agent reported in it; output: the newest
// outcome.
constexpr auto messages_view =
    joined(R"sql(
DROP VIEW agent_sessions;
CREATE VIEW agent_sessions AS
SELECT 'ses_' || s.id AS id, p.name AS project_id, a.name AS agent_id,
  (SELECT json_extract(event.value, '$[2].acpSessionID') FROM journal j, json_each(j.data) event
    WHERE j.k BETWEEN s.no << 24 AND s.no << 24 | 16777215
      AND json_extract(event.value, '$[0]') = 'attached'
    ORDER BY j.k DESC, event.key DESC LIMIT 1) AS acp_session_id,
  nullif(s.title, '') AS title, s.status AS status,
  (SELECT json_extract(j.data, '$[0][2].cwd') FROM journal j
    WHERE j.k = s.no << 24 | 1) AS working_directory,
  s.created / 1000 AS created_at, s.updated / 1000 AS updated_at
FROM sessions s JOIN names p ON p.id = s.project JOIN names a ON a.id = s.agent
WHERE s.status <> 'deleted';
)sql",
           messages_before, "(j.k & 16777215) + event.key", messages_after);

// A journal whose older part was removed begins with the state at that point and the records that
// were kept, each with its own number.
constexpr auto cut_journals = joined(
    R"sql(
DROP VIEW agent_session_messages;
DROP VIEW agent_sessions;
CREATE VIEW agent_sessions AS
SELECT 'ses_' || s.id AS id, p.name AS project_id, a.name AS agent_id,
  (SELECT coalesce(json_extract(event.value, '$[2].acpSessionID'),
      json_extract(event.value, '$[2].acpSession'))
    FROM journal j, json_each(j.data) event
    WHERE j.k BETWEEN s.no << 24 AND s.no << 24 | 16777215
      AND json_extract(event.value, '$[0]') IN ('attached', 'base_state')
    ORDER BY j.k DESC, event.key DESC LIMIT 1) AS acp_session_id,
  nullif(s.title, '') AS title, s.status AS status,
  (SELECT json_extract(j.data, '$[0][2].cwd') FROM journal j
    WHERE j.k BETWEEN s.no << 24 AND s.no << 24 | 16777215
    ORDER BY j.k LIMIT 1) AS working_directory,
  s.created / 1000 AS created_at, s.updated / 1000 AS updated_at
FROM sessions s JOIN names p ON p.id = s.project JOIN names a ON a.id = s.agent
WHERE s.status <> 'deleted';
)sql",
    messages_before, "coalesce(json_extract(event.value, '$[5]'), (j.k & 16777215) + event.key)",
    messages_after);

// A tool call of an external agent shows the last known input, the output as text, and the agent's
// own name of the tool. Its events are those with its id until the prompt ends, because a later
// prompt may use the id again. Strings begin with the number of their event, so that min() and
// max() find the oldest and the newest that is not null.
constexpr char messages_of_last_known[] = R"sql( AS seq,
    json_extract(event.value, '$[0]') AS type, json_extract(event.value, '$[2]') AS data,
    (json_extract(j.data, '$[0][1]')
      + iif(event.key = 0, 0, json_extract(event.value, '$[1]'))) / 1000 AS at
  FROM sessions s JOIN journal j ON j.k BETWEEN s.no << 24 AND s.no << 24 | 16777215,
    json_each(j.data) event
  WHERE s.status <> 'deleted'),
parts AS (
  SELECT e.session, iif(e.type = 'agent_update', json_extract(e.data, '$.messageID'),
      'msg_' || e.session || '_' || e.seq) AS message, e.seq, part.key AS place,
    json_extract(part.value, '$.type') AS type, json_extract(part.value, '$.text') AS text,
    coalesce(json_extract(part.value, '$.url'),
      '/api/artifacts/' || json_extract(part.value, '$.artifactID')) AS url,
    json_extract(part.value, '$.name') AS name, json_extract(part.value, '$.alt') AS alt
  FROM events e, json_each(e.data,
    iif(e.type = 'agent_update', '$.body', '$.parts')) part
  WHERE e.type IN ('input_received', 'model_replied')
    OR (e.type = 'agent_update' AND json_extract(e.data, '$.kind') = 'message')),
news AS (
  SELECT session, seq, type, data, CASE WHEN type = 'agent_update' THEN '$.body.output'
      WHEN json_type(data, '$.error') IS NOT NULL THEN '$.error'
      WHEN json_type(data, '$.output') IS NOT NULL THEN '$.output'
      WHEN json_type(data, '$.decision') IS NOT NULL THEN '$.decision.output'
      ELSE '$.result.output' END AS path,
    count(*) FILTER (WHERE type IN ('agent_replied', 'agent_detached'))
      OVER (PARTITION BY session ORDER BY seq) AS prompt
  FROM events WHERE type IN ('tool_finished', 'submitted', 'expired', 'cancelled', 'agent_asked',
      'agent_replied', 'agent_detached')
    OR (type = 'agent_update' AND json_extract(data, '$.kind') = 'tool')),
outcomes AS (
  SELECT session, seq, type, data, prompt, printf('%08d', seq) AS mark,
    CASE json_type(data, path) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
      ELSE cast(json_extract(data, path) AS TEXT) END AS output
  FROM news),
tools AS (
  SELECT session, prompt, min(seq) AS seq,
    iif(type = 'agent_asked', json_extract(data, '$.call.modelID'),
      json_extract(data, '$.toolCallID')) AS id,
    substr(min(mark || json_extract(data, '$.messageID')), 9) AS message,
    substr(max(mark || json_extract(data, '$.body.name')), 9) AS name,
    substr(max(mark || json_extract(data, '$.body.kind')), 9) AS kind,
    max(json_extract(data, '$.call.tool')) AS asked,
    substr(max(mark || iif(json_type(data, '$.body.input') IS NULL, NULL,
      json_quote(json_extract(data, '$.body.input')))), 9) AS input,
    substr(max(mark || iif(json_type(data, '$.call.input') IS NULL, NULL,
      json_quote(json_extract(data, '$.call.input')))), 9) AS asked_input,
    substr(max(mark || iif(type = 'agent_update', output, NULL)), 9) AS output,
    substr(max(mark || json_extract(data, '$.status')), 9) AS status
  FROM outcomes WHERE type IN ('agent_update', 'agent_asked') GROUP BY session, prompt, 4),
prompts AS (SELECT session, max(prompt) AS newest FROM news GROUP BY session),
calls AS (
  SELECT e.session, 'msg_' || e.session || '_' || e.seq AS message, e.seq, call.key AS place,
    json_extract(call.value, '$.callID') AS id, json_extract(call.value, '$.tool') AS name,
    json_quote(json_extract(call.value, '$.input')) AS input, o.output AS output,
    CASE WHEN o.type IS NULL THEN 'pending'
      WHEN json_type(o.data, '$.error') IS NOT NULL OR o.type IN ('expired', 'cancelled')
      THEN 'failed' ELSE 'completed' END AS status
  FROM events e JOIN json_each(e.data, '$.calls') call LEFT JOIN outcomes o
    ON o.session = e.session AND o.seq = (SELECT max(x.seq) FROM outcomes x
      WHERE x.session = e.session
        AND x.type IN ('tool_finished', 'submitted', 'expired', 'cancelled')
        AND json_extract(x.data, '$.callID') = json_extract(call.value, '$.callID'))
  WHERE e.type = 'model_replied'
  UNION ALL
  SELECT t.session, t.message, t.seq, 0, t.id,
    coalesce(t.name, 'acp:' || t.kind, t.asked, 'acp:other'),
    coalesce(t.input, t.asked_input, 'null'), t.output,
    CASE WHEN t.status IN ('completed', 'failed') THEN t.status
      WHEN t.prompt < p.newest THEN 'failed' ELSE 'pending' END
  FROM tools t JOIN prompts p ON p.session = t.session WHERE t.message IS NOT NULL),
messages AS (
  SELECT session, iif(type IN ('agent_update', 'agent_asked'), json_extract(data, '$.messageID'),
      'msg_' || session || '_' || seq) AS message, min(seq) AS seq, min(at) AS at,
    iif(type = 'input_received', 'user', 'assistant') AS role
  FROM events WHERE type IN ('input_received', 'model_replied')
    OR (type IN ('agent_update', 'agent_asked')
      AND json_extract(data, '$.messageID') IS NOT NULL)
  GROUP BY session, message)
SELECT m.message AS id, 'ses_' || m.session AS session_id, m.role AS role,
  json_object(
    'text', (SELECT coalesce(group_concat(text, ''), '') FROM (SELECT text FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'text'
      ORDER BY p.seq, p.place)),
    'images', (SELECT json_group_array(json_object('url', url, 'alt', coalesce(alt, name)))
      FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'image'),
    'files', (SELECT json_group_array(json_object('path', coalesce(name, url))) FROM parts p
      WHERE p.session = m.session AND p.message = m.message AND p.type = 'file')) AS content,
  (SELECT nullif(json_group_array(json_object('id', id, 'name', name, 'input', json(input),
      'output', output, 'status', status)), '[]')
    FROM (SELECT * FROM calls c WHERE c.session = m.session AND c.message = m.message
      ORDER BY c.seq, c.place)) AS tool_calls,
  m.at AS created_at
FROM messages m ORDER BY m.session, m.seq;
)sql";

constexpr auto last_known_of_programs =
    joined("DROP VIEW agent_session_messages;", messages_before,
           "coalesce(json_extract(event.value, '$[5]'), (j.k & 16777215) + event.key)",
           messages_of_last_known);

// Messages about a pause that chat services took, by their reference there.
constexpr char const* sent_messages = R"sql(
CREATE TABLE sent(no INTEGER NOT NULL, call INTEGER NOT NULL, gen INTEGER NOT NULL,
  target TEXT NOT NULL, ref TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY(no, call, gen, target, ref)) STRICT, WITHOUT ROWID;
)sql";

// The number of lines that the audit has had; shows when lines at its end are lost.
constexpr char const* lines_of_the_audit =
    "INSERT INTO meta(name, value) SELECT 'audited', coalesce(max(n), 0) FROM audit;";

// The name of the table in earlier releases was `owed`.
constexpr char const* wakeups =
    "ALTER TABLE owed RENAME TO wakeups; DROP INDEX owed_by_time;"
    "CREATE INDEX wakeups_by_time ON wakeups(wake_at);";

// Standing rules. no: the session in which alone a rule answers; NULL: the project's. sum: checksum
// over no (0 if NULL), 0, id and data.
constexpr char const* rules = R"sql(
CREATE TABLE rules(id TEXT PRIMARY KEY, no INTEGER, uses INTEGER NOT NULL, used INTEGER,
  sum INTEGER NOT NULL, data TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX rules_of_session ON rules(no) WHERE no IS NOT NULL;
)sql";

// Browsers that get notifications; they are removed with their token.
constexpr char const* devices = R"sql(
CREATE TABLE devices(id TEXT PRIMARY KEY, token TEXT NOT NULL, person TEXT NOT NULL,
  role TEXT NOT NULL, label TEXT NOT NULL, endpoint TEXT NOT NULL UNIQUE, p256dh TEXT NOT NULL,
  auth TEXT NOT NULL, created INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX devices_of_token ON devices(token);
)sql";

// For counts. Sessions that are active, which most are, have no entry.
constexpr char const* status_counts =
    "CREATE INDEX sessions_by_status ON sessions(project, status) WHERE status <> 'active' AND "
    "status <> 'deleted';";

// turn: 0 none, 1 running or to be retried, 2 the newest turn failed. The migration does not set 1:
// the next append of a running session does.
constexpr char const* turns = R"sql(
ALTER TABLE sessions ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET turn = 2 WHERE status = 'active' AND (
  SELECT CASE json_extract(event.value, '$[0]')
      WHEN 'turn_ended' THEN json_extract(event.value, '$[2].finishReason') = 'error'
      WHEN 'base_state' THEN json_extract(event.value, '$[2].lastTurn.failed') END
    FROM journal j, json_each(j.data) event
    WHERE j.k BETWEEN no << 24 AND no << 24 | 16777215
      AND json_extract(event.value, '$[0]') IN ('turn_started', 'turn_ended', 'base_state')
    ORDER BY j.k DESC, event.key DESC LIMIT 1);
CREATE INDEX sessions_by_turn ON sessions(project, turn) WHERE turn > 0;
)sql";

// The use of agents and projects with a budget of a day. day: of UTC, since 1970-01-01.
constexpr char const* day_sums =
    "CREATE TABLE day_sums(day INTEGER NOT NULL, name TEXT NOT NULL, amount INTEGER NOT NULL,"
    "  PRIMARY KEY(day, name)) STRICT, WITHOUT ROWID;";

// Keys of encrypted contents (port/data_keys.h). mixed: 1 if there were contents that were not
// encrypted when the key was written.
constexpr char const* data_keys =
    "CREATE TABLE data_keys(id TEXT PRIMARY KEY, master TEXT NOT NULL, mixed INTEGER NOT NULL,"
    "  wrapped BLOB NOT NULL) STRICT, WITHOUT ROWID;";

// A deleted session keeps no text. A row with frames is that of an import that is not whole.
constexpr char const* deleted_rows =
    "UPDATE sessions SET title = '', alias = '' WHERE status = 'deleted' AND (title <> '' OR alias"
    " <> '') AND NOT EXISTS (SELECT 1 FROM journal WHERE k > no << 24 AND k < (no + 1) << 24);";

constexpr std::array<char const*, 24> steps_of_this_release{tables,
                                                            views,
                                                            feed_and_artifacts,
                                                            completed,
                                                            posts,
                                                            webhooks,
                                                            tokens_and_audit,
                                                            aliases,
                                                            posts_by_target,
                                                            messages_view.data(),
                                                            posts_given_up,
                                                            cut_journals.data(),
                                                            last_known_of_programs.data(),
                                                            lines_of_the_audit,
                                                            sent_messages,
                                                            wakeups,
                                                            rules,
                                                            devices,
                                                            status_counts,
                                                            turns,
                                                            day_sums,
                                                            data_keys,
                                                            pending_calls,
                                                            deleted_rows};

}  // namespace

std::span<char const* const> migrations() { return steps_of_this_release; }

Result<std::size_t> version_of(Connection& connection) {
    auto const owner = connection.integer("PRAGMA application_id");
    if (!owner) return std::unexpected(owner.error());
    auto const version = connection.integer("PRAGMA user_version");
    if (!version) return std::unexpected(version.error());
    auto const objects = connection.integer("SELECT count(*) FROM sqlite_schema");
    if (!objects) return std::unexpected(objects.error());
    if (*owner != application_id && (*owner != 0 || *version != 0 || *objects != 0))
        return fail(Code::wrong_state,
                    "dormouse.db is another program's database: choose another directory");
    if (*version < 0 || static_cast<std::size_t>(*version) > migrations().size())
        return fail(Code::newer_format, "dormouse.db has format " + std::to_string(*version) +
                                            ", this release reads up to " +
                                            std::to_string(migrations().size()) +
                                            ": use the release that wrote it");
    return static_cast<std::size_t>(*version);
}

Result<void> migrate(Connection& connection, std::span<char const* const> steps) {
    auto const version = connection.integer("PRAGMA user_version");
    if (!version) return std::unexpected(version.error());
    for (auto step = static_cast<std::size_t>(*version); step < steps.size(); ++step) {
        auto const taken = connection.run(
            "BEGIN IMMEDIATE; PRAGMA application_id=" + std::to_string(application_id) + ";" +
            steps[step] + "PRAGMA user_version=" + std::to_string(step + 1) + "; COMMIT");
        if (taken) continue;
        if (connection.in_transaction()) std::ignore = connection.run("ROLLBACK");
        return taken;
    }
    return {};
}

}  // namespace dormouse::store::sqlite
