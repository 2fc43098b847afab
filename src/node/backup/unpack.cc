#include "backup/unpack.h"

#include "backup/files.h"
#include "backup/manifest.h"

#include "base/text/chars.h"
#include "base/text/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace dormouse::backup {

namespace {

constexpr std::size_t tar_block = 512;
constexpr std::size_t piece_bytes = 256 * tar_block;
// Programs fill the last record with zeros. The rest is read so that the writer does not fail.
constexpr std::uint64_t padding_max = std::uint64_t{1} << 20;
constexpr std::uint64_t stored_chunk_max = chunk_bytes + 28;  // nonce and tag

using Head = std::array<char, tar_block>;

std::unexpected<Error> cut_off() {
    return fail(Code::internal, "the archive was cut off: its end is missing");
}

std::unexpected<Error> no_archive() {
    return fail(Code::bad_value,
                "this is no archive of `dormouse backup -`, or it is damaged: a tar archive is "
                "expected, not compressed");
}

std::string_view field(Head const& head, std::size_t at, std::size_t size) {
    std::string_view const all(head.data() + at, size);
    return all.substr(0, all.find('\0'));
}

std::optional<std::uint64_t> octal(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    text = text.substr(0, text.find(' '));
    if (text.empty() || text.size() > 12) return std::nullopt;
    std::uint64_t out = 0;
    for (char const c : text) {
        if (c < '0' || c > '7') return std::nullopt;
        out = out * 8 + static_cast<std::uint64_t>(c - '0');
    }
    return out;
}

bool is_checked(Head const& head) {
    constexpr std::size_t sum_at = 148;
    constexpr std::size_t sum_size = 8;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < head.size(); ++i) {
        bool const own = i >= sum_at && i < sum_at + sum_size;
        sum += own ? std::uint64_t{' '} : static_cast<unsigned char>(head[i]);
    }
    return octal(field(head, sum_at, sum_size)) == sum && field(head, 257, 5) == "ustar";
}

// "manifest.json" or "chunks/ab/ab…", with 64 digits.
bool is_chunk(std::string_view name) {
    constexpr std::string_view folder = "chunks/";
    constexpr std::size_t digits = 64;
    if (!name.starts_with(folder) || name.size() != folder.size() + 3 + digits) return false;
    auto const digest = name.substr(folder.size() + 3);
    bool const hex =
        std::ranges::all_of(digest, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
    return hex && name[folder.size() + 2] == '/' &&
           name.substr(folder.size(), 2) == digest.substr(0, 2);
}

struct TarEntry {
    std::string name;
    std::uint64_t bytes = 0;
    bool passed_over = false;  // nothing is written
};

// nullopt: the end of the archive.
Result<std::optional<TarEntry>> entry_of(Head const& head) {
    if (std::ranges::all_of(head, [](char c) { return c == '\0'; })) return std::nullopt;
    auto const bytes = octal(field(head, 124, 12));
    if (!is_checked(head) || !bytes) return no_archive();
    std::string_view name = field(head, 0, 100);
    if (name.starts_with("./")) name.remove_prefix(2);
    char const kind = head[156];
    if (kind == '5' && *bytes == 0) return TarEntry{std::string(name), 0, true};
    bool const chunk = is_chunk(name) && *bytes <= stored_chunk_max;
    bool const manifest = name == "manifest.json" && *bytes <= manifest_bytes_max;
    // A backup's directory has a file "lock", which is empty.
    bool const lock = name == "lock" && *bytes == 0;
    if (kind == '0' && field(head, 345, 155).empty() && (chunk || manifest || lock))
        return TarEntry{std::string(name), *bytes, lock};
    return fail(Code::bad_value, "the archive is none of `dormouse backup -`: it holds " +
                                     escape_for_terminal(field(head, 0, 100)));
}

Result<void> read_whole(ByteSource const& source, std::span<char> to) {
    auto const count = source(to);
    if (!count) return std::unexpected(count.error());
    return *count == to.size() ? Result<void>() : cut_off();
}

Result<void> write_content(ByteSource const& source, TarEntry const& entry,
                           std::filesystem::path const& file) {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error) return refused(file.parent_path(), error.value());
    auto const fd = create_file(file, true);
    if (!fd && fd.error().code == Code::conflict)
        return fail(Code::bad_value, "the archive holds " + entry.name + " twice");
    if (!fd) return std::unexpected(fd.error());
    std::string buffer(piece_bytes, '\0');
    for (std::uint64_t left = entry.bytes; left > 0;) {
        auto const now = std::min<std::uint64_t>(left, piece_bytes);
        auto const padded = (now + tar_block - 1) / tar_block * tar_block;
        if (auto read = read_whole(source, std::span(buffer).first(padded)); !read) return read;
        auto written = write_all(fd->get(), std::string_view(buffer).substr(0, now), file);
        if (!written) return written;
        left -= now;
    }
    return {};
}

Result<void> skip_padding(ByteSource const& source) {
    std::string buffer(piece_bytes, '\0');
    for (std::uint64_t all = 0; all < padding_max;) {
        auto const count = source(buffer);
        if (!count) return std::unexpected(count.error());
        if (*count == 0) return {};
        all += *count;
    }
    return {};
}

}  // namespace

Result<void> unpack(ByteSource const& source, std::filesystem::path const& to) {
    Head head{};
    for (bool first = true;; first = false) {
        auto const count = source(head);
        if (!count) return std::unexpected(count.error());
        if (*count == 0 && first) return fail(Code::bad_value, "the archive is empty");
        if (*count < head.size() && first) return no_archive();
        if (*count < head.size()) return cut_off();
        auto const entry = entry_of(head);
        if (!entry) return std::unexpected(entry.error());
        if (!*entry) return skip_padding(source);
        if ((*entry)->passed_over) continue;
        auto written = write_content(source, **entry, to / (*entry)->name);
        if (!written) return written;
    }
}

}  // namespace dormouse::backup
