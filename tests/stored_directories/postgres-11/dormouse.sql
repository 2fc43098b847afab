SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA recorded;
CREATE TYPE recorded.artifact_1 AS (
	i bigint,
	seq bigint,
	sum bigint,
	data bytea
);
CREATE TYPE recorded.base_1 AS (
	i bigint,
	first bigint,
	n bigint,
	sum bigint,
	data text,
	through bigint,
	call bigint,
	keys bytea,
	kept bigint[]
);
CREATE TYPE recorded.delivered_1 AS (
	i bigint,
	key bytea,
	digest bytea
);
CREATE TYPE recorded.head_1 AS (
	i bigint,
	no bigint,
	id text,
	after bigint,
	stamp bigint,
	count bigint,
	sum bigint,
	data text,
	project text,
	agent text,
	alias text,
	title text,
	status text,
	created bigint,
	updated bigint,
	turn bigint,
	claims bigint,
	create_key bytea,
	erase bigint,
	wake_changed bigint,
	wake_at bigint,
	rebuilt bigint,
	epoch bigint,
	drive bigint
);
CREATE TYPE recorded.key_1 AS (
	i bigint,
	key bytea,
	seq bigint
);
CREATE TYPE recorded.line_1 AS (
	i bigint,
	line text
);
CREATE TYPE recorded.pending_1 AS (
	i bigint,
	call bigint,
	gen bigint,
	status bigint,
	tool text,
	created bigint,
	timeout bigint,
	paused bigint,
	settled bigint,
	ref text
);
CREATE TYPE recorded.post_1 AS (
	i bigint,
	seq bigint,
	n bigint,
	state bigint,
	next_at bigint,
	kind text,
	target text,
	makes bigint,
	created bigint,
	attempts bigint,
	last_status bigint,
	last_error text,
	delivered bigint,
	sum bigint,
	data bytea
);
CREATE TYPE recorded.rewrite_1 AS (
	i bigint,
	what bigint,
	seq bigint,
	n bigint,
	sum bigint,
	data text
);
CREATE TYPE recorded.rule_1 AS (
	i bigint,
	id text,
	no bigint,
	sum bigint,
	data bytea
);
CREATE TYPE recorded.secret_1 AS (
	i bigint,
	call bigint,
	gen bigint,
	secret text
);
CREATE TYPE recorded.sent_1 AS (
	closed bigint,
	no bigint,
	call bigint,
	gen bigint,
	target text,
	ref text,
	body bytea
);
CREATE TYPE recorded.snapshot_1 AS (
	i bigint,
	seq bigint,
	format bigint,
	sum bigint,
	state bytea
);
CREATE TYPE recorded.sum_1 AS (
	i bigint,
	day bigint,
	name text,
	epoch bigint,
	amount bigint
);
CREATE TYPE recorded.taken_1 AS (
	i bigint,
	no bigint,
	seq bigint,
	n bigint
);
CREATE TYPE recorded.update_1 AS (
	what bigint,
	no bigint,
	seq bigint,
	n bigint,
	state bigint,
	next_at bigint,
	attempts bigint,
	last_status bigint,
	last_error text,
	delivered bigint
);
CREATE TYPE recorded.use_1 AS (
	i bigint,
	id text,
	at bigint
);
CREATE FUNCTION recorded.access_changed_2() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'access';
  PERFORM pg_notify(TG_TABLE_SCHEMA, '');
  RETURN NULL;
