#pragma once
// Names and types of files from outside.

#include <string_view>

namespace dormouse {

// A file name that is valid on every system: 1 to 255 bytes, without / and \\.
[[nodiscard]] bool is_file_name(std::string_view name);
// "text/csv", "text/csv; charset=utf-8" (RFC 9110, 8.3.1); at most 127 bytes.
[[nodiscard]] bool is_media_type(std::string_view text);
// The type without its parameters: "text/csv".
[[nodiscard]] std::string_view media_essence(std::string_view type);
// The type by the first bytes: image/png, image/jpeg, image/gif or image/webp; else empty.
[[nodiscard]] std::string_view image_type(std::string_view bytes);
// The type by the file name's extension; application/octet-stream if unknown.
[[nodiscard]] std::string_view media_type_of_file(std::string_view name);
// Text that a model can read directly: text/*, JSON, XML, YAML, scripts.
[[nodiscard]] bool is_textual(std::string_view type);

}  // namespace dormouse
