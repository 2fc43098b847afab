#pragma once
// Gives the free pages of a database back to the file system.

#include <dormouse/error.h>

#include <cstdint>
#include <filesystem>

namespace dormouse::store::sqlite {

struct CompactReport {
    std::uint64_t before = 0;  // bytes of the database and its log
    std::uint64_t after = 0;
    bool rewritten = false;  // the whole file, and not its free pages only
};

// If the file can give pages back one by one (auto_vacuum), frees them in steps of a few
// milliseconds while another process uses the directory. Otherwise rewrites the file once, which
// makes that possible; no process may use the directory then. A crash leaves the old file or the
// new one. Blocks. Errors: not_found, newer_format, wrong_state (in use, and to be rewritten),
// store_full, store_unavailable.
[[nodiscard]] Result<CompactReport> compact(std::filesystem::path const& directory);

// Writes the whole file again, without what its free pages hold. REQUIRES: nobody uses the
// directory. Errors: as compact().
[[nodiscard]] Result<void> rewrite_file(std::filesystem::path const& directory);

}  // namespace dormouse::store::sqlite
