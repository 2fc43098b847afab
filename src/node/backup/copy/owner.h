#pragma once
// Records in the object owner.json which server copies to a place. This detects two servers that
// were given the same place, also in an object store, which has no locks. One thread at a time.

#include "backup/copy/depot.h"
#include "port/world.h"

#include <filesystem>
#include <string>

namespace dormouse::backup {

inline constexpr char const* owner_name = "owner.json";

class Owner {
public:
    // `directory`: the one that is copied. `target`: names the place in messages.
    Owner(std::filesystem::path directory, std::string target, port::Entropy& entropy);

    // Writes owner.json, in place of that of an earlier start with this data directory. Errors:
    // wrong_state: it is another directory's; bad_value: it cannot be read; those of depot and
    // file.
    [[nodiscard]] Result<void> take(Depot& depot, Time now);
    // Must be called before something is written. Errors: wrong_state: another process has taken
    // it, with a copy of this data directory; those of the depot.
    [[nodiscard]] Result<void> check(Depot& depot) const;
    // Returns the id of this start of the server, and that of the start that had the place before;
    // empty: none.
    [[nodiscard]] std::string const& start() const { return start_; }
    [[nodiscard]] std::string const& previous() const { return previous_; }

private:
    // Returns the identity of the data directory: the content of its file copy.id, which is created
    // if it is missing. Backups and restored directories do not have it.
    [[nodiscard]] Result<std::string> load_or_create_identity();

    std::filesystem::path const directory_;
    std::string const target_;
    port::Entropy& entropy_;
    std::string const start_;  // random, of this process
    std::string previous_;
};

}  // namespace dormouse::backup
