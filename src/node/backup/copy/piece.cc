#include "backup/copy/piece.h"

#include "backup/gzip.h"
#include "base/text/chars.h"
#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

namespace dormouse::backup {

namespace {

constexpr std::int64_t piece_format = 2;  // 1: the pages are not compressed
constexpr std::uint32_t page_bytes_min = 512, page_bytes_max = 65'536;
constexpr std::uint64_t pages_max = piece_bytes_max / page_bytes_min;
constexpr std::size_t id_max = 64;

std::unexpected<Error> damaged_object(std::string const& name, std::string_view what) {
    return fail(Code::internal, name + " is damaged: " + std::string(what));
}

std::unexpected<Error> newer(std::string const& name, std::string const& release) {
    return fail(Code::newer_format,
                name + " was written by the newer release " + release + ": use that one");
}

// Becomes part of a path.
bool is_segment(std::string_view text) {
    return !text.empty() && text.size() <= id_max && text.front() != '.' && is_made_of(text, "-._");
}

// Pages as ranges: [[first, count], …].
void write_ranges(json::Writer& out, std::vector<std::uint32_t> pages) {
    std::ranges::sort(pages);
    out.begin_array();
    for (std::size_t i = 0; i < pages.size();) {
        std::size_t end = i + 1;
        while (end < pages.size() && pages[end] == pages[end - 1] + 1) ++end;
        out.begin_array().value(pages[i]).value(std::uint64_t{end - i}).end_array();
        i = end;
    }
    out.end_array();
}

// False: not ranges of pages from 1 to `last`.
bool read_ranges(json::View view, std::uint32_t last, std::vector<std::uint32_t>& out) {
    bool valid = true;
    view.elements([&](json::View range) {
        std::vector<std::int64_t> both;
        range.elements([&](json::View number) { both.push_back(number.integer_or(0)); });
        valid = valid && both.size() == 2 && both[0] >= 1 && both[1] >= 1 && both[0] <= last &&
                both[1] <= std::int64_t{last} - both[0] + 1 &&
                out.size() + static_cast<std::uint64_t>(both[1]) <= pages_max;
        if (!valid) return;
        for (std::int64_t i = 0; i < both[1]; ++i)
            out.push_back(static_cast<std::uint32_t>(both[0] + i));
    });
    return valid;
}

// The content in the order of the pages' numbers.
std::string ordered_pages(store::sqlite::Cut const& cut) {
    std::string out;
    out.reserve(cut.content.size());
    std::vector<std::size_t> order(cut.pages.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return cut.pages[i]; });
    for (std::size_t const i : order) out.append(cut.content, i * cut.page_bytes, cut.page_bytes);
    return out;
}

bool read_files(json::View view, std::vector<KeyFile>& out) {
    bool valid = true;
    view.elements([&](json::View file) {
        auto content = parse_base64(file["content"].string_or("!"));
        std::string name = file["name"].string_or("");
        valid = valid && content && is_segment(name) && !name.starts_with("dormouse.db");
        if (valid) out.push_back({std::move(name), *std::move(content)});
    });
    return valid;
}

Result<void> read_head(json::View head, std::string const& name, Piece& out) {
    out.release = head["release"].string_or("");
    if (head["format"].integer_or(0) > piece_format) return newer(name, out.release);
    out.generation = head["generation"].string_or("");
    out.sequence = static_cast<std::uint64_t>(head["sequence"].integer_or(0));
    out.time = from_ms(head["time"].integer_or(0));
    store::sqlite::Cut& cut = out.cut;
    cut.complete = head["complete"].boolean_or(false);
    cut.format = static_cast<std::size_t>(head["storeFormat"].integer_or(0));
    cut.epoch = static_cast<std::uint64_t>(head["epoch"].integer_or(0));
    cut.feed = static_cast<std::uint64_t>(head["feed"].integer_or(0));
    auto const page_bytes = head["pageBytes"].integer_or(0);
    auto const page_count = head["pageCount"].integer_or(0);
    auto const previous = parse_hex_256(head["previous"].string_or(""));
    if (page_bytes < page_bytes_min || page_bytes > page_bytes_max || page_count < 1 ||
        page_count > UINT32_MAX || !previous)
        return damaged_object(name, "its head");
    cut.page_bytes = static_cast<std::uint32_t>(page_bytes);
    cut.page_count = static_cast<std::uint32_t>(page_count);
    out.previous = *previous;
    if (!read_ranges(head["pages"], cut.page_count, cut.pages))
        return damaged_object(name, "the numbers of its pages");
    if (!read_files(head["files"], out.files)) return damaged_object(name, "its files");
    return {};
}

Result<Generation> read_generation(json::View view) {
    Generation out{.id = view["id"].string_or(""),
                   .begun = from_ms(view["time"].integer_or(0)),
                   .leaving = view["leaving"].boolean_or(false)};
    if (auto const complete = view["complete"].integer()) out.complete = from_ms(*complete);
    if (!is_segment(out.id)) return damaged_object(copy_index_name, "a generation");
    return out;
}

Result<void> fits_key(std::string const& id, Sealing const& sealing) {
    if (id == sealing.key_id()) return {};
    if (id.empty()) return fail(Code::bad_value, "the copy is not encrypted: omit the key");
    if (!sealing.encrypts())
        return fail(Code::bad_value, "the copy is encrypted: pass --key FILE (key " + id + ")");
    return fail(Code::bad_value, "the copy is encrypted with another key: it needs key " + id +
                                     ", not " + sealing.key_id());
}

}  // namespace

