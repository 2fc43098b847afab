#pragma once
// Which server copies to a place: its object owner.json. So two servers that were given the same
// place are found, in an object store too, which has no locks. One thread at a time.

#include "backup/copy/depot.h"
#include "port/world.h"

#include <filesystem>
#include <string>

namespace dormouse::backup {

inline constexpr char const* owner_name = "owner.json";

class Owner {
public:
    // `directory`: that is copied. `target`: for people.
    Owner(std::filesystem::path directory, std::string target, port::Entropy& entropy);

    // Writes owner.json, in place of that of an earlier start with this data directory. Errors:
    // wrong_state: it is another directory's; bad_value: it cannot be read; those of depot and
    // file.
    [[nodiscard]] Result<void> take(Depot& depot, Time now);
    // To be called before something is written. Errors: wrong_state: another process has taken it,
    // with a copy of this data directory; those of the depot.
    [[nodiscard]] Result<void> check(Depot& depot) const;
    // The start of a server that this one is, and of the one that had the place before; empty:
    // none.
    [[nodiscard]] std::string const& start() const { return start_; }
    [[nodiscard]] std::string const& previous() const { return previous_; }

private:
    // The identity of the data directory: what is in its file copy.id, which is made if it is
    // missing. Backups and restored directories do not have it.
    [[nodiscard]] Result<std::string> load_or_create_identity();

    std::filesystem::path const directory_;
    std::string const target_;
    port::Entropy& entropy_;
    std::string const start_;  // random, of this process
    std::string previous_;
};

}  // namespace dormouse::backup
