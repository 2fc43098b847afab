// Deleted sessions of older releases lose what erase_1() of deleted_rows_12 removes.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// An append that began before deleted_rows_12 was committed may have called the former erase_1().
// Every append holds the row of its writer from its first statement to its end, so the lock waits
// for these appends; the exception gives it back at once. Others continue between two attempts.
// A deleted session with events is an import that is not whole.
char const* const deleted_rows_13 = R"sql(
SET LOCAL lock_timeout TO '1s';
DO $do$
BEGIN
  FOR attempt IN 1..20 LOOP
    BEGIN
      LOCK TABLE writers IN EXCLUSIVE MODE;
      RAISE EXCEPTION USING ERRCODE = 'DM005';
    EXCEPTION
      WHEN SQLSTATE 'DM005' THEN RETURN;
      WHEN lock_not_available THEN
        IF attempt = 20 THEN RAISE; END IF;
    END;
  END LOOP;
END $do$;

UPDATE sessions s SET title = '', alias = '' WHERE s.status = 'deleted'
  AND (s.title <> '' OR s.alias <> '') AND s.head = 0;
DELETE FROM aliases d WHERE (d.project, d.alias) IN (
  SELECT x.project, x.alias FROM aliases x JOIN sessions s ON s.no = x.no
    WHERE s.status = 'deleted' AND s.alias <> x.alias FOR UPDATE OF x SKIP LOCKED);
)sql";

// Appends that claim an alias wait for this scan, so it holds no other lock and does nothing else.
char const* const aliases_index_14 = "CREATE INDEX aliases_by_session ON aliases(no)";

}  // namespace dormouse::store::postgres
