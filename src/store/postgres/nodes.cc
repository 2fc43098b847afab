// The rows of several processes on one schema, beside those of sessions.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// `access` counts the changes of tokens, devices and rules: each process keeps those in memory, and
// listens. A rule's use is no change. `settings`: what all processes must agree on.
char const* const nodes_2 = R"sql(
INSERT INTO meta(name, value) VALUES('access', 1);
CREATE FUNCTION access_changed_2() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'access';
  PERFORM pg_notify(TG_TABLE_SCHEMA, '');
  RETURN NULL;
END $function$;
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE OR DELETE ON tokens
  FOR EACH ROW EXECUTE FUNCTION access_changed_2();
CREATE TRIGGER access_changed AFTER INSERT OR DELETE ON devices
  FOR EACH ROW EXECUTE FUNCTION access_changed_2();
CREATE TRIGGER access_changed AFTER INSERT OR DELETE ON rules
  FOR EACH ROW EXECUTE FUNCTION access_changed_2();

CREATE TABLE settings(name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);

-- Returns 0, and changes nothing, if the process has counted a heartbeat meanwhile.
CREATE FUNCTION remove_node_2(in_epoch bigint, in_beat bigint) RETURNS bigint
  LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM FROM nodes WHERE epoch = in_epoch AND beat = in_beat FOR UPDATE;
  IF NOT FOUND THEN RETURN 0; END IF;
  UPDATE writers SET epoch = NULL, incarnation = NULL WHERE epoch = in_epoch;
  DELETE FROM nodes WHERE epoch = in_epoch;
  RETURN 1;
END $function$;
)sql";

}  // namespace dormouse::store::postgres
