#pragma once
// Servers of two releases on one schema. The format of a schema is the number of its migrations. A
// migration only adds what older releases do not name, so a server of an older release continues
// beside newer ones and may start again. All write the format `write_version`, until no server of
// an older release is left and a person finishes the upgrade. From then on a release that does not
// know this format is refused at its start.

#include "port/shared_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dormouse::store::postgres {

struct Upgrade {
    port::StoreFormat stored;
    std::int64_t known = 0;            // the newest format that this release reads and writes
    std::vector<port::NodeRow> nodes;  // those that are registered, by epoch

    [[nodiscard]] bool waits() const { return stored.written < stored.newest; }
    // Registered, and cannot write the format `known`.
    [[nodiscard]] std::vector<port::NodeRow> older() const;
};

// Changes nothing. Errors: bad_value (the URL), not_found (no store), wrong_state, newer_format,
// store_unavailable. No error contains a password.
[[nodiscard]] Result<Upgrade> read_upgrade(std::string const& url);
// The newest format of this release is written from now on. Errors as in read_upgrade(); also
// wrong_state: a server of an older release is registered; the text names it.
[[nodiscard]] Result<Upgrade> finish_upgrade(std::string const& url);

}  // namespace dormouse::store::postgres
