// Stores which process has which master keys of encrypted contents.
#include "store/postgres/schema/schema.h"

namespace dormouse::store::postgres {

// masters: their ids with spaces between them; the first one encrypts new data keys. Empty: the
// process does not encrypt, or is of a release without this step.
char const* const node_keys_10 = R"sql(
ALTER TABLE nodes ADD COLUMN masters text NOT NULL DEFAULT '';
)sql";

}  // namespace dormouse::store::postgres