END $$;
CREATE FUNCTION recorded.append_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, in_kept bigint, heads recorded.head_1[], in_pending recorded.pending_1[], in_keys recorded.key_1[], in_posts recorded.post_1[], in_taken recorded.taken_1[], in_secrets recorded.secret_1[], in_delivered recorded.delivered_1[], in_lines recorded.line_1[], in_artifacts recorded.artifact_1[], in_snapshots recorded.snapshot_1[], in_rules recorded.rule_1[], in_uses recorded.use_1[], in_bases recorded.base_1[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  me writers;
  v bigint[];
  newest bigint;
  last bigint;
  erased bigint[];
  added bytea[];  -- create keys
  step bigint := greatest(1, in_kept / 100);
  b record;
BEGIN
  me := fence_1(in_lock, in_slot, in_incarnation, in_batch);
  -- A session that another call holds is not waited for: its head is about to move.
  WITH locked AS MATERIALIZED (SELECT s.no, s.id, s.head, s.stamp, s.driver FROM sessions s
    WHERE s.no = ANY (ARRAY(SELECT a.no FROM unnest(heads) a)) FOR NO KEY UPDATE SKIP LOCKED)
  SELECT array_agg(CASE
      WHEN l.no IS NULL AND a.after = 0 AND a.project IS NOT NULL THEN -1
      WHEN l.no IS NULL OR (a.after = 0 AND a.erase = 0) THEN 1
      WHEN l.id <> a.id OR l.head <> a.after OR l.stamp <> a.stamp THEN 1
      -- Another process drives the session, and was not declared dead.
      WHEN a.drive > 0 AND l.driver <> a.epoch
        AND EXISTS (SELECT FROM nodes n WHERE n.epoch = l.driver) THEN 1
      ELSE 0 END ORDER BY a.i) INTO v
    FROM unnest(heads) a LEFT JOIN locked l ON l.no = a.no;
  IF cardinality(in_taken) > 0 THEN
    -- What another call takes at the same time is waited for, and not taken a second time.
    WITH there AS MATERIALIZED (SELECT t.i FROM posts p JOIN unnest(in_taken) t
        ON p.no = t.no AND p.seq = t.seq AND p.n = t.n
        WHERE v[t.i] <= 0 ORDER BY p.no, p.seq, p.n FOR UPDATE OF p)
    SELECT array_agg(CASE WHEN v[a.i] <= 0
        AND (SELECT count(*) FROM unnest(in_taken) t WHERE t.i = a.i)
          > (SELECT count(*) FROM there h WHERE h.i = a.i) THEN 1 ELSE v[a.i] END ORDER BY a.i)
      INTO v FROM unnest(heads) a;
  END IF;
  IF cardinality(in_keys) > 0 THEN
    v := (SELECT array_agg(CASE WHEN v[a.i] = 0 AND EXISTS (SELECT FROM unnest(in_keys) k
          JOIN keys x ON x.no = a.no AND x.key = k.key
          WHERE k.i = a.i AND (a.rebuilt IS NULL OR x.seq <= a.rebuilt))
        THEN 4 ELSE v[a.i] END ORDER BY a.i) FROM unnest(heads) a);
  END IF;
  IF EXISTS (SELECT FROM unnest(heads) a WHERE a.claims = 1 AND v[a.i] <= 0) THEN
    v := claim_1(heads, v);
  END IF;
  IF EXISTS (SELECT FROM unnest(heads) a WHERE a.create_key IS NOT NULL AND v[a.i] <= 0) THEN
    WITH made AS (INSERT INTO created(key, no)
      SELECT a.create_key, a.no FROM unnest(heads) a
        WHERE a.create_key IS NOT NULL AND v[a.i] <= 0 ORDER BY 1
      ON CONFLICT DO NOTHING RETURNING key)
    SELECT array_agg(CASE WHEN v[a.i] <= 0 AND a.create_key IS NOT NULL AND m.key IS NULL
        THEN 3 ELSE v[a.i] END ORDER BY a.i), array_agg(m.key) INTO v, added
      FROM unnest(heads) a LEFT JOIN made m ON m.key = a.create_key;
  END IF;
  IF -1 = ANY (v) THEN
    WITH made AS (INSERT INTO sessions(no, id, project, agent, alias, title, status, created,
        updated, turn, head, stamp, driver)
      SELECT a.no, a.id, a.project, a.agent, a.alias, a.title, a.status, a.created, a.updated,
          a.turn, a.count, a.sum, CASE WHEN a.drive = 1 THEN a.epoch END
        FROM unnest(heads) a WHERE v[a.i] = -1 ORDER BY a.no
      ON CONFLICT DO NOTHING RETURNING no)
    SELECT array_agg(CASE WHEN v[a.i] <> -1 THEN v[a.i] WHEN m.no IS NULL THEN 1 ELSE 0 END
        ORDER BY a.i) INTO v FROM unnest(heads) a LEFT JOIN made m ON m.no = a.no;
    -- Its number was taken by another session at the same time.
    DELETE FROM created c USING unnest(heads) a
      WHERE c.key = a.create_key AND c.key = ANY (added) AND v[a.i] = 1;
  END IF;
  IF NOT 0 = ANY (v) THEN
    UPDATE writers SET batch = in_batch, statuses = v WHERE slot = in_slot;
    RETURN v;
  END IF;
  UPDATE sessions s SET agent = coalesce(a.agent, s.agent), alias = coalesce(a.alias, s.alias),
      title = coalesce(a.title, s.title), updated = coalesce(a.updated, s.updated),
      status = CASE WHEN a.erase = 1 THEN 'deleted' ELSE coalesce(a.status, s.status) END,
      turn = CASE WHEN a.erase = 1 THEN 0 ELSE coalesce(a.turn, s.turn) END,
      head = CASE WHEN a.erase = 1 THEN 0 ELSE a.after + a.count END,
      stamp = CASE WHEN a.erase = 1 THEN 0 WHEN a.count = 0 THEN s.stamp ELSE a.sum END,
      driver = CASE WHEN a.drive = 2 OR a.erase = 1 THEN NULL WHEN a.drive = 1 THEN a.epoch
        ELSE s.driver END
    FROM unnest(heads) a WHERE s.no = a.no AND v[a.i] = 0 AND (a.after > 0 OR a.erase = 1);
  IF cardinality(in_delivered) > 0 THEN
    INSERT INTO delivered(key, digest) SELECT d.key, d.digest FROM unnest(in_delivered) d
      WHERE v[d.i] = 0 ORDER BY d.key ON CONFLICT DO NOTHING;
    DELETE FROM kept WHERE key IN (SELECT d.key FROM unnest(in_delivered) d WHERE v[d.i] = 0);
  END IF;
  newest := (SELECT max(n) >> 8 FROM writers);
  INSERT INTO feed(n, no, first, erased, project)
    SELECT (newest + row_number() OVER (ORDER BY a.i)) << 8 | in_slot, a.no, a.after + 1,
        a.erase = 1, s.project
      FROM unnest(heads) a JOIN sessions s ON s.no = a.no WHERE v[a.i] = 0 AND a.count > 0;
  me.n := greatest(me.n, (newest + (SELECT count(*) FROM unnest(heads) a
    WHERE v[a.i] = 0 AND a.count > 0)) << 8 | in_slot);
  IF cardinality(in_posts) > 0 THEN
    INSERT INTO posts(no, seq, n, state, next_at, kind, target, makes, created, attempts,
        last_status, last_error, delivered, sum, data)
      SELECT a.no, p.seq, p.n, p.state, p.next_at, p.kind, p.target, p.makes, p.created,
          p.attempts, p.last_status, p.last_error, p.delivered, p.sum, p.data
        FROM unnest(in_posts) p JOIN unnest(heads) a ON a.i = p.i WHERE v[p.i] = 0;
  END IF;
  IF cardinality(in_taken) > 0 THEN
    DELETE FROM posts p USING unnest(in_taken) t
      WHERE p.no = t.no AND p.seq = t.seq AND p.n = t.n AND v[t.i] = 0;
  END IF;
  IF cardinality(in_lines) > 0 THEN
    me := audit_1(me, ARRAY(SELECT l.line FROM unnest(in_lines) WITH ORDINALITY
        l(i, line, place) WHERE v[l.i] = 0 ORDER BY l.i, l.place));
  END IF;
  IF cardinality(in_rules) > 0 THEN
    INSERT INTO rules(id, no, uses, used, sum, data)
      SELECT r.id, r.no, 0, NULL, r.sum, r.data FROM unnest(in_rules) r WHERE v[r.i] = 0
      ON CONFLICT (id) DO UPDATE SET no = excluded.no, uses = 0, used = NULL, sum = excluded.sum,
        data = excluded.data;
  END IF;
  IF cardinality(in_uses) > 0 THEN
    UPDATE rules r SET uses = r.uses + u.times, used = u.newest
      FROM (SELECT x.id, count(*) AS times, max(x.at) AS newest FROM unnest(in_uses) x
        WHERE v[x.i] = 0 GROUP BY x.id) u WHERE r.id = u.id;
  END IF;
  INSERT INTO journal(no, first, n, sum, data)
    SELECT a.no, a.after + 1, a.count, a.sum, a.data FROM unnest(heads) a
      WHERE v[a.i] = 0 AND a.erase = 0 AND a.count > 0;
  IF cardinality(in_artifacts) > 0 THEN
    INSERT INTO artifacts(no, seq, sum, data) SELECT a.no, x.seq, x.sum, x.data
      FROM unnest(in_artifacts) x JOIN unnest(heads) a ON a.i = x.i
      WHERE v[x.i] = 0 AND a.erase = 0;
  END IF;
  INSERT INTO wakeups(no, wake_at, driver)
    SELECT x.no, x.wake_at, x.driver FROM (SELECT a.no, s.driver,
          CASE WHEN a.wake_changed = 1 AND a.count > 0 THEN a.wake_at ELSE w.wake_at END AS wake_at
        FROM unnest(heads) a JOIN sessions s ON s.no = a.no LEFT JOIN wakeups w ON w.no = a.no
        WHERE v[a.i] = 0 AND a.erase = 0) x
      WHERE x.wake_at IS NOT NULL OR x.driver IS NOT NULL
    ON CONFLICT (no) DO UPDATE SET wake_at = excluded.wake_at, driver = excluded.driver
      WHERE wakeups.wake_at IS DISTINCT FROM excluded.wake_at
        OR wakeups.driver IS DISTINCT FROM excluded.driver;
  DELETE FROM wakeups w USING unnest(heads) a, sessions s
    WHERE w.no = a.no AND s.no = a.no AND v[a.i] = 0 AND s.driver IS NULL
      AND (a.erase = 1 OR CASE WHEN a.wake_changed = 1 AND a.count > 0 THEN a.wake_at
        ELSE w.wake_at END IS NULL);
  IF cardinality(in_bases) > 0 THEN
    FOR b IN SELECT a.no, x.* FROM unnest(in_bases) x JOIN unnest(heads) a ON a.i = x.i
        WHERE v[x.i] = 0 AND a.erase = 0 LOOP
      DELETE FROM journal WHERE no = b.no AND first <= b.first;
      INSERT INTO journal(no, first, n, sum, data) VALUES(b.no, b.first, b.n, b.sum, b.data);
      DELETE FROM pending WHERE no = b.no AND paused <= b.through AND settled > 0
        AND settled <= b.through;
      DELETE FROM keys WHERE no = b.no AND seq <= b.through AND length(key) > 0
        AND position(substring(key FROM 1 FOR 1) IN b.keys) > 0;
      DELETE FROM secrets WHERE no = b.no AND call <= b.call;
      DELETE FROM sent WHERE no = b.no AND call <= b.call;
      DELETE FROM artifacts WHERE no = b.no AND seq <= b.through AND NOT seq = ANY (b.kept);
    END LOOP;
  END IF;
  FOR b IN SELECT a.no, a.rebuilt FROM unnest(heads) a
      WHERE v[a.i] = 0 AND a.erase = 0 AND a.rebuilt IS NOT NULL LOOP
    DELETE FROM pending WHERE no = b.no AND paused > b.rebuilt;
    DELETE FROM keys WHERE no = b.no AND seq > b.rebuilt;
  END LOOP;
  IF cardinality(in_pending) > 0 THEN
    INSERT INTO pending(no, call, gen, status, project, tool, created, timeout, paused, settled,
        ref)
      SELECT a.no, p.call, p.gen, p.status, s.project, p.tool, p.created, p.timeout, p.paused,
          p.settled, p.ref
        FROM unnest(in_pending) p JOIN unnest(heads) a ON a.i = p.i JOIN sessions s ON s.no = a.no
        WHERE v[p.i] = 0 AND a.erase = 0
      ON CONFLICT (no, call, gen) DO UPDATE SET status = excluded.status, tool = excluded.tool,
        created = excluded.created, timeout = excluded.timeout, paused = excluded.paused,
        settled = excluded.settled, ref = excluded.ref;
  END IF;
  IF cardinality(in_keys) > 0 THEN
    INSERT INTO keys(no, key, seq) SELECT a.no, k.key, k.seq
      FROM unnest(in_keys) k JOIN unnest(heads) a ON a.i = k.i
      WHERE v[k.i] = 0 AND a.erase = 0;
  END IF;
  IF cardinality(in_secrets) > 0 THEN
    INSERT INTO secrets(no, call, gen, secret) SELECT a.no, x.call, x.gen, x.secret
      FROM unnest(in_secrets) x JOIN unnest(heads) a ON a.i = x.i
      WHERE v[x.i] = 0 AND a.erase = 0
      ON CONFLICT (no, call, gen) DO UPDATE SET secret = excluded.secret;
  END IF;
  IF cardinality(in_snapshots) > 0 THEN
    INSERT INTO snapshots(no, seq, format, sum, state)
      SELECT a.no, x.seq, x.format, x.sum, x.state
        FROM unnest(in_snapshots) x JOIN unnest(heads) a ON a.i = x.i
        WHERE v[x.i] = 0 AND a.erase = 0
      ON CONFLICT (no) DO UPDATE SET seq = excluded.seq, format = excluded.format,
        sum = excluded.sum, state = excluded.state;
  END IF;
  erased := ARRAY(SELECT a.no FROM unnest(heads) a WHERE v[a.i] = 0 AND a.erase = 1);
  IF cardinality(erased) > 0 THEN
    PERFORM erase_1(erased);
  END IF;
  -- An append of the driver alone is answered with the stamp that stays.
  IF EXISTS (SELECT FROM unnest(heads) a WHERE a.count = 0 AND v[a.i] = 0) THEN
    v := v || ARRAY(SELECT coalesce(s.stamp, 0) FROM unnest(heads) a
      LEFT JOIN sessions s ON s.no = a.no ORDER BY a.i);
  END IF;
  UPDATE writers SET n = me.n, audit_n = me.audit_n, audit_hash = me.audit_hash,
    batch = in_batch, statuses = v WHERE slot = in_slot;
  -- In steps, not in every call: a small excess over the limit is harmless.
  IF me.n >> 8 > in_kept AND (me.n >> 8) / step <> newest / step
      AND pg_try_advisory_xact_lock(in_lock::int, -1) THEN
    last := (SELECT max(n) FROM feed WHERE n < ((me.n >> 8) - in_kept + 1) << 8);
    DELETE FROM feed WHERE n <= last;
    UPDATE meta SET value = last WHERE name = 'feed_floor' AND value < last;
  END IF;
  RETURN v;
END $$;
CREATE FUNCTION recorded.append_3(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, in_kept bigint, heads recorded.head_1[], in_pending recorded.pending_1[], in_keys recorded.key_1[], in_posts recorded.post_1[], in_taken recorded.taken_1[], in_secrets recorded.secret_1[], in_delivered recorded.delivered_1[], in_lines recorded.line_1[], in_artifacts recorded.artifact_1[], in_snapshots recorded.snapshot_1[], in_rules recorded.rule_1[], in_uses recorded.use_1[], in_bases recorded.base_1[], in_sums recorded.sum_1[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  v bigint[] := append_1(in_lock, in_slot, in_incarnation, in_batch, in_kept, heads, in_pending,
    in_keys, in_posts, in_taken, in_secrets, in_delivered, in_lines, in_artifacts, in_snapshots,
    in_rules, in_uses, in_bases);
BEGIN
  IF cardinality(in_sums) > 0 THEN
    INSERT INTO day_sums AS d (day, name, epoch, amount)
      SELECT s.day, s.name, s.epoch, sum(s.amount) FROM unnest(in_sums) s
        WHERE v[s.i] = 0 GROUP BY s.day, s.name, s.epoch
      ON CONFLICT (day, name, epoch) DO UPDATE SET amount = d.amount + excluded.amount;
    DELETE FROM day_sums d USING (SELECT o.day, o.name, o.epoch FROM day_sums o
        WHERE o.day < in_sums[1].day - 7 FOR UPDATE SKIP LOCKED) o
      WHERE d.day = o.day AND d.name = o.name AND d.epoch = o.epoch;
  END IF;
  RETURN v;
END $$;
CREATE FUNCTION recorded.append_5(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, in_kept bigint, heads recorded.head_1[], in_pending recorded.pending_1[], in_keys recorded.key_1[], in_posts recorded.post_1[], in_taken recorded.taken_1[], in_secrets recorded.secret_1[], in_delivered recorded.delivered_1[], in_lines recorded.line_1[], in_artifacts recorded.artifact_1[], in_snapshots recorded.snapshot_1[], in_rules recorded.rule_1[], in_uses recorded.use_1[], in_bases recorded.base_1[], in_sums recorded.sum_1[], in_rewrites recorded.rewrite_1[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  v bigint[] := append_3(in_lock, in_slot, in_incarnation, in_batch, in_kept, heads, in_pending,
    in_keys, in_posts, in_taken, in_secrets, in_delivered, in_lines, in_artifacts, in_snapshots,
    in_rules, in_uses, in_bases, in_sums);
  r record;
BEGIN
  FOR r IN SELECT a.no, x.* FROM unnest(in_rewrites) x JOIN unnest(heads) a ON a.i = x.i
      WHERE v[x.i] = 0 AND a.erase = 0 LOOP
    CASE r.what
      WHEN 0 THEN
        UPDATE journal SET sum = r.sum, data = r.data
          WHERE no = r.no AND first = r.seq AND n = r.n;
        IF NOT FOUND THEN
          RAISE EXCEPTION 'the frame of event % is missing', r.seq;
        END IF;
      WHEN 1 THEN DELETE FROM artifacts WHERE no = r.no AND seq = r.seq;
      WHEN 2 THEN DELETE FROM posts WHERE no = r.no AND seq = r.seq AND n = r.n;
      WHEN 3 THEN DELETE FROM sent WHERE no = r.no AND call = r.n;
    END CASE;
  END LOOP;
  RETURN v;
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE recorded.writers (
    slot bigint NOT NULL,
    epoch bigint,
    incarnation bytea,
    n bigint DEFAULT 0 NOT NULL,
    audit_n bigint DEFAULT 0 NOT NULL,
    audit_hash bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
    batch bigint DEFAULT 0 NOT NULL,
    statuses bigint[] DEFAULT '{}'::bigint[] NOT NULL
)
WITH (fillfactor='50');
CREATE FUNCTION recorded.audit_1(me recorded.writers, lines text[]) RETURNS recorded.writers
    LANGUAGE plpgsql
    AS $$
DECLARE
  one text;
  place bigint;
BEGIN
  FOREACH one IN ARRAY lines LOOP
    me.audit_n := me.audit_n + 1;
    place := me.slot << 48 | me.audit_n;
    me.audit_hash := sha256(me.audit_hash || int8send(place) || convert_to(one, 'UTF8'));
    INSERT INTO audit(n, line, hash) VALUES(place, one, me.audit_hash);
  END LOOP;
  RETURN me;
END $$;
CREATE FUNCTION recorded.change_devices_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, dropped text, in_id text, in_token text, in_person text, in_role text, in_label text, in_endpoint text, in_p256dh text, in_auth text, in_created bigint, lines text[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  IF in_id IS NOT NULL THEN
    PERFORM FROM tokens WHERE id = in_token FOR SHARE;
    IF NOT FOUND THEN RETURN done_1(me, in_batch, 2); END IF;
  END IF;
  IF dropped <> '' THEN
    DELETE FROM devices WHERE id = dropped;
    IF NOT FOUND THEN RETURN done_1(me, in_batch, 1); END IF;
  END IF;
  IF in_id IS NOT NULL THEN
    DELETE FROM devices WHERE endpoint = in_endpoint OR id = in_id;
    INSERT INTO devices(id, token, person, role, label, endpoint, p256dh, auth, created)
      VALUES(in_id, in_token, in_person, in_role, in_label, in_endpoint, in_p256dh, in_auth,
        in_created);
  END IF;
  RETURN done_1(audit_1(me, lines), in_batch, 0);
END $$;
CREATE FUNCTION recorded.change_tokens_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, dropped text, in_id text, in_kind text, in_name text, in_role text, in_projects text, in_agents text, in_secret bytea, in_created bigint, in_expires bigint, lines text[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  IF dropped <> '' THEN
    DELETE FROM tokens WHERE id = dropped;
    IF NOT FOUND THEN RETURN done_1(me, in_batch, 1); END IF;
    DELETE FROM devices WHERE token = dropped;
  END IF;
  IF in_id IS NOT NULL THEN
    INSERT INTO tokens(id, kind, name, role, projects, agents, secret, created, expires)
      VALUES(in_id, in_kind, in_name, in_role, in_projects, in_agents, in_secret, in_created,
        in_expires)
      ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name,
        role = excluded.role, projects = excluded.projects, agents = excluded.agents,
        secret = excluded.secret, created = excluded.created, expires = excluded.expires;
  END IF;
  RETURN done_1(audit_1(me, lines), in_batch, 0);
END $$;
CREATE FUNCTION recorded.claim_1(heads recorded.head_1[], v bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO aliases(project, alias, no) SELECT a.project, a.alias, a.no FROM unnest(heads) a
    WHERE a.claims = 1 AND v[a.i] <= 0 ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  PERFORM FROM aliases x JOIN unnest(heads) a ON x.project = a.project AND x.alias = a.alias
    WHERE a.claims = 1 AND v[a.i] <= 0 ORDER BY x.project, x.alias FOR UPDATE OF x;
  v := (SELECT array_agg(CASE WHEN a.claims = 1 AND v[a.i] <= 0
        AND EXISTS (SELECT FROM sessions s WHERE s.project = a.project AND s.alias = a.alias
          AND s.alias <> '' AND s.status <> 'completed' AND s.status <> 'deleted'
          AND s.no <> a.no) THEN 2 ELSE v[a.i] END ORDER BY a.i)
    FROM unnest(heads) a);
  UPDATE aliases x SET no = a.no FROM unnest(heads) a
    WHERE x.project = a.project AND x.alias = a.alias AND a.claims = 1 AND v[a.i] <= 0
      AND x.no <> a.no;
  RETURN v;
END $$;
CREATE FUNCTION recorded.database_identity_4() RETURNS bytea
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  cluster text := '';
BEGIN
  IF has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') THEN
    SELECT system_identifier::text INTO cluster FROM pg_catalog.pg_control_system();
  END IF;
  RETURN convert_to(format('%s/%s/%s', cluster,
    (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()),
    (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = 'settings'::regclass)), 'UTF8');
END $$;
CREATE FUNCTION recorded.done_1(me recorded.writers, in_batch bigint, status bigint) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE writers SET audit_n = me.audit_n, audit_hash = me.audit_hash, batch = in_batch,
    statuses = ARRAY[status] WHERE slot = me.slot;
  RETURN ARRAY[status];
END $$;
CREATE FUNCTION recorded.drop_delivered_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, until bigint) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  DELETE FROM posts WHERE state = 1 AND delivered < until;
  RETURN done_1(me, in_batch, 0);
END $$;
CREATE FUNCTION recorded.drop_given_up_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, until bigint, most bigint) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  DELETE FROM posts p USING (SELECT no, seq, n FROM posts WHERE state > 1 AND next_at < until
      AND created < until AND kind <> 'session' AND kind <> 'held' LIMIT most FOR UPDATE) old
    WHERE p.no = old.no AND p.seq = old.seq AND p.n = old.n;
  RETURN done_1(me, in_batch, 0);
END $$;
CREATE FUNCTION recorded.drop_kept_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, in_keys bytea[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  DELETE FROM kept WHERE key = ANY (in_keys);
  RETURN done_1(me, in_batch, 0);
END $$;
CREATE FUNCTION recorded.drop_rule_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, dropped text, lines text[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  DELETE FROM rules WHERE id = dropped;
  IF NOT FOUND THEN RETURN done_1(me, in_batch, 1); END IF;
  RETURN done_1(audit_1(me, lines), in_batch, 0);
END $$;
CREATE FUNCTION recorded.erase_1(erased bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM journal WHERE no = ANY (erased);
  DELETE FROM artifacts WHERE no = ANY (erased);
  DELETE FROM pending WHERE no = ANY (erased);
  DELETE FROM keys WHERE no = ANY (erased);
  DELETE FROM snapshots WHERE no = ANY (erased);
  DELETE FROM secrets WHERE no = ANY (erased);
  DELETE FROM sent WHERE no = ANY (erased);
  DELETE FROM rules WHERE no = ANY (erased);
END $$;
CREATE FUNCTION recorded.fence_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint) RETURNS recorded.writers
    LANGUAGE plpgsql
    AS $$
DECLARE me writers;
BEGIN
  -- Held until the commit is visible. Readers of the feed ask for it.
  PERFORM pg_advisory_xact_lock(in_lock::int, in_slot::int);
  SELECT * INTO me FROM writers WHERE slot = in_slot AND incarnation = in_incarnation FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this process was declared dead' USING ERRCODE = 'DM001';
  END IF;
  IF me.batch >= in_batch THEN
    RAISE EXCEPTION 'this call was made before' USING ERRCODE = 'DM002';
  END IF;
  RETURN me;
END $$;
CREATE FUNCTION recorded.finish_upgrade_6(in_lock bigint, in_format bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(in_lock::int, -2);
  IF EXISTS (SELECT FROM nodes WHERE format < in_format) THEN RETURN; END IF;
  UPDATE meta SET value = in_format WHERE name = 'write_version' AND value < in_format;
END $$;
CREATE FUNCTION recorded.keep_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, in_key bytea, in_digest bytea, in_id text, in_at bigint, in_source text, in_project text, in_ref text, in_body bytea) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  INSERT INTO kept(key, digest, id, at, source, project, ref, body)
    SELECT in_key, in_digest, in_id, in_at, in_source, in_project, in_ref, in_body
      WHERE NOT EXISTS (SELECT FROM delivered WHERE key = in_key)
    ON CONFLICT DO NOTHING;
  RETURN done_1(me, in_batch, CASE WHEN FOUND THEN 0 ELSE 1 END);
END $$;
CREATE FUNCTION recorded.leave_1(in_slot bigint, in_incarnation bytea) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE mine bigint;
BEGIN
  SELECT epoch INTO mine FROM writers WHERE slot = in_slot AND incarnation = in_incarnation
    FOR UPDATE;
  UPDATE writers SET epoch = NULL, incarnation = NULL
    WHERE slot = in_slot AND incarnation = in_incarnation;
  DELETE FROM nodes WHERE epoch = mine;
END $$;
CREATE FUNCTION recorded.messages_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, updates recorded.update_1[], in_sent recorded.sent_1[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
  u record;
BEGIN
  FOR u IN SELECT * FROM unnest(updates) x ORDER BY x.no, x.seq, x.n LOOP
    IF u.what = 1 THEN
      DELETE FROM posts WHERE no = u.no AND seq = u.seq AND n = u.n;
    ELSE
      UPDATE posts SET state = u.state, next_at = u.next_at, attempts = u.attempts,
          last_status = u.last_status, last_error = u.last_error, delivered = u.delivered
        WHERE no = u.no AND seq = u.seq AND n = u.n;
    END IF;
  END LOOP;
  -- A session that was deleted meanwhile keeps no messages: its row is locked, so that it is not
  -- deleted now.
  FOR u IN SELECT * FROM unnest(in_sent) LOOP
    IF u.closed = 1 THEN
      DELETE FROM sent WHERE no = u.no AND call = u.call AND gen = u.gen AND target = u.target
        AND ref = u.ref;
    ELSE
      INSERT INTO sent(no, call, gen, target, ref, body)
        SELECT s.no, u.call, u.gen, u.target, u.ref, u.body FROM sessions s
          WHERE s.no = u.no AND s.status <> 'deleted' FOR SHARE
        ON CONFLICT (no, call, gen, target, ref) DO UPDATE SET body = excluded.body;
    END IF;
  END LOOP;
  RETURN done_1(me, in_batch, 0);
END $$;
CREATE FUNCTION recorded.register_1(in_lock bigint, in_incarnation bytea, in_name text, in_version text) RETURNS bigint[]
    LANGUAGE sql
    AS $$ SELECT register_6(in_lock, in_incarnation, in_name, in_version, 8) $$;
CREATE FUNCTION recorded.register_6(in_lock bigint, in_incarnation bytea, in_name text, in_version text, in_format bigint) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE made bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock(in_lock::int, -2);
  IF (SELECT value FROM meta WHERE name = 'write_version') > in_format THEN
    RAISE EXCEPTION 'a newer format is written' USING ERRCODE = 'DM004';
  END IF;
  made := take_writer_6(in_lock, in_incarnation, in_name, in_version);
  UPDATE nodes SET format = in_format WHERE epoch = made[1];
  RETURN made;
END $$;
CREATE FUNCTION recorded.remove_node_2(in_epoch bigint, in_beat bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM FROM nodes WHERE epoch = in_epoch AND beat = in_beat FOR UPDATE;
  IF NOT FOUND THEN RETURN 0; END IF;
  UPDATE writers SET epoch = NULL, incarnation = NULL WHERE epoch = in_epoch;
  DELETE FROM nodes WHERE epoch = in_epoch;
  RETURN 1;
END $$;
CREATE FUNCTION recorded.take_block_1(in_lock bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
  block bigint;
  used bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(in_lock::int, -3);
  block := nextval('blocks');
  used := greatest((SELECT max(no) FROM sessions),
    (SELECT max(makes) FROM posts WHERE makes IS NOT NULL)) >> 8;
  IF block <= used THEN  -- the sequence is older than the sessions
    block := setval('blocks', used + 1);
  END IF;
  RETURN block << 8;
END $$;
CREATE FUNCTION recorded.take_writer_6(in_lock bigint, in_incarnation bytea, in_name text, in_version text) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  free bigint;
  mine bigint;
  last bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(in_lock::int, -2);
  mine := nextval('epochs');
  free := (SELECT min(slot) FROM writers WHERE epoch IS NULL);
  IF free IS NULL THEN
    free := (SELECT coalesce(max(slot) + 1, 0) FROM writers);
    IF free > 255 THEN
      RAISE EXCEPTION '256 processes use this schema' USING ERRCODE = 'DM003';
    END IF;
    INSERT INTO writers(slot) VALUES(free);
  END IF;
  UPDATE writers SET epoch = mine, incarnation = in_incarnation WHERE slot = free
    RETURNING batch INTO last;
  INSERT INTO nodes(epoch, name, slot, version) VALUES(mine, in_name, free, in_version);
  RETURN ARRAY[mine, free, last];
END $$;
CREATE FUNCTION recorded.trim_audit_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint, through bigint, lines text[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  me := audit_1(me, lines);
  DELETE FROM audit WHERE n >= through >> 48 << 48 AND n <= through;
  RETURN done_1(me, in_batch, 0);
END $$;
CREATE TABLE recorded.journal (
    no bigint NOT NULL,
    first bigint NOT NULL,
    n bigint NOT NULL,
    sum bigint NOT NULL,
    data text NOT NULL
);
CREATE TABLE recorded.sessions (
    no bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL,
    alias text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    created bigint NOT NULL,
    updated bigint NOT NULL,
    turn bigint NOT NULL,
    head bigint NOT NULL,
    stamp bigint NOT NULL,
    driver bigint,
    place text
)
WITH (fillfactor='80');
CREATE VIEW recorded.agent_session_messages AS
 WITH events AS (
         SELECT s.id AS session,
            COALESCE(((e.value ->> 5))::bigint, ((j.first + e.place) - 1)) AS seq,
            (e.value ->> 0) AS type,
            (e.value -> 2) AS data,
            ((((((j.data)::json -> 0) ->> 1))::bigint +
                CASE
                    WHEN (e.place = 1) THEN (0)::bigint
                    ELSE ((e.value ->> 1))::bigint
                END) / 1000) AS at
           FROM ((recorded.sessions s
             JOIN recorded.journal j ON ((j.no = s.no)))
             CROSS JOIN LATERAL json_array_elements((j.data)::json) WITH ORDINALITY e(value, place))
          WHERE (s.status <> 'deleted'::text)
        ), lists AS (
         SELECT events.session,
            events.seq,
            events.type,
                CASE
                    WHEN (events.type = 'agent_update'::text) THEN (events.data ->> 'messageID'::text)
                    ELSE ((('msg_'::text || events.session) || '_'::text) || events.seq)
                END AS message,
                CASE
                    WHEN (events.type = ANY (ARRAY['input_received'::text, 'model_replied'::text])) THEN (events.data -> 'parts'::text)
                    WHEN ((events.type = 'agent_update'::text) AND ((events.data ->> 'kind'::text) = 'message'::text)) THEN (events.data -> 'body'::text)
                    ELSE NULL::json
                END AS parts,
                CASE
                    WHEN (events.type = 'model_replied'::text) THEN (events.data -> 'calls'::text)
                    ELSE NULL::json
                END AS calls
           FROM events
        ), parts AS (
         SELECT l.session,
            l.message,
            l.seq,
            part.place,
            (part.value ->> 'type'::text) AS type,
            (part.value ->> 'text'::text) AS text,
            (part.value ->> 'name'::text) AS name,
            (part.value ->> 'alt'::text) AS alt,
            COALESCE((part.value ->> 'url'::text), ('/api/artifacts/'::text || (part.value ->> 'artifactID'::text))) AS url
           FROM (lists l
             CROSS JOIN LATERAL json_array_elements(
                CASE
                    WHEN (json_typeof(l.parts) = 'array'::text) THEN l.parts
                    ELSE NULL::json
                END) WITH ORDINALITY part(value, place))
        ), news AS (
         SELECT events.session,
            events.seq,
            events.type,
            events.data,
            (
                CASE
                    WHEN (events.type = 'agent_update'::text) THEN ((events.data -> 'body'::text) -> 'output'::text)
                    WHEN ((events.data -> 'error'::text) IS NOT NULL) THEN (events.data -> 'error'::text)
                    WHEN ((events.data -> 'output'::text) IS NOT NULL) THEN (events.data -> 'output'::text)
                    WHEN ((events.data -> 'decision'::text) IS NOT NULL) THEN ((events.data -> 'decision'::text) -> 'output'::text)
                    ELSE ((events.data -> 'result'::text) -> 'output'::text)
                END #>> '{}'::text[]) AS output,
            count(*) FILTER (WHERE (events.type = ANY (ARRAY['agent_replied'::text, 'agent_detached'::text]))) OVER (PARTITION BY events.session ORDER BY events.seq) AS prompt
           FROM events
          WHERE ((events.type = ANY (ARRAY['tool_finished'::text, 'submitted'::text, 'expired'::text, 'cancelled'::text, 'agent_asked'::text, 'agent_replied'::text, 'agent_detached'::text])) OR ((events.type = 'agent_update'::text) AND ((events.data ->> 'kind'::text) = 'tool'::text)))
        ), shown AS (
         SELECT news.session,
            news.prompt,
            news.seq,
                CASE
                    WHEN (news.type = 'agent_asked'::text) THEN ((news.data -> 'call'::text) ->> 'modelID'::text)
                    ELSE (news.data ->> 'toolCallID'::text)
                END AS id,
            (news.data ->> 'messageID'::text) AS message,
            ((news.data -> 'body'::text) ->> 'name'::text) AS name,
            ((news.data -> 'body'::text) ->> 'kind'::text) AS kind,
            ((news.data -> 'call'::text) ->> 'tool'::text) AS asked,
            (((news.data -> 'body'::text) -> 'input'::text))::text AS input,
            (((news.data -> 'call'::text) -> 'input'::text))::text AS asked_input,
                CASE
                    WHEN (news.type = 'agent_update'::text) THEN news.output
                    ELSE NULL::text
                END AS output,
            (news.data ->> 'status'::text) AS status
           FROM news
          WHERE (news.type = ANY (ARRAY['agent_update'::text, 'agent_asked'::text]))
        ), tools AS (
         SELECT shown.session,
            shown.prompt,
            min(shown.seq) AS seq,
            shown.id,
            (array_agg(shown.message ORDER BY shown.seq) FILTER (WHERE (shown.message IS NOT NULL)))[1] AS message,
            (array_agg(shown.name ORDER BY shown.seq DESC) FILTER (WHERE (shown.name IS NOT NULL)))[1] AS name,
            (array_agg(shown.kind ORDER BY shown.seq DESC) FILTER (WHERE (shown.kind IS NOT NULL)))[1] AS kind,
            max(shown.asked) AS asked,
            (array_agg(shown.input ORDER BY shown.seq DESC) FILTER (WHERE (shown.input IS NOT NULL)))[1] AS input,
            (array_agg(shown.asked_input ORDER BY shown.seq DESC) FILTER (WHERE (shown.asked_input IS NOT NULL)))[1] AS asked_input,
            (array_agg(shown.output ORDER BY shown.seq DESC) FILTER (WHERE (shown.output IS NOT NULL)))[1] AS output,
            (array_agg(shown.status ORDER BY shown.seq DESC) FILTER (WHERE (shown.status IS NOT NULL)))[1] AS status
           FROM shown
          GROUP BY shown.session, shown.prompt, shown.id
        ), prompts AS (
         SELECT news.session,
            max(news.prompt) AS newest
           FROM news
          GROUP BY news.session
        ), calls AS (
         SELECT l.session,
            l.message,
            l.seq,
            call.place,
            (call.value ->> 'callID'::text) AS id,
            (call.value ->> 'tool'::text) AS name,
            COALESCE(((call.value -> 'input'::text))::text, 'null'::text) AS input,
            o.output,
                CASE
                    WHEN (o.type IS NULL) THEN 'pending'::text
                    WHEN (((o.data -> 'error'::text) IS NOT NULL) OR (o.type = ANY (ARRAY['expired'::text, 'cancelled'::text]))) THEN 'failed'::text
                    ELSE 'completed'::text
                END AS status
           FROM ((lists l
             CROSS JOIN LATERAL json_array_elements(
                CASE
                    WHEN (json_typeof(l.calls) = 'array'::text) THEN l.calls
                    ELSE NULL::json
                END) WITH ORDINALITY call(value, place))
             LEFT JOIN LATERAL ( SELECT x.session,
                    x.seq,
                    x.type,
                    x.data,
                    x.output,
                    x.prompt
                   FROM news x
                  WHERE ((x.session = l.session) AND (x.type = ANY (ARRAY['tool_finished'::text, 'submitted'::text, 'expired'::text, 'cancelled'::text])) AND ((x.data ->> 'callID'::text) = (call.value ->> 'callID'::text)))
                  ORDER BY x.seq DESC
                 LIMIT 1) o ON (true))
        UNION ALL
         SELECT t.session,
            t.message,
            t.seq,
            0,
            t.id,
            COALESCE(t.name, ('acp:'::text || t.kind), t.asked, 'acp:other'::text) AS "coalesce",
            COALESCE(t.input, t.asked_input, 'null'::text) AS "coalesce",
            t.output,
                CASE
                    WHEN (t.status = ANY (ARRAY['completed'::text, 'failed'::text])) THEN t.status
                    WHEN (t.prompt < p.newest) THEN 'failed'::text
                    ELSE 'pending'::text
                END AS "case"
           FROM (tools t
             JOIN prompts p ON ((p.session = t.session)))
          WHERE (t.message IS NOT NULL)
        ), messages AS (
         SELECT each.session,
            each.message,
            min(each.seq) AS seq,
            min(each.at) AS at,
            min(each.role) AS role
           FROM ( SELECT events.session,
                    events.seq,
                    events.at,
                        CASE
                            WHEN (events.type = ANY (ARRAY['agent_update'::text, 'agent_asked'::text])) THEN (events.data ->> 'messageID'::text)
                            ELSE ((('msg_'::text || events.session) || '_'::text) || events.seq)
                        END AS message,
                        CASE
                            WHEN (events.type = 'input_received'::text) THEN 'user'::text
                            ELSE 'assistant'::text
                        END AS role
                   FROM events
                  WHERE (events.type = ANY (ARRAY['input_received'::text, 'model_replied'::text, 'agent_update'::text, 'agent_asked'::text]))) each
          WHERE (each.message IS NOT NULL)
          GROUP BY each.session, each.message
        )
 SELECT m.message AS id,
    ('ses_'::text || m.session) AS session_id,
    m.role,
    json_build_object('text', ( SELECT COALESCE(string_agg(p.text, ''::text ORDER BY p.seq, p.place), ''::text) AS "coalesce"
           FROM parts p
          WHERE ((p.session = m.session) AND (p.message = m.message) AND (p.type = 'text'::text))), 'images', ( SELECT COALESCE(json_agg(json_build_object('url', p.url, 'alt', COALESCE(p.alt, p.name)) ORDER BY p.seq, p.place), '[]'::json) AS "coalesce"
           FROM parts p
          WHERE ((p.session = m.session) AND (p.message = m.message) AND (p.type = 'image'::text))), 'files', ( SELECT COALESCE(json_agg(json_build_object('path', COALESCE(p.name, p.url)) ORDER BY p.seq, p.place), '[]'::json) AS "coalesce"
           FROM parts p
          WHERE ((p.session = m.session) AND (p.message = m.message) AND (p.type = 'file'::text)))) AS content,
    ( SELECT json_agg(json_build_object('id', c.id, 'name', c.name, 'input', (c.input)::json, 'output', c.output, 'status', c.status) ORDER BY c.seq, c.place) AS json_agg
           FROM calls c
          WHERE ((c.session = m.session) AND (c.message = m.message))) AS tool_calls,
    m.at AS created_at
   FROM messages m
  ORDER BY m.session, m.seq;
CREATE VIEW recorded.agent_sessions AS
 SELECT ('ses_'::text || s.id) AS id,
    s.project AS project_id,
    s.agent AS agent_id,
    ( SELECT COALESCE(((e.value -> 2) ->> 'acpSessionID'::text), ((e.value -> 2) ->> 'acpSession'::text)) AS "coalesce"
           FROM (recorded.journal j
             CROSS JOIN LATERAL json_array_elements((j.data)::json) WITH ORDINALITY e(value, place))
          WHERE ((j.no = s.no) AND ((e.value ->> 0) = ANY (ARRAY['attached'::text, 'base_state'::text])))
          ORDER BY j.first DESC, e.place DESC
         LIMIT 1) AS acp_session_id,
    NULLIF(s.title, ''::text) AS title,
    s.status,
    ( SELECT ((((j.data)::json -> 0) -> 2) ->> 'cwd'::text)
           FROM recorded.journal j
          WHERE (j.no = s.no)
          ORDER BY j.first
         LIMIT 1) AS working_directory,
    (s.created / 1000) AS created_at,
    (s.updated / 1000) AS updated_at
   FROM recorded.sessions s
  WHERE (s.status <> 'deleted'::text);
CREATE TABLE recorded.aliases (
    project text NOT NULL COLLATE pg_catalog."C",
    alias text NOT NULL COLLATE pg_catalog."C",
    no bigint NOT NULL
);
CREATE TABLE recorded.artifacts (
    no bigint NOT NULL,
    seq bigint NOT NULL,
    sum bigint NOT NULL,
    data bytea NOT NULL
);
CREATE TABLE recorded.audit (
    n bigint NOT NULL,
    line text NOT NULL,
    hash bytea NOT NULL
);
CREATE SEQUENCE recorded.blocks
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE recorded.created (
    key bytea NOT NULL,
    no bigint NOT NULL
);
CREATE TABLE recorded.data_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    master text NOT NULL,
    mixed bigint NOT NULL,
    wrapped bytea NOT NULL
);
CREATE TABLE recorded.day_sums (
    day bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    epoch bigint NOT NULL,
    amount bigint NOT NULL
);
CREATE TABLE recorded.delivered (
    key bytea NOT NULL,
    digest bytea NOT NULL
);
CREATE TABLE recorded.devices (
    id text NOT NULL COLLATE pg_catalog."C",
    token text NOT NULL COLLATE pg_catalog."C",
    person text NOT NULL,
    role text NOT NULL,
    label text NOT NULL,
    endpoint text NOT NULL,
    p256dh text NOT NULL,
    auth text NOT NULL,
    created bigint NOT NULL
);
CREATE SEQUENCE recorded.epochs
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE recorded.feed (
    n bigint NOT NULL,
    no bigint NOT NULL,
    first bigint NOT NULL,
    erased boolean NOT NULL,
    project text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE recorded.kept (
    key bytea NOT NULL,
    digest bytea NOT NULL,
    id text NOT NULL,
    at bigint NOT NULL,
    source text NOT NULL,
    project text NOT NULL,
    ref text NOT NULL,
    body bytea NOT NULL
);
CREATE TABLE recorded.keys (
    no bigint NOT NULL,
    key bytea NOT NULL,
    seq bigint NOT NULL
);
CREATE TABLE recorded.meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value bigint NOT NULL
);
CREATE TABLE recorded.nodes (
    epoch bigint NOT NULL,
    name text NOT NULL,
    slot bigint NOT NULL,
    beat bigint DEFAULT 0 NOT NULL,
    version text DEFAULT ''::text NOT NULL,
    config bytea,
    url text DEFAULT ''::text NOT NULL,
    draining boolean DEFAULT false NOT NULL,
    started timestamp with time zone DEFAULT now() NOT NULL,
    format bigint DEFAULT 8 NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE recorded.pending (
    no bigint NOT NULL,
    call bigint NOT NULL,
    gen bigint NOT NULL,
    status bigint NOT NULL,
    project text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    created bigint NOT NULL,
    timeout bigint,
    paused bigint NOT NULL,
    settled bigint NOT NULL,
    ref text COLLATE pg_catalog."C"
);
CREATE VIEW recorded.pending_tool_calls AS
 SELECT COALESCE(((x.opened -> 2) ->> 'pendingID'::text), ((((('pnd_'::text || x.session) || '_'::text) || x.call) || '_'::text) || x.gen)) AS id,
    ('ses_'::text || x.session) AS session_id,
    ((('msg_'::text || x.session) || '_'::text) || asked.seq) AS message_id,
    ('call_'::text || x.call) AS call_id,
    x.tool,
    asked.input,
        CASE x.status
            WHEN 0 THEN 'waiting'::text
            WHEN 1 THEN 'completed'::text
            WHEN 2 THEN 'failed'::text
            WHEN 3 THEN 'expired'::text
            ELSE 'cancelled'::text
        END AS status,
    ((x.opened -> 2) ->> 'externalRef'::text) AS external_ref,
    x.timeout,
    x.created AS created_at,
    NULL::bigint AS started_at,
    ((((x.closed -> 0) ->> 1))::bigint +
        CASE
            WHEN (x.closed_at = 0) THEN (0)::bigint
            ELSE (((x.closed -> x.closed_at) ->> 1))::bigint
        END) AS completed_at,
    (((x.closed -> x.closed_at) -> 2) ->> 'result'::text) AS result,
    (((x.closed -> x.closed_at) -> 2) ->> 'error'::text) AS error
   FROM (( SELECT p.no,
            p.call,
            p.gen,
            p.status,
            p.project,
            p.tool,
            p.created,
            p.timeout,
            p.paused,
            p.settled,
            p.ref,
            s.id AS session,
            ((o.data)::json -> ((p.paused - o.first))::integer) AS opened,
            (c.data)::json AS closed,
            ((p.settled - c.first))::integer AS closed_at
           FROM (((recorded.pending p
             JOIN recorded.sessions s ON ((s.no = p.no)))
             LEFT JOIN LATERAL ( SELECT j.no,
                    j.first,
                    j.n,
                    j.sum,
                    j.data
                   FROM recorded.journal j
                  WHERE ((j.no = p.no) AND (j.first <= p.paused))
                  ORDER BY j.first DESC
                 LIMIT 1) o ON (true))
             LEFT JOIN LATERAL ( SELECT j.no,
                    j.first,
                    j.n,
                    j.sum,
                    j.data
                   FROM recorded.journal j
                  WHERE ((j.no = p.no) AND (j.first <= p.settled) AND (p.settled > 0))
                  ORDER BY j.first DESC
                 LIMIT 1) c ON (true))) x
     LEFT JOIN LATERAL ( SELECT ((j.first + e.place) - 1) AS seq,
            (call.value ->> 'input'::text) AS input
           FROM ((recorded.journal j
             CROSS JOIN LATERAL json_array_elements((j.data)::json) WITH ORDINALITY e(value, place))
             CROSS JOIN LATERAL json_array_elements(
                CASE
                    WHEN (((e.value ->> 0) = 'model_replied'::text) AND (json_typeof(((e.value -> 2) -> 'calls'::text)) = 'array'::text)) THEN ((e.value -> 2) -> 'calls'::text)
                    ELSE NULL::json
                END) call(value))
          WHERE ((j.no = x.no) AND (j.first <= x.paused) AND ((call.value ->> 'callID'::text) = ('call_'::text || x.call)))
          ORDER BY j.first DESC
         LIMIT 1) asked ON (true));
CREATE TABLE recorded.posts (
    no bigint NOT NULL,
    seq bigint NOT NULL,
    n bigint NOT NULL,
    state bigint NOT NULL,
    next_at bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL COLLATE pg_catalog."C",
    makes bigint,
    created bigint NOT NULL,
    attempts bigint NOT NULL,
    last_status bigint NOT NULL,
    last_error text NOT NULL,
    delivered bigint,
    sum bigint NOT NULL,
    data bytea NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
CREATE TABLE recorded.rules (
    id text NOT NULL COLLATE pg_catalog."C",
    no bigint,
    uses bigint NOT NULL,
    used bigint,
    sum bigint NOT NULL,
    data bytea NOT NULL
);
CREATE TABLE recorded.secrets (
    no bigint NOT NULL,
    call bigint NOT NULL,
    gen bigint NOT NULL,
    secret text NOT NULL
);
CREATE TABLE recorded.sent (
    no bigint NOT NULL,
    call bigint NOT NULL,
    gen bigint NOT NULL,
    target text NOT NULL COLLATE pg_catalog."C",
    ref text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL
);
CREATE TABLE recorded.settings (
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL
);
CREATE TABLE recorded.snapshots (
    no bigint NOT NULL,
    seq bigint NOT NULL,
    format bigint NOT NULL,
    sum bigint NOT NULL,
    state bytea NOT NULL
);
CREATE TABLE recorded.tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    projects text NOT NULL,
    agents text NOT NULL,
    secret bytea NOT NULL,
    created bigint NOT NULL,
    expires bigint
);
CREATE TABLE recorded.wakeups (
    no bigint NOT NULL,
    wake_at bigint,
    driver bigint
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
INSERT INTO recorded.aliases VALUES
	('default', 'receiver', 266);
INSERT INTO recorded.audit VALUES
	(1, '{"type":"session_ended","at":2111288449426,"sessionID":"ses_AAAAAQHkNYAxsgT5S813eA","seq":7,"by":{"type":"token","name":"first"}}', '\x5792fd7f29ac5cd7c6b29ef6b7f6e079dbebbe05cb420152c5a89dfbc63cdfb0'),
	(2, '{"type":"submitted","at":2111288449433,"sessionID":"ses_AAAAAQKCg8-TdCFPslFnrA","seq":10,"by":{"type":"token","name":"first"},"pendingID":"pnd_AAAAAQKCg8-TdCFPslFnrA_1_1_QPuyAu7Pl4boJunwn734Aw","kind":"result","status":"completed","digest":"sha256:4708352b42fd770bdc57816ee8b21868b508471ae84b5a7583ba87233479b588","via":"http"}', '\xcdbb040495bb98c51a503f425ad9b6e0559aaf39b6bd356aa91476f364873ff8'),
	(3, '{"type":"submitted","at":2111288449447,"sessionID":"ses_AAAAAQdjbynO9WFoQdam-w","seq":8,"by":{"type":"token","name":"first"},"pendingID":"pnd_AAAAAQdjbynO9WFoQdam-w_1_1_yXk68HN0uhS1_YZv-RYNew","kind":"result","status":"completed","digest":"sha256:ee8394a0c0d635c9bdf0026e72d8d42339cf2133f0f0bf0984a916d9ad103e56","via":"http"}', '\x2548987017b1ff8687b4efde2117d7b2777212bbf23b5c18ce2b5b88b74f7f90'),
	(4, '{"type":"cancelled","at":2111288449453,"sessionID":"ses_AAAAAQlLHMOC6CS0_DcfMw","seq":8,"by":{"type":"token","name":"first"},"pendingID":"pnd_AAAAAQlLHMOC6CS0_DcfMw_1_1_2KfDfUx896f_aufwue_L5g","kind":"cancel","status":"cancelled","digest":"sha256:07aaf76d028eb76549329ec74a321daf8659d38ff138fdcd61a4944c832c41fc","via":""}', '\x7ddcd20b66b24424a9609fb8cdc222759c76ff523e2f67a2ac79bc775aa7fa2d'),
	(5, '{"type":"token_created","at":2111288449471,"by":{"type":"token","name":"first"},"tokenID":"tok_ShbyaE3FEEeJLqzadtXDSw","kind":"token","name":"reader","role":"read"}', '\x2e5695ec44f865c8347c49569d3a5e81dac7c2b9e59360eb447e26877247ff4e');
INSERT INTO recorded.feed VALUES
	(256, 256, 1, false, 'default'),
	(512, 256, 5, false, 'default'),
	(768, 257, 1, false, 'default'),
	(1024, 257, 5, false, 'default'),
	(1280, 257, 7, false, 'default'),
	(1536, 258, 1, false, 'default'),
	(1792, 258, 5, false, 'default'),
	(2048, 258, 10, false, 'default'),
	(2304, 259, 1, false, 'other'),
	(2560, 259, 5, false, 'other'),
	(2816, 259, 6, false, 'other'),
	(3072, 260, 1, false, 'default'),
	(3328, 260, 5, false, 'default'),
	(3584, 260, 6, false, 'default'),
	(3840, 261, 1, false, 'default'),
	(4096, 261, 5, false, 'default'),
	(4352, 262, 1, false, 'default'),
	(4608, 262, 5, false, 'default'),
	(4864, 263, 1, false, 'default'),
	(5120, 263, 5, false, 'default'),
	(5376, 263, 8, false, 'default'),
	(5632, 263, 10, false, 'default'),
	(5888, 264, 1, false, 'default'),
	(6144, 264, 5, false, 'default'),
	(6400, 264, 7, false, 'default'),
	(6656, 264, 9, false, 'default'),
	(6912, 265, 1, false, 'default'),
	(7168, 265, 5, false, 'default'),
	(7424, 265, 8, false, 'default'),
	(7680, 266, 1, false, 'default'),
	(7936, 266, 5, false, 'default'),
	(8192, 267, 1, false, 'default'),
	(8448, 267, 5, false, 'default'),
	(8704, 267, 7, false, 'default'),
	(8960, 266, 7, false, 'default'),
	(9216, 266, 10, false, 'default'),
	(9472, 267, 8, false, 'default'),
	(9728, 267, 10, false, 'default'),
	(9984, 268, 1, false, 'default'),
	(10240, 268, 5, false, 'default'),
	(10496, 268, 7, false, 'default'),
	(10752, 268, 10, false, 'default'),
	(11008, 269, 1, false, 'default'),
	(11264, 269, 5, false, 'default'),
	(11520, 270, 1, false, 'default'),
	(11776, 270, 3, false, 'default'),
	(12032, 270, 6, false, 'default');
INSERT INTO recorded.journal VALUES
	(256, 1, 4, -8029955814212084308, '[["session_created",2111288449416,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"hello"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(256, 5, 2, -2684854238710204758, '[["model_replied",2111288449422,{"step":1,"attempt":1,"parts":[{"type":"text","text":"You said: hello"}],"usage":{"inputTokens":2,"outputTokens":4}},1],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":2,"outputTokens":4}},1,"idle"]]'),
	(257, 1, 4, -2539338325277561920, '[["session_created",2111288449424,{"projectID":"default","agentID":"demo","title":"what was ended","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"hello again"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(257, 5, 2, 3674306786289106721, '[["model_replied",2111288449425,{"step":1,"attempt":1,"parts":[{"type":"text","text":"You said: hello again"}],"usage":{"inputTokens":3,"outputTokens":6}},1],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":3,"outputTokens":6}},1,"idle"]]'),
	(257, 7, 1, -8749511359961526273, '[["session_ended",2111288449426,{"by":"token:first"},0]]'),
	(258, 1, 4, 308723472941429641, '[["session_created",2111288449429,{"projectID":"default","agentID":"demo","labels":{"team":"red"},"by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"deploy A and B"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(258, 5, 5, 3769734384720634246, '[["model_replied",2111288449429,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"deploy","input":{"target":"A"},"mayPause":["tool_result"]},{"callID":"call_2","modelID":"demo_1","tool":"deploy","input":{"target":"B"},"mayPause":["tool_result"]}],"usage":{"inputTokens":4,"outputTokens":10}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQKCg8-TdCFPslFnrA_1_1_QPuyAu7Pl4boJunwn734Aw","epoch":1},1],["call_paused",0,{"callID":"call_1","pendingID":"pnd_AAAAAQKCg8-TdCFPslFnrA_1_1_QPuyAu7Pl4boJunwn734Aw","reason":"tool_result","placeholder":{"status":"queued","target":"A"},"timeout":2111374849429},1],["tool_started",0,{"callID":"call_2","pendingID":"pnd_AAAAAQKCg8-TdCFPslFnrA_2_1_ujvTlA3u8bMbGegpVyCYPQ","epoch":1},1],["call_paused",0,{"callID":"call_2","pendingID":"pnd_AAAAAQKCg8-TdCFPslFnrA_2_1_ujvTlA3u8bMbGegpVyCYPQ","reason":"tool_result","placeholder":{"status":"queued","target":"B"},"timeout":2111374849429},1,"waiting_async"]]'),
	(258, 10, 1, 6466212317668166796, '[["submitted",2111288449433,{"callID":"call_1","pendingID":"pnd_AAAAAQKCg8-TdCFPslFnrA_1_1_QPuyAu7Pl4boJunwn734Aw","receipt":{"kind":"result","status":"completed","digest":"sha256:4708352b42fd770bdc57816ee8b21868b508471ae84b5a7583ba87233479b588","by":"token:first","via":"http"},"result":{"output":"A is live"}},1]]'),
	(259, 1, 4, 8175249369778863978, '[["session_created",2111288449434,{"projectID":"other","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"approve A"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(259, 5, 1, 4300307275503279512, '[["model_replied",2111288449435,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"dangerous","input":{"action":"A"},"gates":["approval"]}],"usage":{"inputTokens":3,"outputTokens":6}},1]]'),
	(259, 6, 1, 3982792948881084988, '[["gate_asked",2111288449435,{"callID":"call_1","pendingID":"pnd_AAAAAQNuxwUo9VwhmpVOgw_1_1_oJAeWahbGqqe08KTl0fzxA","gate":"approval","reason":"approval","message":"Allow dangerous {\"action\":\"A\"}?"},1,"waiting_async"]]'),
	(260, 1, 4, -1990625297861650928, '[["session_created",2111288449436,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"approve B"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(260, 5, 1, 26111452043876879, '[["model_replied",2111288449437,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"dangerous","input":{"action":"B"},"gates":["approval"]}],"usage":{"inputTokens":3,"outputTokens":6}},1]]'),
	(260, 6, 1, -6383109991720706713, '[["gate_asked",2111288449437,{"callID":"call_1","pendingID":"pnd_AAAAAQT_sOYS85YXvBRtjA_1_1_IyNhlrncZBX4q3ukmCMX5Q","gate":"approval","reason":"approval","message":"Allow dangerous {\"action\":\"B\"}?"},1,"waiting_async"]]'),
	(261, 1, 4, 4295521570490036428, '[["session_created",2111288449439,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"ask Which colour? | red | blue"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(261, 5, 3, -3341429725876422150, '[["model_replied",2111288449440,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"ask_human","input":{"question":"Which colour?","choices":[{"title":"red"},{"title":"blue"}]},"crash":"retry","mayPause":["user_input"]}],"usage":{"inputTokens":8,"outputTokens":21}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQVYrwqncJP19GXQNw_1_1_cU2pISO2TmPMnyqAcJcDyQ","epoch":1},1],["call_paused",0,{"callID":"call_1","pendingID":"pnd_AAAAAQVYrwqncJP19GXQNw_1_1_cU2pISO2TmPMnyqAcJcDyQ","reason":"user_input","message":"Which colour?","form":{"choices":[{"title":"red"},{"title":"blue"}]}},1,"waiting_async"]]'),
	(262, 1, 4, 8174760902834167053, '[["session_created",2111288449443,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"wait 30d"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(262, 5, 3, -713864024328524339, '[["model_replied",2111288449443,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"wait_for","input":{"for":"30d"},"crash":"retry","mayPause":["handoff"]}],"usage":{"inputTokens":2,"outputTokens":6}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQazvjK_xBqcAe43zA_1_1_3mYiJIPO9bbwEsyOhDx7Cg","epoch":1},1],["call_paused",0,{"callID":"call_1","pendingID":"pnd_AAAAAQazvjK_xBqcAe43zA_1_1_3mYiJIPO9bbwEsyOhDx7Cg","reason":"handoff","continuation":"tool_response","within":2592000000,"onDeadline":"done","timeout":2113880449443},1,"waiting_async"]]'),
	(263, 1, 4, -6063932754813984014, '[["session_created",2111288449444,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"deploy C"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(263, 5, 3, 7253499725449753813, '[["model_replied",2111288449445,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"deploy","input":{"target":"C"},"mayPause":["tool_result"]}],"usage":{"inputTokens":2,"outputTokens":5}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQdjbynO9WFoQdam-w_1_1_yXk68HN0uhS1_YZv-RYNew","epoch":1},1],["call_paused",0,{"callID":"call_1","pendingID":"pnd_AAAAAQdjbynO9WFoQdam-w_1_1_yXk68HN0uhS1_YZv-RYNew","reason":"tool_result","placeholder":{"status":"queued","target":"C"},"timeout":2111374849445},1,"waiting_async"]]'),
	(263, 8, 2, 1229620728774620098, '[["submitted",2111288449447,{"callID":"call_1","pendingID":"pnd_AAAAAQdjbynO9WFoQdam-w_1_1_yXk68HN0uhS1_YZv-RYNew","receipt":{"kind":"result","status":"completed","digest":"sha256:ee8394a0c0d635c9bdf0026e72d8d42339cf2133f0f0bf0984a916d9ad103e56","by":"token:first","via":"http"},"result":{"output":"a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; "}},1],["model_requested",0,{"step":2,"attempt":1,"viewSeq":8,"epoch":1},1,"busy"]]'),
	(263, 10, 2, -603082662938831145, '[["model_replied",2111288449448,{"step":2,"attempt":1,"parts":[{"type":"text","text":"deploy C: a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; a large result of the earlier release; "}],"usage":{"inputTokens":5856,"outputTokens":5853}},1],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":5858,"outputTokens":5858}},1,"idle"]]'),
	(264, 1, 4, -6425360723473926672, '[["session_created",2111288449449,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"fail"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(264, 5, 2, -2130920130852863676, '[["model_replied",2111288449450,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"fail","input":{},"crash":"retry"}],"usage":{"inputTokens":1,"outputTokens":2}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQjJQu84aYYPc5nQWw_1_1_t6q4-bCQc-N1CQunhHEaWw","epoch":1},1]]'),
	(264, 7, 2, -7100677500115848215, '[["tool_finished",2111288449450,{"callID":"call_1","error":"this tool always fails","reason":"failed"},1],["model_requested",0,{"step":2,"attempt":1,"viewSeq":7,"epoch":1},1]]'),
	(264, 9, 2, 6291761605097903294, '[["model_replied",2111288449451,{"step":2,"attempt":1,"parts":[{"type":"text","text":"fail failed: this tool always fails"}],"usage":{"inputTokens":7,"outputTokens":9}},1],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":8,"outputTokens":11}},1,"idle"]]'),
	(265, 1, 4, 5175094286922662034, '[["session_created",2111288449452,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"deploy D"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(265, 5, 3, -4009854311478214412, '[["model_replied",2111288449452,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"deploy","input":{"target":"D"},"mayPause":["tool_result"]}],"usage":{"inputTokens":2,"outputTokens":5}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQlLHMOC6CS0_DcfMw_1_1_2KfDfUx896f_aufwue_L5g","epoch":1},1],["call_paused",0,{"callID":"call_1","pendingID":"pnd_AAAAAQlLHMOC6CS0_DcfMw_1_1_2KfDfUx896f_aufwue_L5g","reason":"tool_result","placeholder":{"status":"queued","target":"D"},"timeout":2111374849452},1,"waiting_async"]]'),
	(265, 8, 2, 6444591994331960638, '[["cancelled",2111288449453,{"callID":"call_1","pendingID":"pnd_AAAAAQlLHMOC6CS0_DcfMw_1_1_2KfDfUx896f_aufwue_L5g","receipt":{"kind":"cancel","status":"cancelled","digest":"sha256:07aaf76d028eb76549329ec74a321daf8659d38ff138fdcd61a4944c832c41fc","by":"token:first"},"mayHaveRun":false,"why":"the turn was cancelled","reason":"a mistake"},1],["turn_ended",0,{"finishReason":"cancelled","usage":{"inputTokens":2,"outputTokens":5},"reason":"a mistake"},1,"idle"]]'),
	(266, 1, 4, -5463684768722442906, '[["session_created",2111288449455,{"projectID":"default","agentID":"demo","alias":"receiver","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"hello"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(266, 5, 2, -4529941605380293623, '[["model_replied",2111288449456,{"step":1,"attempt":1,"parts":[{"type":"text","text":"You said: hello"}],"usage":{"inputTokens":2,"outputTokens":4}},1],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":2,"outputTokens":4}},1,"idle"]]'),
	(267, 1, 4, 6012416826104681226, '[["session_created",2111288449457,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"tell receiver good morning"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(267, 5, 2, 7123173817009329492, '[["model_replied",2111288449458,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"broadcast","input":{"to":"receiver","message":"good morning"},"crash":"retry"}],"usage":{"inputTokens":7,"outputTokens":13}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQvQNzvk9dxV2aPkTg_1_1_PW2ATQBp5x2VR0bjR3L--g","epoch":1},1]]'),
	(267, 7, 1, 7626208709138962332, '[["mail_sent",2111288449459,{"mailID":"mail_AAAAAQvQNzvk9dxV2aPkTg_7","to":[{"sessionID":"ses_AAAAAQoTu29qz7D6-C_Gxg","alias":"receiver"}],"text":"good morning","by":"agent:demo","idem":"0feda9d18929ca2d1af3394b582aad32.59c50b090ac38911a82d940046ec77db"},1]]'),
	(266, 7, 3, 1841050483657391829, '[["mail_received",2111288449461,{"messageID":"msg_AAAAAQoTu29qz7D6-C_Gxg_7","number":1,"mailID":"mail_AAAAAQvQNzvk9dxV2aPkTg_7","projectID":"default","from":"ses_AAAAAQvQNzvk9dxV2aPkTg","toAlias":"receiver","text":"good morning","by":"agent:demo","sent":2111288449459},0],["turn_started",0,{"input":7,"cause":"mail","digest":"demo-1"},2],["model_requested",0,{"step":1,"attempt":1,"viewSeq":8,"epoch":1},2,"busy"]]'),
	(266, 10, 2, 346005397557016941, '[["model_replied",2111288449463,{"step":1,"attempt":1,"parts":[{"type":"text","text":"You said: good morning"}],"usage":{"inputTokens":25,"outputTokens":6}},2],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":25,"outputTokens":6}},2,"idle"]]'),
	(267, 8, 2, -8440988043634108003, '[["tool_finished",2111288449463,{"callID":"call_1","output":"delivered","metadata":{"mailID":"mail_AAAAAQvQNzvk9dxV2aPkTg_7"}},1],["model_requested",0,{"step":2,"attempt":1,"viewSeq":8,"epoch":1},1]]'),
	(267, 10, 2, -5461197278154648812, '[["model_replied",2111288449463,{"step":2,"attempt":1,"parts":[{"type":"text","text":"broadcast receiver: delivered"}],"usage":{"inputTokens":20,"outputTokens":8}},1],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":27,"outputTokens":21}},1,"idle"]]'),
	(268, 1, 4, -4968255092649061212, '[["session_created",2111288449464,{"projectID":"default","agentID":"demo","by":"token:first"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"background deploy E"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(268, 5, 2, 1280525498818860139, '[["model_replied",2111288449465,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"background_task","input":{"description":"deploy E","prompt":"deploy E","agent":"demo"},"crash":"retry","mayPause":["handoff"]}],"usage":{"inputTokens":5,"outputTokens":19}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQwcSh6dyYeZ_GZKyg_1_1_6b1z210_JkgpxJvxr6fYZA","epoch":1},1]]'),
	(268, 7, 3, -4191976297520717442, '[["task_started",2111288449465,{"taskID":"tsk_AAAAAQwcSh6dyYeZ_GZKyg_1","sessionID":"ses_AAAAAQ0kji9huRMaaYr7pw","agentID":"demo","description":"deploy E","parts":[{"type":"text","text":"deploy E"}],"notify":true,"by":"token:first"},1],["tool_finished",0,{"callID":"call_1","output":"tsk_AAAAAQwcSh6dyYeZ_GZKyg_1"},1],["model_requested",0,{"step":2,"attempt":1,"viewSeq":8,"epoch":1},1]]'),
	(268, 10, 2, 6077438318593805922, '[["model_replied",2111288449466,{"step":2,"attempt":1,"parts":[{"type":"text","text":"background_task deploy E: tsk_AAAAAQwcSh6dyYeZ_GZKyg_1"}],"usage":{"inputTokens":28,"outputTokens":14}},1],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":33,"outputTokens":33}},1,"idle"]]'),
	(269, 1, 4, -9043688254901966099, '[["session_created",2111288449466,{"projectID":"default","agentID":"demo","title":"deploy E","by":"token:first","parentID":"ses_AAAAAQwcSh6dyYeZ_GZKyg","taskID":"tsk_AAAAAQwcSh6dyYeZ_GZKyg_1"},0],["input_received",0,{"turn":1,"parts":[{"type":"text","text":"deploy E"}],"source":"task","by":"token:first","run":1},0],["turn_started",0,{"input":2,"cause":"task","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":1},1,"busy"]]'),
	(269, 5, 3, -4544675403293267075, '[["model_replied",2111288449468,{"step":1,"attempt":1,"calls":[{"callID":"call_1","modelID":"demo_0","tool":"deploy","input":{"target":"E"},"mayPause":["tool_result"]}],"usage":{"inputTokens":2,"outputTokens":5}},1],["tool_started",0,{"callID":"call_1","pendingID":"pnd_AAAAAQ0kji9huRMaaYr7pw_1_1_sS3MwSN4oD2ERYibnpDZkg","epoch":1},1],["call_paused",0,{"callID":"call_1","pendingID":"pnd_AAAAAQ0kji9huRMaaYr7pw_1_1_sS3MwSN4oD2ERYibnpDZkg","reason":"tool_result","placeholder":{"status":"queued","target":"E"},"timeout":2111374849468},1,"waiting_async"]]'),
	(270, 1, 2, -223285889797957026, '[["session_created",2111288449468,{"projectID":"default","agentID":"demo","by":"token:first"},0],["forked",0,{"from":"ses_AAAAAQCY-Wb0FhUZPVviaQ","seq":5,"messageCount":2,"messages":[{"id":"msg_AAAAAQCY-Wb0FhUZPVviaQ_2","sessionID":"ses_AAAAAQCY-Wb0FhUZPVviaQ","turnID":"trn_AAAAAQCY-Wb0FhUZPVviaQ_1","role":"user","source":{"type":"prompt","ref":null},"parts":[{"id":"prt_AAAAAQCY-Wb0FhUZPVviaQ_2_0","messageID":"msg_AAAAAQCY-Wb0FhUZPVviaQ_2","sessionID":"ses_AAAAAQCY-Wb0FhUZPVviaQ","type":"text","text":"hello","synthetic":false}],"error":null,"usage":null,"time":{"created":2111288449416,"completed":null}},{"id":"msg_AAAAAQCY-Wb0FhUZPVviaQ_5","sessionID":"ses_AAAAAQCY-Wb0FhUZPVviaQ","turnID":"trn_AAAAAQCY-Wb0FhUZPVviaQ_1","role":"assistant","source":{"type":"model","ref":"demo"},"parts":[{"id":"prt_AAAAAQCY-Wb0FhUZPVviaQ_5_0","messageID":"msg_AAAAAQCY-Wb0FhUZPVviaQ_5","sessionID":"ses_AAAAAQCY-Wb0FhUZPVviaQ","type":"text","text":"You said: hello","synthetic":false}],"error":null,"usage":{"inputTokens":2,"outputTokens":4,"cachedTokens":0,"reasoningTokens":0,"cacheWrittenTokens":0,"cost":null,"steps":1},"time":{"created":2111288449422,"completed":2111288449422}}]},0]]'),
	(270, 3, 3, -4251945692801508330, '[["input_received",2111288449469,{"turn":1,"parts":[{"type":"text","text":"hello from the fork"}],"source":"prompt","by":"token:first"},0],["turn_started",0,{"input":3,"cause":"prompt","digest":"demo-1"},1],["model_requested",0,{"step":1,"attempt":1,"viewSeq":4,"epoch":1},1,"busy"]]'),
	(270, 6, 2, -4003595531191125182, '[["model_replied",2111288449470,{"step":1,"attempt":1,"parts":[{"type":"text","text":"You said: hello from the fork"}],"usage":{"inputTokens":10,"outputTokens":8}},1],["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":10,"outputTokens":8}},1,"idle"]]');
INSERT INTO recorded.keys VALUES
	(267, '\x693066656461396431383932396361326431616633333934623538326161643332', 7),
	(266, '\x6f41414141415176514e7a766b396478563261506b54672e372e30', 7),
	(269, '\x6f4141414141517763536836647959655a5f475a4b79672e372e30', 1);
INSERT INTO recorded.meta VALUES
	('feed_floor', 0),
	('format', 11),
	('write_version', 11),
	('access', 2);
INSERT INTO recorded.pending VALUES
	(258, 2, 1, 0, 'default', 'deploy', 2111288449429, 2111374849429, 9, 0, NULL),
	(258, 1, 1, 1, 'default', 'deploy', 2111288449429, 2111374849429, 7, 10, NULL),
	(259, 1, 1, 0, 'other', 'dangerous', 2111288449435, NULL, 6, 0, NULL),
	(260, 1, 1, 0, 'default', 'dangerous', 2111288449437, NULL, 6, 0, NULL),
	(261, 1, 1, 0, 'default', 'ask_human', 2111288449440, NULL, 7, 0, NULL),
	(262, 1, 1, 0, 'default', 'wait_for', 2111288449443, 2113880449443, 7, 0, NULL),
	(263, 1, 1, 1, 'default', 'deploy', 2111288449445, 2111374849445, 7, 8, NULL),
	(265, 1, 1, 4, 'default', 'deploy', 2111288449452, 2111374849452, 7, 8, NULL),
	(269, 1, 1, 0, 'default', 'deploy', 2111288449468, 2111374849468, 7, 0, NULL);
INSERT INTO recorded.sessions VALUES
	(256, 'AAAAAQCY-Wb0FhUZPVviaQ', 'default', 'demo', '', 'hello', 'active', 2111288449416, 2111288449416, 0, 6, -2684854238710204758, NULL, NULL),
	(257, 'AAAAAQHkNYAxsgT5S813eA', 'default', 'demo', '', 'what was ended', 'completed', 2111288449424, 2111288449426, 0, 7, -8749511359961526273, NULL, NULL),
	(258, 'AAAAAQKCg8-TdCFPslFnrA', 'default', 'demo', '', 'deploy A and B', 'active', 2111288449429, 2111288449429, 0, 10, 6466212317668166796, NULL, NULL),
	(259, 'AAAAAQNuxwUo9VwhmpVOgw', 'other', 'demo', '', 'approve A', 'active', 2111288449434, 2111288449434, 0, 6, 3982792948881084988, NULL, NULL),
	(260, 'AAAAAQT_sOYS85YXvBRtjA', 'default', 'demo', '', 'approve B', 'active', 2111288449436, 2111288449436, 0, 6, -6383109991720706713, NULL, NULL),
	(261, 'AAAAAQVYrwqncJP19GXQNw', 'default', 'demo', '', 'ask Which colour? | red | blue', 'active', 2111288449439, 2111288449439, 0, 7, -3341429725876422150, NULL, NULL),
	(262, 'AAAAAQazvjK_xBqcAe43zA', 'default', 'demo', '', 'wait 30d', 'active', 2111288449443, 2111288449443, 0, 7, -713864024328524339, NULL, NULL),
	(263, 'AAAAAQdjbynO9WFoQdam-w', 'default', 'demo', '', 'deploy C', 'active', 2111288449444, 2111288449444, 0, 11, -603082662938831145, NULL, NULL),
	(264, 'AAAAAQjJQu84aYYPc5nQWw', 'default', 'demo', '', 'fail', 'active', 2111288449449, 2111288449449, 0, 10, 6291761605097903294, NULL, NULL),
	(265, 'AAAAAQlLHMOC6CS0_DcfMw', 'default', 'demo', '', 'deploy D', 'active', 2111288449452, 2111288449452, 0, 9, 6444591994331960638, NULL, NULL),
	(266, 'AAAAAQoTu29qz7D6-C_Gxg', 'default', 'demo', 'receiver', 'hello', 'active', 2111288449455, 2111288449455, 0, 11, 346005397557016941, NULL, NULL),
	(267, 'AAAAAQvQNzvk9dxV2aPkTg', 'default', 'demo', '', 'tell receiver good morning', 'active', 2111288449457, 2111288449457, 0, 11, -5461197278154648812, NULL, NULL),
	(268, 'AAAAAQwcSh6dyYeZ_GZKyg', 'default', 'demo', '', 'background deploy E', 'active', 2111288449464, 2111288449464, 0, 11, 6077438318593805922, NULL, NULL),
	(269, 'AAAAAQ0kji9huRMaaYr7pw', 'default', 'demo', '', 'deploy E', 'active', 2111288449466, 2111288449466, 0, 7, -4544675403293267075, NULL, NULL),
	(270, 'AAAAAQ41PeUYL05tobQzBA', 'default', 'demo', '', 'hello', 'active', 2111288449468, 2111288449468, 0, 7, -4003595531191125182, NULL, NULL);
INSERT INTO recorded.settings VALUES
	('identity', '\x373731333435333935343038303037333332302f352f3136333834'),
	('token', '\x646d5f2d4f68397a5847796469365163565261733670395766744e33615f4d4264564f464942742d4654784d4349'),
	('callback.key', '\x727234415a584267544a34324357332d61414f723664787851596a7269364947494d7476335f3433317751');
INSERT INTO recorded.tokens VALUES
	('tok_ShbyaE3FEEeJLqzadtXDSw', 'token', 'reader', 'read', '', '', '\x3644de4660f61b9f3b774bdd35de678d08434305aa281c970799519c651e8f5f', 2111288449471, NULL);
INSERT INTO recorded.wakeups VALUES
	(258, 2111374849429, NULL),
	(262, 2113880449443, NULL),
	(269, 2111374849468, NULL);
INSERT INTO recorded.writers VALUES
	(0, NULL, NULL, 12032, 5, '\x2e5695ec44f865c8347c49569d3a5e81dac7c2b9e59360eb447e26877247ff4e', 47, '{0}');
SELECT pg_catalog.setval('recorded.blocks', 1, true);
SELECT pg_catalog.setval('recorded.epochs', 1, true);
ALTER TABLE ONLY recorded.aliases
    ADD CONSTRAINT aliases_pkey PRIMARY KEY (project, alias);
ALTER TABLE ONLY recorded.artifacts
    ADD CONSTRAINT artifacts_pkey PRIMARY KEY (no, seq);
ALTER TABLE ONLY recorded.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (n);
ALTER TABLE ONLY recorded.created
    ADD CONSTRAINT created_pkey PRIMARY KEY (key);
ALTER TABLE ONLY recorded.data_keys
    ADD CONSTRAINT data_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY recorded.day_sums
    ADD CONSTRAINT day_sums_pkey PRIMARY KEY (day, name, epoch);
ALTER TABLE ONLY recorded.delivered
    ADD CONSTRAINT delivered_pkey PRIMARY KEY (key);
ALTER TABLE ONLY recorded.devices
    ADD CONSTRAINT devices_endpoint_key UNIQUE (endpoint);
ALTER TABLE ONLY recorded.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY recorded.feed
    ADD CONSTRAINT feed_pkey PRIMARY KEY (n);
ALTER TABLE ONLY recorded.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (no, first);
ALTER TABLE ONLY recorded.kept
    ADD CONSTRAINT kept_pkey PRIMARY KEY (key);
ALTER TABLE ONLY recorded.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (no, key);
ALTER TABLE ONLY recorded.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY recorded.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (epoch);
ALTER TABLE ONLY recorded.pending
    ADD CONSTRAINT pending_pkey PRIMARY KEY (no, call, gen);
ALTER TABLE ONLY recorded.posts
    ADD CONSTRAINT posts_pkey PRIMARY KEY (no, seq, n);
ALTER TABLE ONLY recorded.rules
    ADD CONSTRAINT rules_pkey PRIMARY KEY (id);
ALTER TABLE ONLY recorded.secrets
    ADD CONSTRAINT secrets_pkey PRIMARY KEY (no, call, gen);
ALTER TABLE ONLY recorded.sent
    ADD CONSTRAINT sent_pkey PRIMARY KEY (no, call, gen, target, ref);
ALTER TABLE ONLY recorded.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (no);
ALTER TABLE ONLY recorded.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (name);
ALTER TABLE ONLY recorded.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (no);
ALTER TABLE ONLY recorded.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY recorded.wakeups
    ADD CONSTRAINT wakeups_pkey PRIMARY KEY (no);
ALTER TABLE ONLY recorded.writers
    ADD CONSTRAINT writers_pkey PRIMARY KEY (slot);
CREATE INDEX devices_of_token ON recorded.devices USING btree (token);
CREATE INDEX kept_by_time ON recorded.kept USING btree (at);
CREATE INDEX pending_by_ref ON recorded.pending USING btree (project, ref, no, call, gen) WHERE (ref IS NOT NULL);
CREATE INDEX pending_open ON recorded.pending USING btree (project, no, call, gen) WHERE (status = 0);
CREATE INDEX posts_by_target ON recorded.posts USING btree (target, next_at, no, seq, n) WHERE ((state = 0) AND (kind <> 'session'::text));
CREATE INDEX posts_delivered ON recorded.posts USING btree (delivered) WHERE (state = 1);
CREATE INDEX posts_due ON recorded.posts USING btree (kind, next_at, no, seq, n) WHERE (state = 0);
CREATE INDEX posts_given_up ON recorded.posts USING btree (next_at) WHERE (state > 1);
CREATE INDEX posts_makes ON recorded.posts USING btree (makes) WHERE (makes IS NOT NULL);
CREATE INDEX rules_of_session ON recorded.rules USING btree (no) WHERE (no IS NOT NULL);
CREATE INDEX sessions_by_alias ON recorded.sessions USING btree (project, alias, no) WHERE ((alias <> ''::text) AND (status <> 'completed'::text) AND (status <> 'deleted'::text));
CREATE INDEX sessions_by_project ON recorded.sessions USING btree (project, no) WHERE (status <> 'deleted'::text);
CREATE INDEX sessions_by_status ON recorded.sessions USING btree (project, status) WHERE ((status <> 'active'::text) AND (status <> 'deleted'::text));
CREATE INDEX sessions_by_turn ON recorded.sessions USING btree (project, turn) WHERE (turn > 0);
CREATE INDEX sessions_completed ON recorded.sessions USING btree (updated, no) WHERE (status = 'completed'::text);
CREATE INDEX wakeups_by_time ON recorded.wakeups USING btree (wake_at, no) WHERE (driver IS NULL);
CREATE INDEX wakeups_driven ON recorded.wakeups USING btree (no) WHERE (driver IS NOT NULL);
CREATE TRIGGER access_changed AFTER INSERT OR DELETE ON recorded.devices FOR EACH ROW EXECUTE FUNCTION recorded.access_changed_2();
CREATE TRIGGER access_changed AFTER INSERT OR DELETE ON recorded.rules FOR EACH ROW EXECUTE FUNCTION recorded.access_changed_2();
CREATE TRIGGER access_changed AFTER INSERT OR DELETE OR UPDATE ON recorded.tokens FOR EACH ROW EXECUTE FUNCTION recorded.access_changed_2();
