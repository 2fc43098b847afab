// Which database the schema is in, to notice that it is a copy: it must not repeat what the
// original has done, or still does.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// A standby that is promoted keeps the identifier of the cluster, and the identifiers of database
// and schema. What pg_dump wrote gets others when it is restored, also in the same cluster. A role
// that may not read the first one notices copies in the same cluster only.
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
