#pragma once
// Names of the files of an archive: STEM.jsonl.gz, or STEM.V.jsonl.gz after V times that it was
// written again, and STEM.index.json; encrypted files end with .sealed.

#include <dormouse/error.h>

#include "archive/index_file.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::archive {

inline constexpr std::string_view new_end = ".new";  // being written

// The names in the directory, in order. Errors: not_found.
[[nodiscard]] Result<std::vector<std::string>> names_in(std::filesystem::path const& directory);

// nullopt: the name is not that of an index.
[[nodiscard]] std::optional<std::string> stem_of_index(std::string_view name);
// The same of an index that is being written.
[[nodiscard]] std::optional<std::string> stem_of_new_index(std::string_view name);
[[nodiscard]] std::filesystem::path index_path(std::filesystem::path const& stem);
[[nodiscard]] std::filesystem::path data_path(std::filesystem::path const& stem,
                                              Index const& index);
// Returns true if `name` is that of data, of any stem.
[[nodiscard]] bool is_data(std::string_view name);
// Returns true if `name` is that of data of the stem, of any version.
[[nodiscard]] bool is_data_of(std::string_view stem, std::string_view name);

// The first stem of the project and month that no file has.
[[nodiscard]] std::filesystem::path free_stem(std::filesystem::path const& directory,
                                              std::string const& project, Time month);

}  // namespace dormouse::archive
