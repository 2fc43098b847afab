// Lets exactly one of several processes take an incoming delivery.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// A delivery has one place: `delivered`, once a call has it, or `kept`. A transaction that puts it
// there inserts its key into `delivered` first. So it waits for other transactions that do the
// same, and then sees what they have written. Each transaction inserts its keys in their order, so
// that no two wait for each other.
char const* const deliveries_11 = R"sql(
-- Status 1: the delivery is known.
CREATE OR REPLACE FUNCTION keep_1(in_lock bigint, in_slot bigint, in_incarnation bytea,
  in_batch bigint, in_key bytea, in_digest bytea, in_id text, in_at bigint, in_source text,
  in_project text, in_ref text, in_body bytea) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE
  me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
  known bigint := 1;
BEGIN
  INSERT INTO delivered(key, digest) VALUES(in_key, in_digest) ON CONFLICT DO NOTHING;
  IF FOUND THEN
    INSERT INTO kept(key, digest, id, at, source, project, ref, body)
      VALUES(in_key, in_digest, in_id, in_at, in_source, in_project, in_ref, in_body)
      ON CONFLICT DO NOTHING;
    IF FOUND THEN known := 0; END IF;
    DELETE FROM delivered WHERE key = in_key;
  END IF;
  RETURN done_1(me, in_batch, known);
END $function$;

-- As append_5() before, except that an append with a delivery that is known fails as moved: no
-- session has the head that is put into it.
ALTER FUNCTION append_5(bigint, bigint, bytea, bigint, bigint, head_1[], pending_1[], key_1[],
  post_1[], taken_1[], secret_1[], delivered_1[], line_1[], artifact_1[], snapshot_1[], rule_1[],
  use_1[], base_1[], sum_1[], rewrite_1[]) RENAME TO append_all_11;
CREATE FUNCTION append_5(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  in_kept bigint, heads head_1[], in_pending pending_1[], in_keys key_1[], in_posts post_1[],
  in_taken taken_1[], in_secrets secret_1[], in_delivered delivered_1[], in_lines line_1[],
  in_artifacts artifact_1[], in_snapshots snapshot_1[], in_rules rule_1[], in_uses use_1[],
  in_bases base_1[], in_sums sum_1[], in_rewrites rewrite_1[])
  RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE
  v bigint[];
  added bytea[];  -- keys of deliveries that were not known
  late bigint[];  -- appends with one that was
BEGIN
  IF cardinality(in_delivered) > 0 THEN
    WITH first AS MATERIALIZED (SELECT DISTINCT ON (d.key) d.key, d.digest, d.i
        FROM unnest(in_delivered) d ORDER BY d.key, d.i),
      made AS (INSERT INTO delivered(key, digest) SELECT f.key, f.digest FROM first f ORDER BY f.key
        ON CONFLICT DO NOTHING RETURNING key)
    SELECT (SELECT array_agg(m.key) FROM made m),
        (SELECT array_agg(DISTINCT d.i) FROM unnest(in_delivered) d WHERE NOT EXISTS (
          SELECT FROM first f JOIN made m ON m.key = f.key WHERE f.key = d.key AND f.i = d.i))
      INTO added, late;
    FOR n IN 1 .. cardinality(heads) LOOP
      IF heads[n].i = ANY (late) THEN heads[n].after := -1; END IF;
    END LOOP;
  END IF;
  v := append_all_11(in_lock, in_slot, in_incarnation, in_batch, in_kept, heads, in_pending,
    in_keys, in_posts, in_taken, in_secrets, in_delivered, in_lines, in_artifacts, in_snapshots,
    in_rules, in_uses, in_bases, in_sums, in_rewrites);
  IF added IS NOT NULL THEN
    DELETE FROM delivered WHERE key = ANY (added)
      AND key NOT IN (SELECT d.key FROM unnest(in_delivered) d WHERE v[d.i] = 0);
  END IF;
  RETURN v;
END $function$;
)sql";

}  // namespace dormouse::store::postgres
