#pragma once
// Writes a file that does not exist yet.

#include <string>
#include <string_view>
#include <system_error>

#include <sys/types.h>

namespace dormouse::cli {

// Returns the error of the first call that failed (EEXIST: the file is there and stays as it is);
// then nothing is left of the file. The folder of the file must exist.
[[nodiscard]] std::error_code write_new_file(std::string const& path, std::string_view text,
                                             mode_t mode);
// Returns true if there is no space for it now: a command then ends with status::refused.
[[nodiscard]] bool is_disk_full(std::error_code error);

}  // namespace dormouse::cli