std::string piece_name(std::string const& generation, std::uint64_t sequence) {
    std::string const number = std::to_string(sequence);
    std::size_t const digits = 12;
    return generation + "/" + std::string(digits - std::min(digits, number.size()), '0') + number;
}

std::string newest_name(std::string const& generation) { return generation + "/newest.json"; }

std::string piece_bytes(Piece const& piece) {
    json::Writer out;
    out.begin_object().member("format", piece_format).member("release", piece.release);
    out.member("generation", piece.generation).member("sequence", piece.sequence);
    out.member("previous", hex(piece.previous)).member("time", to_ms(piece.time));
    out.member("complete", piece.cut.complete);
    out.member("storeFormat", std::uint64_t{piece.cut.format}).member("epoch", piece.cut.epoch);
    out.member("feed", piece.cut.feed).member("pageBytes", piece.cut.page_bytes);
    out.member("pageCount", piece.cut.page_count).key("files").begin_array();
    for (KeyFile const& file : piece.files) {
        std::span const bytes(reinterpret_cast<std::uint8_t const*>(file.content.data()),
                              file.content.size());
        out.begin_object().member("name", file.name).member("content", base64(bytes)).end_object();
    }
    out.end_array().key("pages");
    write_ranges(out, piece.cut.pages);
    return out.end_object().take() + "\n" + gzip(ordered_pages(piece.cut));
}

Result<Piece> read_piece(std::string_view bytes, std::string const& name) {
    auto const end = bytes.find('\n');
    if (end == std::string_view::npos) return damaged_object(name, "it has no head");
    auto const parsed = json::check(bytes.substr(0, end));
    if (!parsed) return damaged_object(name, "its head");
    Piece out;
    if (auto head = read_head(json::View(*parsed), name, out); !head)
        return std::unexpected(std::move(head.error()));
    bytes.remove_prefix(end + 1);
    std::uint64_t const size = std::uint64_t{out.cut.pages.size()} * out.cut.page_bytes;
    bool const compressed = json::View(*parsed)["format"].integer_or(0) > 1;
    auto content = compressed ? gunzip(bytes, size) : Result<std::string>(std::string(bytes));
    if (!content || content->size() != size)
        return damaged_object(name, "it is truncated, or too long");
    out.cut.content = *std::move(content);
    return out;
}

std::string newest_text(Newest const& newest) {
    json::Writer out;
    out.begin_object().member("sequence", newest.sequence).member("sha256", hex(newest.digest));
    return out.end_object().take() + "\n";
}

Result<Newest> read_newest(std::string_view text, std::string const& name) {
    auto const parsed = json::check(text);
    if (!parsed) return damaged_object(name, parsed.error().detail);
    json::View const view(*parsed);
    auto const sequence = view["sequence"].integer_or(0);
    auto const digest = parse_hex_256(view["sha256"].string_or(""));
    if (sequence < 1 || !digest) return damaged_object(name, "its content");
    return Newest{static_cast<std::uint64_t>(sequence), *digest};
}

std::string copy_index_text(CopyIndex const& index, std::string const& release) {
    json::Writer out;
    out.begin_object().member("format", copy_format).member("product", "dormouse copy");
    out.member("release", release).member("keyID", index.key_id);
    out.key("generations").begin_array();
    for (Generation const& one : index.generations) {
        out.begin_object().member("id", one.id).member("time", to_ms(one.begun));
        if (one.complete) out.member("complete", to_ms(*one.complete));
        if (one.leaving) out.member("leaving", true);
        out.end_object();
    }
    return out.end_array().end_object().take() + "\n";
}

Result<CopyIndex> read_copy_index(std::string_view text, Sealing const& sealing) {
    auto const parsed = json::check(text);
    if (!parsed) return damaged_object(copy_index_name, parsed.error().detail);
    json::View const view(*parsed);
    if (view["product"].string_or("") != "dormouse copy")
        return fail(Code::bad_value, "copy.json is not that of a continuous copy of Dormouse");
    if (view["format"].integer_or(0) > copy_format)
        return newer(copy_index_name, view["release"].string_or(""));
    CopyIndex out{.key_id = view["keyID"].string_or("")};
    if (auto fits = fits_key(out.key_id, sealing); !fits)
        return std::unexpected(std::move(fits.error()));
    std::optional<Error> error;
    view["generations"].elements([&](json::View one) {
        auto generation = read_generation(one);
        if (!generation) {
            error = std::move(generation.error());
        } else {
            out.generations.push_back(*std::move(generation));
        }
    });
    if (error) return std::unexpected(*std::move(error));
    return out;
}

}  // namespace dormouse::backup
