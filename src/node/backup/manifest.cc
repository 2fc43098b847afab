#include "backup/manifest.h"

#include "base/crypto/sha256_stream.h"
#include "base/text/text.h"
#include "json/json.h"

#include <set>
#include <utility>

namespace dormouse::backup {

namespace {

constexpr std::string_view sealed_name = "manifest";

Sha256 digest_of(std::vector<Sha256> const& names) {
    Sha256Stream out;
    for (Sha256 const& name : names)
        out.add({reinterpret_cast<char const*>(name.data()), name.size()});
    return out.finish();
}

std::string content_text(Manifest const& manifest) {
    json::Writer out;
    out.begin_object().member("storeFormat", std::uint64_t{manifest.store_format});
    out.member("epoch", manifest.epoch).member("feed", manifest.feed);
    out.member("chunkBytes", std::uint64_t{chunk_bytes}).key("files").begin_array();
    for (FileEntry const& file : manifest.files) {
        out.begin_object().member("name", file.name).member("bytes", file.bytes);
        out.member("namesSha256", hex(digest_of(file.chunks))).key("chunks").begin_array();
        for (Sha256 const& chunk : file.chunks) out.value(hex(chunk));
        out.end_array().end_object();
    }
    return out.end_array().end_object().take();
}

std::unexpected<Error> damaged(std::string_view what) {
    return fail(Code::internal, "manifest.json is damaged: " + std::string(what));
}

// A name becomes a path, so it must be one segment.
bool is_safe(std::string_view name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos;
}

Result<FileEntry> file_in(json::View view) {
    FileEntry out{.name = view["name"].string_or("")};
    auto const bytes = view["bytes"].integer();
    auto const of_names = parse_hex_256(view["namesSha256"].string_or(""));
    out.digest = parse_hex_256(view["sha256"].string_or(""));
    bool const has_digest = of_names.has_value() || out.digest.has_value();
    if (!is_safe(out.name) || !bytes || *bytes < 0 || !has_digest) return damaged("a file");
    out.bytes = static_cast<std::uint64_t>(*bytes);
    bool valid = true;
    view["chunks"].elements([&](json::View chunk) {
        auto const name = parse_hex_256(chunk.string_or(""));
        valid = valid && name.has_value();
        if (name) out.chunks.push_back(*name);
    });
    bool const fits = out.chunks.size() == (out.bytes + chunk_bytes - 1) / chunk_bytes;
    bool const as_written = !of_names || *of_names == digest_of(out.chunks);
    if (!valid || !fits || !as_written) return damaged("the chunks of " + out.name);
    return out;
}

Result<void> read_content(json::View view, Manifest& out) {
    out.store_format = static_cast<std::size_t>(view["storeFormat"].integer_or(0));
    out.epoch = static_cast<std::uint64_t>(view["epoch"].integer_or(0));
    out.feed = static_cast<std::uint64_t>(view["feed"].integer_or(0));
    if (view["chunkBytes"].integer_or(0) != std::int64_t{chunk_bytes})
        return damaged("the size of its chunks");
    std::optional<Error> error;
    std::set<std::string> names;
    view["files"].elements([&](json::View one) {
        auto file = file_in(one);
        if (!file) {
            error = std::move(file.error());
        } else if (names.insert(file->name).second) {
            out.files.push_back(*std::move(file));
        }
    });
    if (error) return std::unexpected(*std::move(error));
    if (!names.contains("dormouse.db")) return damaged("dormouse.db is missing");
    return {};
}

Result<Json> opened(json::View outer, Sealing const& sealing) {
    std::string const id = outer["encrypted"]["keyID"].string_or("");
    if (!sealing.encrypts())
        return fail(Code::bad_value, "the backup is encrypted: pass --key FILE (key " + id + ")");
    if (sealing.key_id() != id)
        return fail(Code::bad_value, "the backup is encrypted with another key: it needs key " +
                                         id + ", not " + sealing.key_id());
    auto const stored = parse_base64(outer["sealed"].string_or(""));
    auto const text = stored ? sealing.open(*stored, sealed_name) : std::nullopt;
    if (!text) return damaged("its sealed part");
    auto parsed = json::check(*text);
    if (!parsed) return damaged(parsed.error().detail);
    return parsed;
}

}  // namespace

std::string manifest_text(Manifest const& manifest, Sealing const& sealing,
                          port::Entropy& entropy) {
    json::Writer out;
    out.begin_object().member("format", format).member("product", "dormouse");
    out.member("release", manifest.release).member("time", to_ms(manifest.time));
    std::string const content = content_text(manifest);
    if (!sealing.encrypts()) {
        out.member_raw("content", content);
    } else {
        std::string const sealed = sealing.seal(content, sealed_name, entropy);
        std::span const bytes(reinterpret_cast<std::uint8_t const*>(sealed.data()), sealed.size());
        out.key("encrypted").begin_object().member("cipher", "aes-256-gcm");
        out.member("keyID", sealing.key_id()).end_object().member("sealed", base64(bytes));
    }
    return out.end_object().take() + "\n";
}

Result<Manifest> read_manifest(std::string_view text, Sealing const& sealing) {
    auto const parsed = json::check(text);
    if (!parsed) return damaged(parsed.error().detail);
    json::View const outer(*parsed);
    if (outer["product"].string_or("") != "dormouse")
        return fail(Code::bad_value, "manifest.json is not the manifest of a backup of Dormouse");
    Manifest out{.release = outer["release"].string_or("")};
    if (outer["format"].integer_or(0) > format)
        return fail(Code::newer_format,
                    "the backup was made by the newer release " + out.release + ": use that one");
    out.time = from_ms(outer["time"].integer_or(0));
    if (!outer["encrypted"].exists()) {
        if (sealing.encrypts())
            return fail(Code::bad_value, "the backup is not encrypted: omit --key");
        if (auto read = read_content(outer["content"], out); !read)
            return std::unexpected(std::move(read.error()));
        return out;
    }
    auto const content = opened(outer, sealing);
    if (!content) return std::unexpected(content.error());
    if (auto read = read_content(json::View(*content), out); !read)
        return std::unexpected(std::move(read.error()));
    return out;
}

std::string chunk_path(Sha256 const& name) {
    std::string const text = hex(name);
    return "chunks/" + text.substr(0, 2) + "/" + text;
}

}  // namespace dormouse::backup
