// Removing content that was stored (port::Rewrite).
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// append_5() is append_3(), and then the rewrites of the appends that were written. Rows keep what
// they held until VACUUM. append_function_8.cc replaces it, then aliases_9.cc.
char const* const rewrites_5 = R"sql(
-- what: 0 the frame that begins with seq and holds n events, 1 the artifact of seq, 2 the message n
-- of seq, 3 the chat messages about call n.
CREATE TYPE rewrite_1 AS (i bigint, what bigint, seq bigint, n bigint, sum bigint, data text);

CREATE FUNCTION append_5(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  in_kept bigint, heads head_1[], in_pending pending_1[], in_keys key_1[], in_posts post_1[],
  in_taken taken_1[], in_secrets secret_1[], in_delivered delivered_1[], in_lines line_1[],
  in_artifacts artifact_1[], in_snapshots snapshot_1[], in_rules rule_1[], in_uses use_1[],
  in_bases base_1[], in_sums sum_1[], in_rewrites rewrite_1[])
  RETURNS bigint[] LANGUAGE plpgsql AS $function$
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
END $function$;
)sql";

}  // namespace dormouse::store::postgres
