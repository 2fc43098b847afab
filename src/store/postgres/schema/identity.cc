// Stores which database the schema is in, so that a copy of it is noticed: a copy must not repeat
// what the original has done or still does.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// A promoted standby keeps the identifiers of the cluster, the database and the schema. A schema
// that is restored from the output of pg_dump gets other ones, also in the same cluster. A role
// that may not read the identifier of the cluster notices copies in the same cluster only.
char const* const identity_4 = R"sql(
CREATE FUNCTION database_identity_4() RETURNS bytea LANGUAGE plpgsql STABLE AS $function$
DECLARE
  cluster text := '';
BEGIN
  IF has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') THEN
    SELECT system_identifier::text INTO cluster FROM pg_catalog.pg_control_system();
  END IF;
  RETURN convert_to(format('%s/%s/%s', cluster,
    (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()),
    (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = 'settings'::regclass)), 'UTF8');
END $function$;
INSERT INTO settings(name, value) VALUES('identity', database_identity_4());
)sql";

}  // namespace dormouse::store::postgres
