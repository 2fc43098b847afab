#pragma once
// Files in messages of opencode. It keeps their bytes in the message itself, as a data: URL; what
// has another address is only named, and never read: it may be somebody's secret. Pure.

#include "json/json.h"

#include <optional>
#include <string>
#include <string_view>

namespace dormouse::opencode {

inline constexpr std::size_t file_bytes_max = std::size_t{5} << 20;  // a server takes no more
inline constexpr std::size_t message_files_bytes_max = file_bytes_max;
inline constexpr std::size_t session_files_bytes_max = std::size_t{64} << 20;  // as a fork may have
inline constexpr std::size_t session_files_max = 500;

struct DataUrl {
    std::string mime;
    std::string bytes;
};
// Base64 or percent-encoded (RFC 2397). nullopt: it is none, or broken.
[[nodiscard]] std::optional<DataUrl> read_data_url(std::string_view url);

// The files of one session, in their order.
class Files {
public:
    void next_message() { of_message_ = 0; }
    // A part of type file, as the server takes it: its bytes; or a text that says what it was, and
    // then `why` says why its bytes were left out if it had some.
    [[nodiscard]] std::string part_of(json::View file, std::string& why);

private:
    [[nodiscard]] std::string refusal(std::string_view url, std::optional<DataUrl> const& data);

    std::size_t of_message_ = 0, of_session_ = 0, count_ = 0;  // bytes, bytes, files
};

}  // namespace dormouse::opencode
