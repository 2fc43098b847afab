// Servers of two releases that share a schema: see upgrade.h.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// `write_version` of `meta`: the format that is written. `format` of a process: the newest one that
// it reads and writes. Releases without this step know nothing of either, and register as 8.
char const* const versions_6 = R"sql(
ALTER TABLE nodes ADD COLUMN format bigint NOT NULL DEFAULT 8;
INSERT INTO meta(name, value) VALUES('write_version', 8);

-- As register_1, for a process that writes formats up to in_format.
ALTER FUNCTION register_1(bigint, bytea, text, text) RENAME TO take_writer_6;
CREATE FUNCTION register_6(in_lock bigint, in_incarnation bytea, in_name text, in_version text,
  in_format bigint) RETURNS bigint[] LANGUAGE plpgsql AS $function$
DECLARE made bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock(in_lock::int, -2);
  IF (SELECT value FROM meta WHERE name = 'write_version') > in_format THEN
    RAISE EXCEPTION 'a newer format is written' USING ERRCODE = 'DM004';
  END IF;
  made := take_writer_6(in_lock, in_incarnation, in_name, in_version);
  UPDATE nodes SET format = in_format WHERE epoch = made[1];
  RETURN made;
END $function$;
CREATE FUNCTION register_1(in_lock bigint, in_incarnation bytea, in_name text, in_version text)
  RETURNS bigint[] LANGUAGE sql AS
  $function$ SELECT register_6(in_lock, in_incarnation, in_name, in_version, 8) $function$;

-- Writes format in_format from now on, unless a process that is registered cannot. The lock keeps
-- others from registering meanwhile.
CREATE FUNCTION finish_upgrade_6(in_lock bigint, in_format bigint) RETURNS void
  LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(in_lock::int, -2);
  IF EXISTS (SELECT FROM nodes WHERE format < in_format) THEN RETURN; END IF;
  UPDATE meta SET value = in_format WHERE name = 'write_version' AND value < in_format;
END $function$;
)sql";

}  // namespace dormouse::store::postgres
