#pragma once
// One member of a gzip file (RFC 1952). Members one after the other are a gzip file again.

#include <dormouse/error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::backup {

[[nodiscard]] std::string gzip(std::string_view text);
// The text of one whole member that gzip() made. Errors: bad_value (damaged); too_large beyond
// `bytes_max`.
[[nodiscard]] Result<std::string> gunzip(std::string_view member, std::uint64_t bytes_max);

}  // namespace dormouse::backup
