// Runs the transaction of a batch with fewer statements.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// append_1() and append_5() as before, without the statements that find nothing to do: each costs
// about as much as the rows of an append, so they weigh most in small batches. The statement that
// compares the appends of a call with their sessions also finds out what they ask for, such as an
// alias. aliases_9.cc replaces append_5().
char const* const append_function_8 = R"sql(
CREATE OR REPLACE FUNCTION append_1(in_lock bigint, in_slot bigint, in_incarnation bytea,
  in_batch bigint, in_kept bigint, heads head_1[], in_pending pending_1[], in_keys key_1[],
  in_posts post_1[], in_taken taken_1[], in_secrets secret_1[], in_delivered delivered_1[],
  in_lines line_1[], in_artifacts artifact_1[], in_snapshots snapshot_1[], in_rules rule_1[],
  in_uses use_1[], in_bases base_1[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE
  me writers;
  v bigint[];
  newest bigint;
  last bigint;
  erased bigint[];
  added bytea[];  -- create keys
  step bigint := greatest(1, in_kept / 100);
  b record;
  appended bigint;
  -- Whether any append of the call …
  claims boolean;
  keyed boolean;  -- … has a create key
  erases boolean;
  driver_only boolean;
  rebuilds boolean;
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
      ELSE 0 END ORDER BY a.i), bool_or(a.claims = 1), bool_or(a.create_key IS NOT NULL),
      bool_or(a.erase = 1), bool_or(a.count = 0), bool_or(a.rebuilt IS NOT NULL)
    INTO v, claims, keyed, erases, driver_only, rebuilds
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
  IF claims THEN
    v := claim_1(heads, v);
  END IF;
  IF keyed THEN
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
    IF keyed THEN
      DELETE FROM created c USING unnest(heads) a
        WHERE c.key = a.create_key AND c.key = ANY (added) AND v[a.i] = 1;
    END IF;
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
  GET DIAGNOSTICS appended = ROW_COUNT;
  me.n := greatest(me.n, (newest + appended) << 8 | in_slot);
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
  IF rebuilds THEN
  FOR b IN SELECT a.no, a.rebuilt FROM unnest(heads) a
      WHERE v[a.i] = 0 AND a.erase = 0 AND a.rebuilt IS NOT NULL LOOP
    DELETE FROM pending WHERE no = b.no AND paused > b.rebuilt;
    DELETE FROM keys WHERE no = b.no AND seq > b.rebuilt;
  END LOOP;
  END IF;
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
  IF erases THEN
    erased := ARRAY(SELECT a.no FROM unnest(heads) a WHERE v[a.i] = 0 AND a.erase = 1);
    PERFORM erase_1(erased);
  END IF;
  -- An append of the driver alone is answered with the stamp that stays.
  IF driver_only THEN
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
END $function$;

CREATE OR REPLACE FUNCTION append_5(in_lock bigint, in_slot bigint, in_incarnation bytea,
  in_batch bigint, in_kept bigint, heads head_1[], in_pending pending_1[], in_keys key_1[],
  in_posts post_1[], in_taken taken_1[], in_secrets secret_1[], in_delivered delivered_1[],
  in_lines line_1[], in_artifacts artifact_1[], in_snapshots snapshot_1[], in_rules rule_1[],
  in_uses use_1[], in_bases base_1[], in_sums sum_1[], in_rewrites rewrite_1[])
  RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE
  v bigint[] := append_3(in_lock, in_slot, in_incarnation, in_batch, in_kept, heads, in_pending,
    in_keys, in_posts, in_taken, in_secrets, in_delivered, in_lines, in_artifacts, in_snapshots,
    in_rules, in_uses, in_bases, in_sums);
  r record;
BEGIN
  IF cardinality(in_rewrites) = 0 THEN RETURN v; END IF;
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
END $function$;
)sql";

}  // namespace dormouse::store::postgres
