#pragma once
// Checks a continuous copy, and writes its state at a time into a new data directory, which then
// holds. All functions block.

#include "backup/copy/depot.h"
#include "backup/copy/piece.h"
#include "backup/restore.h"

#include <filesystem>
#include <optional>
#include <string>

namespace dormouse::backup {

// A state of the copy, all of whose pieces were read and compared.
struct CopyState {
    std::string generation;
    std::uint64_t pieces = 0;  // that make it
    Time time = {};
    std::string release;
    std::uint64_t feed = 0;
    std::uint64_t bytes = 0;  // of the database
};
// Returns true if the directory has a continuous copy, and not a backup.
[[nodiscard]] bool is_copy(std::filesystem::path const& directory);
// Reads the newest state that is not newer than `at`. Errors: not_found if there is none; internal
// for a piece that is missing or damaged; newer_format; bad_value for a wrong key; cancelled:
// `stopped`, which is called before each piece, returned true; those of the depot.
[[nodiscard]] Result<CopyState> check_copy(Depot& depot, Sealing const& sealing,
                                           std::optional<Time> at, Stopped const& stopped);
// After an error nothing is left. Errors: wrong_state unless `to` is empty or does not exist; those
// of check_copy().
[[nodiscard]] Result<void> restore_copy(Depot& depot, Sealing const& sealing,
                                        CopyState const& state, std::filesystem::path const& to,
                                        Time now, Stopped const& stopped);

}  // namespace dormouse::backup
