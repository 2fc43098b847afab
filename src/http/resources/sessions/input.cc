#include "http/resources/sessions/handlers.h"

#include "base/media.h"
#include "base/text/text.h"
#include "base/url.h"
#include "json/json.h"
#include "session/limits.h"

#include <algorithm>
#include <array>
#include <utility>

// The content of a prompt: text, images and files.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::size_t alt_bytes_max = 4'096;

Error too_large(std::string detail, std::string_view limit, std::size_t max) {
    json::Writer extra;
    extra.begin_object().member("limit", limit).member("max", std::uint64_t{max}).end_object();
    return {Code::too_large, std::move(detail), extra.json(), 0};
}

bool is_url(std::string_view text) {
    auto const url = split_url(text);
    bool const web = url && (url->scheme == "https" || url->scheme == "http");
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == 0x7f) return false;
    }
    return web && !url->authority.empty() && text.size() <= url_bytes_max;
}

bool is_image(std::string_view mime) {
    constexpr std::array<std::string_view, 4> known{"image/png", "image/jpeg", "image/gif",
                                                    "image/webp"};
    return std::ranges::find(known, mime) != known.end();
}

// One image or file: its bytes, or only its URL.
struct FilePart {
    std::string type;
    std::optional<std::string> mime, name, alt, url;
    std::optional<std::string> bytes;

    void read(Body& fields) {
        mime = fields.string("mime");
        name = fields.string("name");
        alt = fields.string("alt");
        url = fields.string("url");
        auto const data = fields.string("data");
        if (data.has_value() == url.has_value())
            return fields.refuse("data", "give either data (base64) or url");
        if (mime && !is_media_type(*mime))
            fields.refuse("mime", "must be a media type such as image/png or application/pdf");
        if (name && !is_file_name(*name))
            fields.refuse("name", "must be the name of a file: 1 to 255 bytes, without / and \\");
        if (alt && alt->size() > alt_bytes_max) fields.refuse("alt", "must be at most 4096 bytes");
        if (url && !is_url(*url))
            fields.refuse("url", "must begin with https:// or http:// and have at most 2048 bytes");
        if (type == "image" && mime && !is_image(*mime)) {
            fields.refuse("mime",
                          "must be image/png, image/jpeg, image/gif or image/webp; send "
                          "others as a file");
        }
        if (data) decode(fields, *data);
    }

    void decode(Body& fields, std::string const& data) {
        if (!mime)
            return fields.refuse("mime",
                                 "is missing: give the type of the data, such as image/png");
        bytes = parse_base64(data);
        if (!bytes || bytes->empty()) {
            return fields.refuse("data",
                                 "must be base64 (RFC 4648, section 4) with its padding, "
                                 "and not empty");
        }
        bool const other = type == "image" && image_type(*bytes) != *mime;
        if (other) fields.refuse("data", "is no " + *mime);
        if (bytes->size() > limits::input_file_bytes_max) {
            fields.refuse(too_large("An image or a file of a prompt must be at most 5 MiB.",
                                    "prompt_file_bytes", limits::input_file_bytes_max));
        }
    }

    [[nodiscard]] std::string written() const {
        json::Writer out;
        out.begin_object().member("type", type);
        if (mime) out.member("mime", *mime);
        if (name) out.member("name", *name);
        if (bytes) out.member("bytes", std::uint64_t{bytes->size()});
        if (alt) out.member("alt", *alt);
        if (url) out.member("url", *url);
        return out.end_object().take();
    }

    [[nodiscard]] Artifact artifact() && {
        Artifact out{
            name.value_or(""), *mime, std::make_shared<std::string const>(*std::move(bytes)), {}};
        out.digest = sha256(*out.bytes);
        return out;
    }
};

class Reader {
public:
    void text(std::string const& plain) {
        json::Writer part;
        part.begin_object().member("type", "text").member("text", plain).end_object();
        append(part.take());
        input_.text += (input_.text.empty() ? "" : "\n") + plain;
    }

