#include "archive/index_file.h"

#include "base/sha256.h"
#include "json/json.h"

#include <optional>

namespace dormouse::archive {

namespace {

std::optional<Entry> read_entry(json::View one) {
    auto const id = SessionId::parse(one["id"].string_or(""));
    auto const number = [&](std::string_view name) { return one[name].integer_or(-1); };
    bool const good = id && number("seq") > 0 && number("offset") >= 0 && number("bytes") > 0;
    if (!good) return std::nullopt;
    return Entry{*id,
                 one["project"].string_or(""),
                 one["agent"].string_or(""),
                 one["title"].string_or(""),
                 from_ms(number("created")),
                 from_ms(number("updated")),
                 static_cast<Seq>(number("seq")),
                 static_cast<std::uint64_t>(number("offset")),
                 static_cast<std::uint64_t>(number("bytes")),
                 one["digest"].string_or("")};
}

}  // namespace

// The object on one line, and the digest of that line on another.
std::string write_index(Index const& index) {
    json::Writer out;
    out.begin_object().member("type", "archive").member("format", archive_format);
    out.member("product", "dormouse").member("release", index.release);
    out.member("at", to_ms(index.at)).member("bytes", index.bytes);
    out.key("sessions").begin_array();
    for (Entry const& one : index.sessions) {
        out.begin_object().member("id", one.id.text()).member("project", one.project);
        out.member("agent", one.agent).member("title", one.title);
        out.member("created", to_ms(one.created)).member("updated", to_ms(one.updated));
        out.member("seq", one.head).member("offset", one.offset).member("bytes", one.bytes);
        out.member("digest", one.digest).end_object();
    }
    std::string text = out.end_array().end_object().take();
    auto const digest = digest_text(sha256(text));
    return text + "\n" + digest + "\n";
}

Result<Index> read_index(std::string_view text) {
    auto const end = text.find('\n');
    auto const line = text.substr(0, end);
    auto const checked = json::check(line);
    json::View const view = checked ? json::View(*checked) : json::View();
    if (view["type"].string_or("") != "archive")
        return fail(Code::bad_value, "it is truncated, or no index of an archive");
    if (auto const format = view["format"].integer_or(0); format > archive_format)
        return fail(Code::newer_format,
                    "format " + std::to_string(format) + " is newer than this release reads (" +
                        std::to_string(archive_format) + "): use the release that wrote it");
    bool const whole =
        end != std::string_view::npos && text.substr(end + 1) == digest_text(sha256(line)) + "\n";
    if (!whole) return fail(Code::bad_value, "it is truncated or was changed: its digest differs");
    Index out{view["release"].string_or(""),
              from_ms(view["at"].integer_or(0)),
              static_cast<std::uint64_t>(view["bytes"].integer_or(0)),
              {}};
    bool good = true;
    view["sessions"].elements([&](json::View one) {
        auto entry = read_entry(one);
        good = good && entry && entry->offset + entry->bytes <= out.bytes;
        if (entry) out.sessions.push_back(*std::move(entry));
    });
    if (!good) return fail(Code::bad_value, "it names a session wrongly");
    return out;
}

}  // namespace dormouse::archive
