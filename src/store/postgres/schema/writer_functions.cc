// Functions shared by the calls of a writer, and its other changes.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// DM001: another process has taken the writer's row. DM002: the call, or a later one, was made
// before; it reached the server again, late.
char const* const writer_functions_1 = R"sql(
CREATE FUNCTION fence_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint)
  RETURNS writers LANGUAGE plpgsql AS $function$
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
END $function$;

-- Takes the aliases of appends that claim one. First the row of each alias is locked, then its
-- holder is looked for.
CREATE FUNCTION claim_1(heads head_1[], v bigint[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
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
END $function$;

-- Adds lines to the writer's chain. The caller stores its new end.
CREATE FUNCTION audit_1(me writers, lines text[]) RETURNS writers LANGUAGE plpgsql AS $function$
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
END $function$;

-- The row in `sessions` and the create key stay: the number is never used again, and a repeated
-- create finds the key.
CREATE FUNCTION erase_1(erased bigint[]) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  DELETE FROM journal WHERE no = ANY (erased);
  DELETE FROM artifacts WHERE no = ANY (erased);
  DELETE FROM pending WHERE no = ANY (erased);
  DELETE FROM keys WHERE no = ANY (erased);
  DELETE FROM snapshots WHERE no = ANY (erased);
  DELETE FROM secrets WHERE no = ANY (erased);
  DELETE FROM sent WHERE no = ANY (erased);
  DELETE FROM rules WHERE no = ANY (erased);
END $function$;

-- Ends a call that is no batch of appends.
CREATE FUNCTION done_1(me writers, in_batch bigint, status bigint) RETURNS bigint[]
  LANGUAGE plpgsql AS $function$
BEGIN
  UPDATE writers SET audit_n = me.audit_n, audit_hash = me.audit_hash, batch = in_batch,
    statuses = ARRAY[status] WHERE slot = me.slot;
  RETURN ARRAY[status];
END $function$;

CREATE FUNCTION messages_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  updates update_1[], in_sent sent_1[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
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
END $function$;

CREATE FUNCTION drop_delivered_1(in_lock bigint, in_slot bigint, in_incarnation bytea,
  in_batch bigint, until bigint) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  DELETE FROM posts WHERE state = 1 AND delivered < until;
  RETURN done_1(me, in_batch, 0);
END $function$;

CREATE FUNCTION drop_given_up_1(in_lock bigint, in_slot bigint, in_incarnation bytea,
  in_batch bigint, until bigint, most bigint) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  DELETE FROM posts p USING (SELECT no, seq, n FROM posts WHERE state > 1 AND next_at < until
      AND created < until AND kind <> 'session' AND kind <> 'held' LIMIT most FOR UPDATE) old
    WHERE p.no = old.no AND p.seq = old.seq AND p.n = old.n;
  RETURN done_1(me, in_batch, 0);
END $function$;

-- Status 1: the delivery is known.
CREATE FUNCTION keep_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  in_key bytea, in_digest bytea, in_id text, in_at bigint, in_source text, in_project text,
  in_ref text, in_body bytea) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  INSERT INTO kept(key, digest, id, at, source, project, ref, body)
    SELECT in_key, in_digest, in_id, in_at, in_source, in_project, in_ref, in_body
      WHERE NOT EXISTS (SELECT FROM delivered WHERE key = in_key)
    ON CONFLICT DO NOTHING;
  RETURN done_1(me, in_batch, CASE WHEN FOUND THEN 0 ELSE 1 END);
END $function$;

CREATE FUNCTION drop_kept_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  in_keys bytea[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  DELETE FROM kept WHERE key = ANY (in_keys);
  RETURN done_1(me, in_batch, 0);
END $function$;

-- put: NULL or the row. Status 1: the token to drop does not exist; nothing is changed.
CREATE FUNCTION change_tokens_1(in_lock bigint, in_slot bigint, in_incarnation bytea,
  in_batch bigint, dropped text, in_id text, in_kind text, in_name text, in_role text,
  in_projects text, in_agents text, in_secret bytea, in_created bigint, in_expires bigint,
  lines text[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
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
END $function$;

-- Status 1: the device to drop does not exist; 2: the token does not. Nothing is changed then. The
-- token's row is locked, so that it is not dropped meanwhile.
CREATE FUNCTION change_devices_1(in_lock bigint, in_slot bigint, in_incarnation bytea,
  in_batch bigint, dropped text, in_id text, in_token text, in_person text, in_role text,
  in_label text, in_endpoint text, in_p256dh text, in_auth text, in_created bigint,
  lines text[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
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
END $function$;

-- Status 1: the rule does not exist.
CREATE FUNCTION drop_rule_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  dropped text, lines text[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  DELETE FROM rules WHERE id = dropped;
  IF NOT FOUND THEN RETURN done_1(me, in_batch, 1); END IF;
  RETURN done_1(audit_1(me, lines), in_batch, 0);
END $function$;

-- Removes the lines of one chain up to `through`. The new line is added first: its hash continues
-- the chain of the newest line.
CREATE FUNCTION trim_audit_1(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  through bigint, lines text[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
BEGIN
  me := audit_1(me, lines);
  DELETE FROM audit WHERE n >= through >> 48 << 48 AND n <= through;
  RETURN done_1(me, in_batch, 0);
END $function$;

-- Takes a free writer's row, or makes one. Returns the epoch, the slot and the row's newest call.
CREATE FUNCTION register_1(in_lock bigint, in_incarnation bytea, in_name text, in_version text)
  RETURNS bigint[] LANGUAGE plpgsql AS $function$
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
END $function$;

CREATE FUNCTION leave_1(in_slot bigint, in_incarnation bytea) RETURNS void
  LANGUAGE plpgsql AS $function$
DECLARE mine bigint;
BEGIN
  SELECT epoch INTO mine FROM writers WHERE slot = in_slot AND incarnation = in_incarnation
    FOR UPDATE;
  UPDATE writers SET epoch = NULL, incarnation = NULL
    WHERE slot = in_slot AND incarnation = in_incarnation;
  DELETE FROM nodes WHERE epoch = mine;
END $function$;

-- The first of 256 session numbers that no process has used.
CREATE FUNCTION take_block_1(in_lock bigint) RETURNS bigint LANGUAGE plpgsql AS $function$
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
END $function$;
)sql";

}  // namespace dormouse::store::postgres
