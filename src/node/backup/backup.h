#pragma once
// Makes a backup of a data directory, also while a server uses it: the database as it is at one
// moment, with the artifacts in it, and the keys beside it.

#include <dormouse/error.h>

#include "backup/target.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace dormouse::backup {

struct Report {
    Manifest manifest;
    std::uint64_t bytes = 0;      // of all files
    std::uint64_t chunks = 0;     // of all files
    std::uint64_t written = 0;    // chunks that were not stored before
    std::uint64_t bytes_new = 0;  // of these, as they are stored
};

struct Source {
    std::filesystem::path directory;
    std::string release;
    Time now = {};
};

// Blocks.
[[nodiscard]] Result<Report> make(Source const& source, Target& target, Sealing const& sealing,
                                  port::Entropy& entropy);
// Removes the chunks that the manifest does not name: those of former backups.
void prune(std::filesystem::path const& directory, Manifest const& manifest);

}  // namespace dormouse::backup
