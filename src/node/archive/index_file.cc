#include "archive/index_file.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"
#include "json/json.h"

#include <cstddef>
#include <optional>
#include <utility>

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

std::string base64_of(std::string_view bytes) {
    return base64({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
}

void write_entries(json::Writer& out, Index const& index) {
    out.begin_array();
    for (Entry const& one : index.sessions) {
        out.begin_object().member("id", one.id.text()).member("project", one.project);
        out.member("agent", one.agent);
        if (!index.key) out.member("title", one.title);
        out.member("created", to_ms(one.created)).member("updated", to_ms(one.updated));
        out.member("seq", one.head).member("offset", one.offset).member("bytes", one.bytes);
        out.member("digest", one.digest).end_object();
    }
    out.end_array();
}

// Returns the text that the titles of an encrypted file are bound to.
std::string bound_titles(Index const& index) {
    json::Writer out;
    write_entries(out, index);
    return "archive titles\n" + std::to_string(index.bytes) + "\n" + std::to_string(index.version) +
           "\n" + out.take();
}

// Returns nullopt if the key is invalid. REQUIRES: there is one.
std::optional<WrappedKey> read_key(json::View key) {
    auto wrapped = parse_base64(key["wrapped"].string_or(""));
    std::string master = key["master"].string_or("");
    if (!wrapped || master.empty()) return std::nullopt;
    return WrappedKey{std::move(master), *std::move(wrapped)};
}

// Reads the members that describe the encryption of the file; returns false if they are invalid.
bool read_encryption(json::View view, Index& out) {
    if (view["key"].is_null()) return true;
    out.key = read_key(view["key"]);
    auto titles = parse_base64(view["titles"].string_or(""));
    if (!out.key || !titles) return false;
    out.titles = *std::move(titles);
    return true;
}

}  // namespace

std::string seal_titles(Index const& index, FileKey& key) {
    json::Writer out;
    out.begin_array();
    for (Entry const& one : index.sessions) out.value(one.title);
    return key.seal(out.end_array().take(), bound_titles(index));
}

Result<void> open_titles(Index& index, FileKey const& key) {
    auto const text = key.open(index.titles, bound_titles(index));
    auto const checked = text ? json::check(*text) : fail(Code::bad_value, "");
    if (!checked)
        return fail(Code::bad_value,
                    "its titles do not open: it was changed, or is of another file");
    std::vector<std::string> titles;
    json::View(*checked).elements([&](json::View one) { titles.push_back(one.string_or("")); });
    if (titles.size() != index.sessions.size())
        return fail(Code::bad_value, "it has another number of titles");
    for (std::size_t i = 0; i < titles.size(); ++i) index.sessions[i].title = std::move(titles[i]);
    return {};
}

// The object on one line, and the digest of that line on another.
std::string write_index(Index const& index) {
    json::Writer out;
    bool const first = !index.key && index.version == 0;
    out.begin_object().member("type", "archive").member("format", first ? 1 : archive_format);
    out.member("product", "dormouse").member("release", index.release);
    out.member("at", to_ms(index.at)).member("bytes", index.bytes);
    if (!first) out.member("version", index.version);
    if (index.key) {
        out.key("key").begin_object().member("master", index.key->master);
        out.member("wrapped", base64_of(index.key->bytes)).end_object();
        out.member("titles", base64_of(index.titles));
    }
    out.key("sessions");
    write_entries(out, index);
    std::string text = out.end_object().take();
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
    bool good = view["version"].integer_or(0) >= 0 && read_encryption(view, out);
    out.version = static_cast<std::uint64_t>(view["version"].integer_or(0));
    view["sessions"].elements([&](json::View one) {
        auto entry = read_entry(one);
        good = good && entry && entry->offset + entry->bytes <= out.bytes;
        if (entry) out.sessions.push_back(*std::move(entry));
    });
    if (!good) return fail(Code::bad_value, "it names a session or its key wrongly");
    return out;
}

}  // namespace dormouse::archive