    void part(Body& body, json::View part) {
        std::string const pointer = body.pointer() + "/parts/" + std::to_string(count_);
        std::string const type = part["type"].string_or("text");
        if (type == "image" || type == "file") return file(body, part, pointer, type);
        Body fields(part, pointer, {"type", "text", "synthetic"});
        if (fields.string("type").value_or("text") != "text")
            fields.refuse("type", "must be text, image or file");
        (void)fields.boolean(
            "synthetic");  // a part may be sent as it is shown; `synthetic` is ignored
        std::string const plain = fields.required_string("text");
        if (fields.error()) return body.refuse(*fields.error());
        text(plain);
    }

    // A file without `type` is an image if its media type is one that models take as such.
    void bytes(Body& body, json::View part) {
        std::string const pointer = body.pointer() + "/files/" + std::to_string(count_);
        std::string const mime = part["mime"].string_or("");
        std::string const type = part["type"].string_or(is_image(mime) ? "image" : "file");
        if (type != "image" && type != "file")
            return body.refuse(bad_value(pointer + "/type", "must be file or image"));
        if (part["url"].exists())
            return body.refuse(bad_value(pointer + "/url", "must be left out: send the bytes"));
        file(body, part, pointer, type);
    }

    [[nodiscard]] bool empty() const { return input_.text.empty() && input_.only_text; }
    [[nodiscard]] Input take() {
        input_.parts = Json::trusted("[" + std::exchange(parts_, {}) + "]");
        return std::move(input_);
    }

private:
    void file(Body& body, json::View part, std::string const& pointer, std::string const& type) {
        Body fields(part, pointer, {"type", "mime", "name", "alt", "url", "data"});
        FilePart file{type, {}, {}, {}, {}, {}};
        if (!fields.error()) file.read(fields);
        if (fields.error()) return body.refuse(*fields.error());
        if (++files_ > limits::input_files_max) {
            return body.refuse(too_large("A prompt must have at most 20 images and files.",
                                         "prompt_files", limits::input_files_max));
        }
        append(file.written());
        input_.only_text = false;
        if (!file.bytes) return;
        // The position of the closing brace in a text that will begin with a bracket.
        std::size_t const place = parts_.size();
        input_.files.push_back({std::move(file).artifact(), place});
    }

    void append(std::string const& written) {
        if (count_++ > 0) parts_ += ',';
        parts_ += written;
    }

    std::string parts_;
    std::size_t count_ = 0;
    std::size_t files_ = 0;
    Input input_;
};

}  // namespace

std::optional<Artifact> read_file(Body& fields, std::string const& type) {
    FilePart file{type, {}, {}, {}, {}, {}};
    if (!fields.error()) file.read(fields);
    if (!fields.error() && !file.bytes) fields.refuse("data", "is missing (base64)");
    if (fields.error()) return std::nullopt;
    return std::move(file).artifact();
}

std::optional<Input> read_files(Body& body) {
    auto const files = body.array("files");
    if (!files || files->size() == 0) return std::nullopt;
    Reader reader;
    files->elements([&](json::View file) {
        if (!body.error()) reader.bytes(body, file);
    });
    if (body.error()) return std::nullopt;
    return reader.take();
}

std::optional<Input> read_input(Body& body) {
    auto const text = body.string("text");
    auto const parts = body.array("parts");
    if (text.has_value() == parts.has_value()) {
        body.refuse("text", "give either text or parts");
        return std::nullopt;
    }
    Reader reader;
    if (text) reader.text(*text);
    if (parts) {
        parts->elements([&](json::View part) {
            if (!body.error()) reader.part(body, part);
        });
    }
    if (reader.empty()) body.refuse("text", "must not be empty");
    if (body.error()) return std::nullopt;
    return reader.take();
}

}  // namespace dormouse::http
