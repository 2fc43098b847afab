// The outcome of an attempt to deliver a message counts only for the message that it was made for.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// As messages_1(), except that a row with old_attempts and old_next_at changes only a message that
// is pending with both: another process may have claimed it since, or a person has changed it.
char const* const outcomes_15 = R"sql(
CREATE TYPE outcome_1 AS (what bigint, no bigint, seq bigint, n bigint, state bigint,
  next_at bigint, attempts bigint, last_status bigint, last_error text, delivered bigint,
  old_attempts bigint, old_next_at bigint);

CREATE FUNCTION messages_15(in_lock bigint, in_slot bigint, in_incarnation bytea, in_batch bigint,
  updates outcome_1[], in_sent sent_1[]) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE
  me writers := fence_1(in_lock, in_slot, in_incarnation, in_batch);
  u record;
BEGIN
  FOR u IN SELECT * FROM unnest(updates) x ORDER BY x.no, x.seq, x.n LOOP
    IF u.what = 1 THEN
      DELETE FROM posts WHERE no = u.no AND seq = u.seq AND n = u.n AND (u.old_attempts IS NULL
        OR (state = 0 AND attempts = u.old_attempts AND next_at = u.old_next_at));
    ELSE
      UPDATE posts SET state = u.state, next_at = u.next_at, attempts = u.attempts,
          last_status = u.last_status, last_error = u.last_error, delivered = u.delivered
        WHERE no = u.no AND seq = u.seq AND n = u.n AND (u.old_attempts IS NULL
          OR (state = 0 AND attempts = u.old_attempts AND next_at = u.old_next_at));
    END IF;
  END LOOP;
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
)sql";

// Kept deliveries are read in pages. Deliveries that come meanwhile wait for this scan.
char const* const kept_index_16 = "CREATE INDEX kept_in_order ON kept(at, key)";

}  // namespace dormouse::store::postgres
