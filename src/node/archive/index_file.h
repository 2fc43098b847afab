#pragma once
// The index beside a file of an archive: which sessions it holds, and where. Pure.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/time.h>

#include "archive/file_key.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::archive {

// 1: files that are plain and were never written again.
inline constexpr int archive_format = 2;

inline constexpr std::uint64_t index_bytes_max = std::uint64_t{1} << 30;  // of an index

// A session in the file.
struct Entry {
    SessionId id;
    std::string project;
    std::string agent;
    std::string title;
    Time created{};
    Time updated{};  // when it completed
    Seq head = 0;    // of its newest event
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::string digest = {};  // of these bytes: sha256:…
};

struct Index {
    std::string release;
    Time at{};
    std::uint64_t bytes = 0;  // of the whole file
    std::vector<Entry> sessions;
    std::uint64_t version = 0;           // how often the file was written again
    std::optional<WrappedKey> key = {};  // nullopt: the file is plain
    std::string titles = {};             // of an encrypted file: those of its sessions, sealed
};

// The titles of an encrypted file, bound to all that the index says of its sessions.
[[nodiscard]] std::string seal_titles(Index const& index, FileKey& key);
// Puts them into the sessions. Errors: bad_value (damaged, or the sessions were changed).
[[nodiscard]] Result<void> open_titles(Index& index, FileKey const& key);

[[nodiscard]] std::string write_index(Index const& index);
// Errors: bad_value (truncated, changed, or no index), newer_format.
[[nodiscard]] Result<Index> read_index(std::string_view text);

}  // namespace dormouse::archive
