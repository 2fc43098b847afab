#pragma once
// Reads the archive that `dormouse backup -` writes (target.h). Blocks.

#include <dormouse/error.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

namespace dormouse::backup {

// Fills the span with the next bytes; fewer than it holds only at the end.
using ByteSource = std::function<Result<std::size_t>(std::span<char>)>;

// Writes what open_backup() reads into `to`, an empty directory. The archive may also come from
// `tar -c .` in a backup's directory: folders are passed over, and names may begin with "./".
// Errors: bad_value if it is no such archive, or a name in it is not one of a backup; internal if
// it is damaged or was cut off; those of the source; store_full, store_unavailable. What was
// written before an error stays.
[[nodiscard]] Result<void> unpack(ByteSource const& source, std::filesystem::path const& to);

}  // namespace dormouse::backup
