// The rows of deleted sessions have no text that anyone wrote, and such a session can come back.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// As erase_1() before, and the title and all aliases go. A row of `aliases` that another session is
// about to take stays: from then on it is the other one's. Servers of older releases call the new
// functions, too; deleted_rows_13 removes what the former ones left.
char const* const deleted_rows_12 = R"sql(
CREATE OR REPLACE FUNCTION erase_1(erased bigint[]) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  UPDATE sessions SET title = '', alias = '' WHERE no = ANY (erased);
  DELETE FROM aliases d WHERE (d.project, d.alias) IN (
    SELECT x.project, x.alias FROM aliases x WHERE x.no = ANY (erased) FOR UPDATE SKIP LOCKED);
  DELETE FROM journal WHERE no = ANY (erased);
  DELETE FROM artifacts WHERE no = ANY (erased);
  DELETE FROM pending WHERE no = ANY (erased);
  DELETE FROM keys WHERE no = ANY (erased);
  DELETE FROM snapshots WHERE no = ANY (erased);
  DELETE FROM secrets WHERE no = ANY (erased);
  DELETE FROM sent WHERE no = ANY (erased);
  DELETE FROM rules WHERE no = ANY (erased);
END $function$;

-- As append_5() for the first append of a session that is deleted, of which nothing is left but
-- the create key and the deletion in the feed. Returns no row if a message of it is undelivered.
-- DM05n: append_5() refused the append with the status n, and nothing has changed.
CREATE FUNCTION restore_12(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  in_kept bigint, heads head_1[], in_pending pending_1[], in_keys key_1[], in_posts post_1[],
  in_taken taken_1[], in_secrets secret_1[], in_delivered delivered_1[], in_lines line_1[],
  in_artifacts artifact_1[], in_snapshots snapshot_1[], in_rules rule_1[], in_uses use_1[],
  in_bases base_1[], in_sums sum_1[], in_rewrites rewrite_1[], in_no bigint, in_id text)
  RETURNS SETOF bigint[] LANGUAGE plpgsql AS $function$
DECLARE
  v bigint[];
  removed boolean;
BEGIN
  PERFORM FROM sessions WHERE no = in_no AND id = in_id AND status = 'deleted' AND head = 0
    FOR UPDATE;
  removed := FOUND;
  IF removed THEN
    IF EXISTS (SELECT FROM posts WHERE no = in_no AND state = 0 AND kind <> 'held') THEN
      RETURN;
    END IF;
    DELETE FROM sessions WHERE no = in_no;
    DELETE FROM posts WHERE no = in_no AND state <> 0;
    DELETE FROM feed WHERE no = in_no AND NOT erased;
  END IF;
  v := append_5(in_lock, in_slot, in_incarnation, in_batch, in_kept, heads, in_pending, in_keys,
    in_posts, in_taken, in_secrets, in_delivered, in_lines, in_artifacts, in_snapshots, in_rules,
    in_uses, in_bases, in_sums, in_rewrites);
  IF removed AND v[1] <> 0 THEN
    RAISE EXCEPTION 'a deleted session cannot come back' USING ERRCODE = 'DM05' || v[1];
  END IF;
  RETURN NEXT v;
END $function$;
)sql";

}  // namespace dormouse::store::postgres
