#pragma once
// Names and types of files that come from outside.

#include <string_view>

namespace dormouse {

// A file's name, as every system takes it: 1 to 255 bytes, without / and \\.
[[nodiscard]] bool is_file_name(std::string_view name);
// "text/csv", "text/csv; charset=utf-8" (RFC 9110, 8.3.1); at most 127 bytes.
[[nodiscard]] bool is_media_type(std::string_view text);
// Without its parameters: "text/csv".
[[nodiscard]] std::string_view media_essence(std::string_view type);
// What the bytes say that they are: image/png, image/jpeg, image/gif or image/webp; else empty.
[[nodiscard]] std::string_view image_type(std::string_view bytes);
// By the end of a file's name; application/octet-stream when that says nothing.
[[nodiscard]] std::string_view media_type_of_file(std::string_view name);
// Of a text that a model can read as it stands: text/*, JSON, XML, YAML, scripts.
[[nodiscard]] bool is_textual(std::string_view type);

}  // namespace dormouse
