// Aliases that a redaction removes (port::Rewrite).
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// A row of `aliases` may now disappear, so claim_1() makes it again until it has locked it.
// append_5() removes the aliases that a redacted session does not have any more. A row that another
// session is about to take stays: from then on it is the other one's.
char const* const aliases_9 = R"sql(
CREATE OR REPLACE FUNCTION claim_1(heads head_1[], v bigint[]) RETURNS bigint[]
  LANGUAGE plpgsql AS $function$
DECLARE
  wanted bigint := (SELECT count(*) FROM unnest(heads) a WHERE a.claims = 1 AND v[a.i] <= 0);
  locked bigint;
BEGIN
  LOOP
    INSERT INTO aliases(project, alias, no) SELECT a.project, a.alias, a.no FROM unnest(heads) a
      WHERE a.claims = 1 AND v[a.i] <= 0 ORDER BY 1, 2 ON CONFLICT DO NOTHING;
    PERFORM FROM aliases x JOIN unnest(heads) a ON x.project = a.project AND x.alias = a.alias
      WHERE a.claims = 1 AND v[a.i] <= 0 ORDER BY x.project, x.alias FOR UPDATE OF x;
    GET DIAGNOSTICS locked = ROW_COUNT;
    EXIT WHEN locked >= wanted;
  END LOOP;
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
  DELETE FROM aliases d WHERE (d.project, d.alias) IN (
    SELECT x.project, x.alias FROM aliases x JOIN sessions s ON s.no = x.no
      WHERE x.no IN (SELECT a.no FROM unnest(in_rewrites) w JOIN unnest(heads) a ON a.i = w.i
        WHERE v[w.i] = 0 AND a.erase = 0) AND s.alias <> x.alias
      FOR UPDATE OF x SKIP LOCKED);
  RETURN v;
END $function$;
)sql";

}  // namespace dormouse::store::postgres
