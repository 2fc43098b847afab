#pragma once
// The index beside a file of an archive: which sessions it holds, and where. Pure.

#include <dormouse/error.h>
#include <dormouse/id.h>
#include <dormouse/time.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::archive {

inline constexpr int archive_format = 1;

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
};

[[nodiscard]] std::string write_index(Index const& index);
// Errors: bad_value (truncated, changed, or no index), newer_format.
[[nodiscard]] Result<Index> read_index(std::string_view text);

}  // namespace dormouse::archive
