// The rows of deleted sessions have no text that anyone wrote.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// As erase_1() before, and the title and all aliases go. A row of `aliases` that another session is
// about to take stays: from then on it is the other one's. Of the deleted sessions that are stored,
// one with frames is an import that is not whole.
char const* const deleted_rows_12 = R"sql(
CREATE INDEX aliases_by_session ON aliases(no);

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

UPDATE sessions s SET title = '', alias = '' WHERE s.status = 'deleted'
  AND (s.title <> '' OR s.alias <> '') AND NOT EXISTS (SELECT FROM journal j WHERE j.no = s.no);
DELETE FROM aliases d WHERE (d.project, d.alias) IN (
  SELECT x.project, x.alias FROM aliases x JOIN sessions s ON s.no = x.no
    WHERE s.status = 'deleted' AND s.alias <> x.alias FOR UPDATE OF x SKIP LOCKED);
)sql";

}  // namespace dormouse::store::postgres
