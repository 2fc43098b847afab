#pragma once
// Makes the index of a plain file again, from the file alone. Blocks; an error names the file.

#include "archive/writer.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace dormouse::archive {

inline constexpr std::uint64_t reindexed_bytes_max = std::uint64_t{4} << 30;  // of a file

// Data without an index that can be read: its newest version.
struct Unindexed {
    std::filesystem::path data;
    std::filesystem::path stem;
    std::uint64_t version = 0;
    bool sealed = false;
};
[[nodiscard]] Result<std::vector<Unindexed>> unindexed(std::filesystem::path const& directory);

// Parses the lines of an archive file; read_data() adds their place. Neither function is empty.
struct Describe {
    // Parses the first line.
    std::function<Result<Writer::Origin>(std::string const& line)> head;
    // Parses the lines of one session.
    std::function<Result<Entry>(std::string const& lines)> session;
};

struct Reindexed {
    Index index;
    std::vector<std::string> lost;  // damage, for people: these bytes are in no session
};
// Errors: bad_value: no session is left whole, or it is encrypted: the key was in the index.
[[nodiscard]] Result<Reindexed> read_data(Unindexed const& file, Describe const& describe);

}  // namespace dormouse::archive
