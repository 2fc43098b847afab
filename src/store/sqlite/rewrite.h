#pragma once
// Changes the contents of a data directory in place, with their checksums.

#include "port/rewriter.h"

#include <cstdint>
#include <filesystem>

namespace dormouse::store::sqlite {

// Reads all contents in small transactions and stores what `rewriter` returns; returns how many
// pieces it changed. Replaced contents are overwritten in the file. After an error or a crash the
// pieces so far are changed, and the next call continues. REQUIRES: an open SqliteStore of this
// process has the directory, and nobody uses it. Errors as in SqliteStore::open(), internal also
// for a piece whose checksum is wrong: nothing is changed in its transaction.
[[nodiscard]] Result<std::uint64_t> rewrite(std::filesystem::path const& directory,
                                            port::Rewriter& rewriter);

}  // namespace dormouse::store::sqlite
