// The use of agents and projects with a budget of a day.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// Each process adds to rows of its own, so that no call waits for the row of another process.
// append_3() is append_1(), and then the sums of the appends that were written.
char const* const day_sums_3 = R"sql(
CREATE TABLE day_sums(day bigint NOT NULL, name text COLLATE "C" NOT NULL, epoch bigint NOT NULL,
  amount bigint NOT NULL, PRIMARY KEY(day, name, epoch));
CREATE TYPE sum_1 AS (i bigint, day bigint, name text, epoch bigint, amount bigint);

CREATE FUNCTION append_3(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  in_kept bigint, heads head_1[], in_pending pending_1[], in_keys key_1[], in_posts post_1[],
  in_taken taken_1[], in_secrets secret_1[], in_delivered delivered_1[], in_lines line_1[],
  in_artifacts artifact_1[], in_snapshots snapshot_1[], in_rules rule_1[], in_uses use_1[],
  in_bases base_1[], in_sums sum_1[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
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
END $function$;
)sql";

}  // namespace dormouse::store::postgres
