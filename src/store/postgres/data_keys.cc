// Keys of encrypted contents (port/data_keys.h).
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// mixed: 1 if there were contents that were not encrypted when the key was written.
char const* const data_keys_7 = R"sql(
CREATE TABLE data_keys(id text COLLATE "C" PRIMARY KEY, master text NOT NULL,
  mixed bigint NOT NULL, wrapped bytea NOT NULL);
)sql";

}  // namespace dormouse::store::postgres
