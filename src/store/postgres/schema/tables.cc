// The tables. Times are milliseconds since the Unix epoch. Text is compared by its bytes.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

char const* const tables_1 = R"sql(
-- name 'format': how many migrations were taken; 'feed_floor': the feed's entries up to this number
-- were removed.
CREATE TABLE meta(name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL);
INSERT INTO meta(name, value) VALUES('format', 0), ('feed_floor', 0);

CREATE SEQUENCE epochs;
CREATE SEQUENCE blocks;

-- The processes that use this schema. beat: counts their heartbeats.
CREATE TABLE nodes(epoch bigint PRIMARY KEY, name text NOT NULL, slot bigint NOT NULL,
  beat bigint NOT NULL DEFAULT 0, version text NOT NULL DEFAULT '', config bytea,
  url text NOT NULL DEFAULT '', draining boolean NOT NULL DEFAULT false,
  started timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 50);

-- One row for each process that lives at the same time; a free one has no epoch. incarnation: 16
-- random bytes, by which a process recognises its row. n: the newest entry of the feed by this
-- writer. audit_n, audit_hash: the newest line of its audit chain. batch, statuses: its newest call
-- and the answer, for a process that lost its connection during the call.
CREATE TABLE writers(slot bigint PRIMARY KEY, epoch bigint, incarnation bytea,
  n bigint NOT NULL DEFAULT 0, audit_n bigint NOT NULL DEFAULT 0,
  audit_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
  batch bigint NOT NULL DEFAULT 0, statuses bigint[] NOT NULL DEFAULT '{}')
  WITH (fillfactor = 50);

-- id: the 22 characters after "ses_". head, stamp: the newest event and the checksum of its frame.
-- turn: what an active session does, beside waiting: 0 nothing, 1 works or will try again, 2 its
-- newest turn failed. driver: the epoch of the process that does the session's outstanding work.
CREATE TABLE sessions(no bigint PRIMARY KEY, id text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL, agent text NOT NULL, alias text COLLATE "C" NOT NULL,
  title text NOT NULL, status text COLLATE "C" NOT NULL, created bigint NOT NULL,
  updated bigint NOT NULL, turn bigint NOT NULL, head bigint NOT NULL, stamp bigint NOT NULL,
  driver bigint, place text) WITH (fillfactor = 80);
CREATE INDEX sessions_by_project ON sessions(project, no) WHERE status <> 'deleted';
CREATE INDEX sessions_completed ON sessions(updated, no) WHERE status = 'completed';
CREATE INDEX sessions_by_status ON sessions(project, status)
  WHERE status <> 'active' AND status <> 'deleted';
CREATE INDEX sessions_by_turn ON sessions(project, turn) WHERE turn > 0;
CREATE INDEX sessions_by_alias ON sessions(project, alias, no)
  WHERE alias <> '' AND status <> 'completed' AND status <> 'deleted';

-- One row an append: n events from `first` on. sum: the frame's stamp. n < 0: the first frame of a
-- journal whose older part was removed, with a checksum like other rows. data: a JSON array of
-- [type, at, data, ...].
CREATE TABLE journal(no bigint NOT NULL, first bigint NOT NULL, n bigint NOT NULL,
  sum bigint NOT NULL, data text NOT NULL, PRIMARY KEY(no, first));

-- status: 0 waiting, 1 completed, 2 failed, 3 expired, 4 cancelled.
CREATE TABLE pending(no bigint NOT NULL, call bigint NOT NULL, gen bigint NOT NULL,
  status bigint NOT NULL, project text COLLATE "C" NOT NULL, tool text COLLATE "C" NOT NULL,
  created bigint NOT NULL, timeout bigint, paused bigint NOT NULL, settled bigint NOT NULL,
  ref text COLLATE "C", PRIMARY KEY(no, call, gen));
CREATE INDEX pending_open ON pending(project, no, call, gen) WHERE status = 0;
CREATE INDEX pending_by_ref ON pending(project, ref, no, call, gen) WHERE ref IS NOT NULL;

-- Sessions with outstanding work, and when; or with a driver, a copy of that in `sessions`. Those
-- with a driver are not in the index by time, whose beginning their changes would fill.
CREATE TABLE wakeups(no bigint PRIMARY KEY, wake_at bigint, driver bigint)
  WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX wakeups_by_time ON wakeups(wake_at, no) WHERE driver IS NULL;
CREATE INDEX wakeups_driven ON wakeups(no) WHERE driver IS NOT NULL;

CREATE TABLE keys(no bigint NOT NULL, key bytea NOT NULL, seq bigint NOT NULL,
  PRIMARY KEY(no, key));
CREATE TABLE snapshots(no bigint PRIMARY KEY, seq bigint NOT NULL, format bigint NOT NULL,
  sum bigint NOT NULL, state bytea NOT NULL);
CREATE TABLE created(key bytea PRIMARY KEY, no bigint NOT NULL);
-- A row for each alias that was ever claimed: processes that claim it at the same time wait here.
CREATE TABLE aliases(project text COLLATE "C", alias text COLLATE "C", no bigint NOT NULL,
  PRIMARY KEY(project, alias));

-- n = number << 8 | slot of the writer; see feed() of the reader for the order.
CREATE TABLE feed(n bigint PRIMARY KEY, no bigint NOT NULL, first bigint NOT NULL,
  erased boolean NOT NULL, project text COLLATE "C" NOT NULL);

CREATE TABLE artifacts(no bigint NOT NULL, seq bigint NOT NULL, sum bigint NOT NULL,
  data bytea NOT NULL, PRIMARY KEY(no, seq));

