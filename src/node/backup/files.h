#pragma once
// Small whole files of a backup, and what makes them durable. All functions block; an error names
// the file and what the system said: store_full or store_unavailable.

#include <dormouse/error.h>

#include "io/fd.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace dormouse::backup {

[[nodiscard]] std::unexpected<Error> refused(std::filesystem::path const& path, int error);

// Creates a file that only its owner may read. `exclusive`: fails if it exists (conflict).
[[nodiscard]] Result<io::Fd> create_file(std::filesystem::path const& path, bool exclusive);
[[nodiscard]] Result<void> write_all(int fd, std::string_view bytes,
                                     std::filesystem::path const& path);
[[nodiscard]] Result<void> sync_file(int fd, std::filesystem::path const& path);
// Writes a whole file. It is durable after sync_file() or sync_tree().
[[nodiscard]] Result<io::Fd> write_file(std::filesystem::path const& path, std::string_view bytes);
// Replaces `path` by a whole file, durably; a crash leaves the former one.
[[nodiscard]] Result<void> replace_file(std::filesystem::path const& path, std::string_view bytes);
// Reads a whole file. Errors: not_found; too_large beyond `bytes_max`.
[[nodiscard]] Result<std::string> read_file(std::filesystem::path const& path,
                                            std::uint64_t bytes_max);
// Everything that was written to the file system of `directory` is durable.
[[nodiscard]] Result<void> sync_tree(std::filesystem::path const& directory);
[[nodiscard]] Result<void> sync_directory(std::filesystem::path const& directory);
// Makes a directory for its owner alone, unless it exists. Returns whether it was made.
[[nodiscard]] Result<bool> make_directory(std::filesystem::path const& path);

}  // namespace dormouse::backup
