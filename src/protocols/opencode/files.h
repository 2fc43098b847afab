#pragma once
// Files in opencode's messages. opencode keeps their bytes in the message as a data: URL. A file
// with another URL is only named and never read, because it may hold somebody's secret. Pure.

#include "json/json.h"

#include <optional>
#include <string>
#include <string_view>

namespace dormouse::opencode {

inline constexpr std::size_t file_bytes_max = std::size_t{5} << 20;  // the server accepts no more
inline constexpr std::size_t message_files_bytes_max = file_bytes_max;
inline constexpr std::size_t session_files_bytes_max = std::size_t{64}
                                                       << 20;  // the limit of a fork
inline constexpr std::size_t session_files_max = 500;

struct DataUrl {
    std::string mime;
    std::string bytes;
};
// Decodes base64 or percent-encoding (RFC 2397). nullopt: not a data: URL, or invalid.
[[nodiscard]] std::optional<DataUrl> read_data_url(std::string_view url);

// The files of one session, in order.
class Files {
public:
    void next_message() { of_message_ = 0; }
    // Returns a part of type file in the server's form with its bytes, or else a text that names
    // the file. If bytes were left out, `why` is the reason.
    [[nodiscard]] std::string part_of(json::View file, std::string& why);

private:
    [[nodiscard]] std::string refusal(std::string_view url, std::optional<DataUrl> const& data);

    std::size_t of_message_ = 0, of_session_ = 0, count_ = 0;  // bytes, bytes, files
};

}  // namespace dormouse::opencode
