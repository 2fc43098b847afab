#pragma once
// Copies of sessions in an archive that were made before a redaction of the session.

#include "archive/writer.h"
#include "port/store.h"

#include <dormouse/error.h>
#include <dormouse/id.h>

#include <set>
#include <string>
#include <vector>

namespace dormouse::app {

struct OutdatedCopies {
    std::set<SessionId> removed = {};
    std::vector<std::string> kept = {};  // files that could not be changed, and why
};

// Removes them from the files. A session that is archived or was restored is in the store and in a
// file at once, until it is deleted; a redaction in the store does not know the file. If a removal
// failed and the session was archived again since, its newest copy says what was redacted. Blocks.
// `encryption`: of encrypted files, with the keys that `all` was opened with. The writer is left
// with the encryption of the newest file. Errors: those of the store.
[[nodiscard]] Result<OutdatedCopies> remove_outdated(port::Store& store, archive::Writer& writer,
                                                     archive::Archive const& all,
                                                     archive::Encryption encryption);

}  // namespace dormouse::app
