#include "opencode/files.h"

#include "base/media.h"
#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>

namespace dormouse::opencode {

namespace {

constexpr std::size_t address_bytes_max = 2'048;

// Returns the file's name without folders, which belong to another machine.
std::string name_of(json::View file) {
    std::string name = file["filename"].string_or("");
    name = name.substr(name.find_last_of("/\\") + 1);
    return is_file_name(name) ? name : "";
}

std::string mime_of(json::View file, DataUrl const& data) {
    for (std::string const& mime : {file["mime"].string_or(""), data.mime}) {
        if (is_media_type(mime)) return mime;
    }
    return "application/octet-stream";
}

// Returns a text in place of the file: its name or type, and its URL.
std::string described(json::View file, std::string_view url) {
    std::string text = "[" + file["filename"].string_or(file["mime"].string_or("a file"));
    if (!url.starts_with("data:") && !url.empty())
        text.append(": ").append(url.substr(0, address_bytes_max));
    json::Writer out;
    out.begin_object().member("type", "text").member("text", text + "]");
    return out.end_object().take();
}

std::string with_bytes(json::View file, DataUrl const& data) {
    std::string const mime = mime_of(file, data);
    std::string const name = name_of(file);
    bool const image = !mime.empty() && image_type(data.bytes) == mime;
    json::Writer out;
    out.begin_object().member("type", image ? "image" : "file").member("mime", mime);
    if (!name.empty()) out.member("name", name);
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(data.bytes.data());
    out.member("data", base64({bytes, data.bytes.size()}));
    return out.end_object().take();
}

}  // namespace

std::optional<DataUrl> read_data_url(std::string_view url) {
    if (!url.starts_with("data:")) return std::nullopt;
    url.remove_prefix(5);
    auto const comma = url.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    std::string_view head = url.substr(0, comma);
    std::string_view const rest = url.substr(comma + 1);
    bool const coded = head.ends_with(";base64");
    if (coded) head.remove_suffix(7);
    auto bytes = coded ? parse_base64(rest) : percent_decode(rest);
    if (!bytes) return std::nullopt;
    return DataUrl{std::string(head), *std::move(bytes)};
}

std::string Files::refusal(std::string_view url, std::optional<DataUrl> const& data) {
    if (!data) return url.size() > file_bytes_max * 2 ? "larger than 5 MiB" : "not a data: URL";
    if (data->bytes.empty()) return "empty";
    std::size_t const size = data->bytes.size();
    if (size > file_bytes_max) return "larger than 5 MiB";
    if (of_message_ + size > message_files_bytes_max)
        return "the files of its message are larger than 5 MiB";
    if (of_session_ + size > session_files_bytes_max)
        return "the files of its session are larger than 64 MiB";
    if (count_ >= session_files_max) return "its session has more than 500 files";
    return "";
}

std::string Files::part_of(json::View file, std::string& why) {
    std::string const url = file["url"].string_or("");
    why.clear();
    if (!url.starts_with("data:")) return described(file, url);
    auto const data =
        url.size() > file_bytes_max * 2 ? std::nullopt : read_data_url(std::string_view(url));
    why = refusal(url, data);
    if (!why.empty()) return described(file, url);
    of_message_ += data->bytes.size();
    of_session_ += data->bytes.size();
    ++count_;
    return with_bytes(file, *data);
}

}  // namespace dormouse::opencode