-- Outbox messages. state: 0 pending, 1 delivered, 2 dead, 3 disabled.
CREATE TABLE posts(no bigint NOT NULL, seq bigint NOT NULL, n bigint NOT NULL,
  state bigint NOT NULL, next_at bigint NOT NULL, kind text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL, makes bigint, created bigint NOT NULL,
  attempts bigint NOT NULL, last_status bigint NOT NULL, last_error text NOT NULL,
  delivered bigint, sum bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY(no, seq, n))
  WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX posts_due ON posts(kind, next_at, no, seq, n) WHERE state = 0;
CREATE INDEX posts_makes ON posts(makes) WHERE makes IS NOT NULL;
CREATE INDEX posts_delivered ON posts(delivered) WHERE state = 1;
CREATE INDEX posts_by_target ON posts(target, next_at, no, seq, n)
  WHERE state = 0 AND kind <> 'session';
CREATE INDEX posts_given_up ON posts(next_at) WHERE state > 1;

CREATE TABLE secrets(no bigint NOT NULL, call bigint NOT NULL, gen bigint NOT NULL,
  secret text NOT NULL, PRIMARY KEY(no, call, gen));
CREATE TABLE sent(no bigint NOT NULL, call bigint NOT NULL, gen bigint NOT NULL,
  target text COLLATE "C" NOT NULL, ref text COLLATE "C" NOT NULL, body bytea NOT NULL,
  PRIMARY KEY(no, call, gen, target, ref));
CREATE TABLE delivered(key bytea PRIMARY KEY, digest bytea NOT NULL);
CREATE TABLE kept(key bytea PRIMARY KEY, digest bytea NOT NULL, id text NOT NULL,
  at bigint NOT NULL, source text NOT NULL, project text NOT NULL, ref text NOT NULL,
  body bytea NOT NULL);
CREATE INDEX kept_by_time ON kept(at);

-- projects, agents: one name a line.
CREATE TABLE tokens(id text COLLATE "C" PRIMARY KEY, kind text NOT NULL, name text NOT NULL,
  role text NOT NULL, projects text NOT NULL, agents text NOT NULL, secret bytea NOT NULL,
  created bigint NOT NULL, expires bigint);
CREATE TABLE devices(id text COLLATE "C" PRIMARY KEY, token text COLLATE "C" NOT NULL,
  person text NOT NULL, role text NOT NULL, label text NOT NULL, endpoint text NOT NULL UNIQUE,
  p256dh text NOT NULL, auth text NOT NULL, created bigint NOT NULL);
CREATE INDEX devices_of_token ON devices(token);

-- no: the session in which alone a rule answers; NULL: the project's.
CREATE TABLE rules(id text COLLATE "C" PRIMARY KEY, no bigint, uses bigint NOT NULL, used bigint,
  sum bigint NOT NULL, data bytea NOT NULL);
CREATE INDEX rules_of_session ON rules(no) WHERE no IS NOT NULL;

-- n = slot << 48 | number in the writer's chain, from 1. hash: over the line and the hash before it
-- (port/audit.h).
CREATE TABLE audit(n bigint PRIMARY KEY, line text NOT NULL, hash bytea NOT NULL);
)sql";

// The columns of the parameters of append_1() and messages_1(). `i` is the number of the append in
// the call, from 1.
char const* const types_1 = R"sql(
-- stamp: NULL if only the head is compared. project to turn: NULL if the row stays. rebuilt:
-- NULL if no rows were rebuilt. drive: 0 none, 1 keep, 2 leave (port::Drive). count: 0 if only the
-- driver is written.
CREATE TYPE head_1 AS (i bigint, no bigint, id text, after bigint, stamp bigint, count bigint,
  sum bigint, data text, project text, agent text, alias text, title text, status text,
  created bigint, updated bigint, turn bigint, claims bigint, create_key bytea, erase bigint,
  wake_changed bigint, wake_at bigint, rebuilt bigint, epoch bigint, drive bigint);
CREATE TYPE pending_1 AS (i bigint, call bigint, gen bigint, status bigint, tool text,
  created bigint, timeout bigint, paused bigint, settled bigint, ref text);
CREATE TYPE key_1 AS (i bigint, key bytea, seq bigint);
CREATE TYPE post_1 AS (i bigint, seq bigint, n bigint, state bigint, next_at bigint, kind text,
  target text, makes bigint, created bigint, attempts bigint, last_status bigint, last_error text,
  delivered bigint, sum bigint, data bytea);
CREATE TYPE taken_1 AS (i bigint, no bigint, seq bigint, n bigint);
CREATE TYPE secret_1 AS (i bigint, call bigint, gen bigint, secret text);
CREATE TYPE delivered_1 AS (i bigint, key bytea, digest bytea);
CREATE TYPE line_1 AS (i bigint, line text);
CREATE TYPE artifact_1 AS (i bigint, seq bigint, sum bigint, data bytea);
CREATE TYPE snapshot_1 AS (i bigint, seq bigint, format bigint, sum bigint, state bytea);
CREATE TYPE rule_1 AS (i bigint, id text, no bigint, sum bigint, data bytea);
CREATE TYPE use_1 AS (i bigint, id text, at bigint);
-- through, call, keys: see port::BaseRow.
CREATE TYPE base_1 AS (i bigint, first bigint, n bigint, sum bigint, data text, through bigint,
  call bigint, keys bytea, kept bigint[]);
-- what: 0 changes the row, 1 removes it.
CREATE TYPE update_1 AS (what bigint, no bigint, seq bigint, n bigint, state bigint,
  next_at bigint, attempts bigint, last_status bigint, last_error text, delivered bigint);
-- closed: 1 if the message is forgotten.
CREATE TYPE sent_1 AS (closed bigint, no bigint, call bigint, gen bigint, target text, ref text,
  body bytea);
)sql";

}  // namespace dormouse::store::postgres
