#include "base/media.h"
#include "base/text/chars.h"
#include "base/text/cut.h"
#include "base/text/names.h"
#include "base/text/text.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace dormouse {

namespace {

constexpr std::size_t name_bytes_max = 255;
constexpr std::size_t type_bytes_max = 127;

bool is_pair(std::string_view text, char between) {
    std::size_t const at = text.find(between);
    return at != std::string_view::npos && is_http_token(text.substr(0, at)) &&
           is_http_token(text.substr(at + 1));
}

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array by_ending{
    Pair{"png", "image/png"},        Pair{"jpg", "image/jpeg"},
    Pair{"jpeg", "image/jpeg"},      Pair{"gif", "image/gif"},
    Pair{"webp", "image/webp"},      Pair{"svg", "image/svg+xml"},
    Pair{"pdf", "application/pdf"},  Pair{"json", "application/json"},
    Pair{"xml", "application/xml"},  Pair{"yaml", "application/yaml"},
    Pair{"yml", "application/yaml"}, Pair{"toml", "application/toml"},
    Pair{"txt", "text/plain"},       Pair{"log", "text/plain"},
    Pair{"md", "text/markdown"},     Pair{"csv", "text/csv"},
    Pair{"html", "text/html"},       Pair{"htm", "text/html"},
    Pair{"css", "text/css"},         Pair{"js", "text/javascript"},
    Pair{"mp3", "audio/mpeg"},       Pair{"wav", "audio/wav"},
    Pair{"mp4", "video/mp4"},        Pair{"zip", "application/zip"},
    Pair{"py", "text/x-python"},     Pair{"sh", "text/x-shellscript"},
    Pair{"c", "text/x-c"},           Pair{"h", "text/x-c"},
    Pair{"cc", "text/x-c++"},        Pair{"cpp", "text/x-c++"},
    Pair{"go", "text/x-go"},         Pair{"rs", "text/x-rust"},
    Pair{"ts", "text/x-typescript"}, Pair{"sql", "application/sql"},
    Pair{"diff", "text/x-diff"},     Pair{"patch", "text/x-diff"},
};

}  // namespace

bool is_file_name(std::string_view name) {
    bool const plain = std::ranges::none_of(name, [](char c) {
        auto const byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f || c == '/' || c == '\\';
    });
    return plain && !name.empty() && name.size() <= name_bytes_max && name != "." && name != "..";
}

bool is_media_type(std::string_view text) {
    bool const one_line = std::ranges::none_of(text, [](char c) {
        auto const byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
    if (text.size() > type_bytes_max || !one_line) return false;
    std::size_t end = std::min(text.find(';'), text.size());
    if (!is_pair(trimmed(text.substr(0, end)), '/')) return false;
    while (end < text.size()) {
        text.remove_prefix(end + 1);
        end = std::min(text.find(';'), text.size());
        if (!is_pair(trimmed(text.substr(0, end)), '=')) return false;
    }
    return true;
}

std::string_view media_essence(std::string_view type) {
    return trimmed(type.substr(0, type.find(';')));
}

std::string_view image_type(std::string_view bytes) {
    if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
    if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
    if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
    bool const riff = bytes.starts_with("RIFF") && bytes.size() >= 12;
    return riff && bytes.substr(8, 4) == "WEBP" ? "image/webp" : "";
}

std::string_view media_type_of_file(std::string_view name) {
    std::size_t const dot = name.rfind('.');
    std::string const ending =
        dot == std::string_view::npos ? "" : lower_case(name.substr(dot + 1));
    auto const found = std::ranges::find(by_ending, ending, &Pair::first);
    return found == by_ending.end() ? "application/octet-stream" : found->second;
}

bool is_textual(std::string_view type) {
    std::string const essence = lower_case(media_essence(type));
    if (essence.starts_with("text/")) return true;
    if (essence.ends_with("+json") || essence.ends_with("+xml")) return true;
    constexpr std::array<std::string_view, 8> others{
        "application/json",       "application/xml", "application/yaml", "application/toml",
        "application/javascript", "application/sql", "application/x-sh", "application/x-ndjson"};
    return std::ranges::find(others, essence) != others.end();
}

}  // namespace dormouse
