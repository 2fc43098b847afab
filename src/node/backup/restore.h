#pragma once
// Checks a backup in a directory, and writes it into a new data directory, which then holds
// (store/sqlite/hold.h). All functions block.

#include <dormouse/error.h>

#include "backup/manifest.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace dormouse::backup {

// Errors: not_found if there is no manifest (the backup is cut off, or is none), and those of
// read_manifest(); newer_format also if this release cannot read the database.
[[nodiscard]] Result<Manifest> open_backup(std::filesystem::path const& directory,
                                           Sealing const& sealing);
// Called before each chunk; true ends the work with the error `cancelled`. Empty: nothing does.
using Stopped = std::function<bool()>;
// Reads everything. Returns what is missing or damaged: one sentence each, at most 20.
[[nodiscard]] Result<std::vector<std::string>> check(std::filesystem::path const& directory,
                                                     Manifest const& manifest,
                                                     Sealing const& sealing,
                                                     Stopped const& stopped = {});
// Writes the files of a backup that was checked. Errors: wrong_state unless `to` is empty or does
// not exist; then and after any other error nothing is changed.
[[nodiscard]] Result<void> restore(std::filesystem::path const& directory, Manifest const& manifest,
                                   Sealing const& sealing, std::filesystem::path const& to,
                                   Time now, Stopped const& stopped = {});

}  // namespace dormouse::backup
