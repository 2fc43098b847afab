#pragma once
// The manifest of a backup: which files it holds, of which chunks. docs/format.md shows it. Pure.

#include <dormouse/error.h>
#include <dormouse/time.h>

#include "backup/sealing.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::backup {

// 2 has a digest of the names of a file's chunks in place of that of its content, which took as
// long as the names themselves.
inline constexpr std::int64_t format = 2;
inline constexpr std::size_t chunk_bytes = std::size_t{64} << 10;
inline constexpr std::uint64_t manifest_bytes_max = std::uint64_t{4} << 30;

struct FileEntry {
    std::string name;  // of one path segment
    std::uint64_t bytes = 0;
    std::optional<Sha256> digest = {};  // of the content; in format 1 only
    std::vector<Sha256> chunks = {};    // names, in order; each but the last has chunk_bytes
};

struct Manifest {
    std::string release;
    Time time = {};
    std::size_t store_format = 0;  // of dormouse.db
    std::uint64_t epoch = 0;
    std::uint64_t feed = 0;  // the newest position of the feed that it contains
    std::vector<FileEntry> files = {};
};

// Returns the text of a manifest. With a key, its content is encrypted; format, release, time and
// key id are not.
[[nodiscard]] std::string manifest_text(Manifest const& manifest, Sealing const& sealing,
                                        port::Entropy& entropy);
// Errors: newer_format; bad_value for a key that is missing, not needed, or another one; internal
// if the text is damaged.
[[nodiscard]] Result<Manifest> read_manifest(std::string_view text, Sealing const& sealing);

// "chunks/ab/ab…": where a chunk is, in a directory or an archive.
[[nodiscard]] std::string chunk_path(Sha256 const& name);

}  // namespace dormouse::backup
