#pragma once
// Changes of files of an archive that exist.

#include "archive/writer.h"
#include "cli/commands/cli.h"

#include <dormouse/error.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace dormouse::app {

struct Rekeyed {
    std::uint64_t keys = 0;                 // data keys that were encrypted with another master key
    std::uint64_t contents = 0;             // pieces that were not encrypted
    std::vector<std::string> servers = {};  // that still encrypt with another master key
};

// Writes the file again, as a file of this release, without these sessions.
[[nodiscard]] Result<archive::File> rewrite(archive::Writer& writer, archive::File const& file,
                                            archive::Writer::Change const& change,
                                            archive::Writer::OnDamage damaged,
                                            std::set<SessionId> const& without = {});

struct RebuiltIndexes {
    std::vector<std::string> made;  // their files, for people
    std::vector<std::string> lost;  // damage of the data, for people
};
// Makes indexes that are missing or damaged again from the data.
[[nodiscard]] Result<RebuiltIndexes> rebuild_indexes(std::filesystem::path const& directory);

// Encrypts the keys of the files with the first master key, and files that are plain.
[[nodiscard]] Result<Rekeyed> rekey_archive(cli::RekeyOptions const& options);

}  // namespace dormouse::app
