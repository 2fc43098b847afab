#include "store/sqlite/writer/unused_space.h"

#include <algorithm>
#include <utility>

namespace dormouse::store::sqlite {

namespace {

using Page = std::span<std::uint8_t>;
using ReadPage = std::span<std::uint8_t const>;

constexpr std::uint8_t index_interior = 2, table_interior = 5, index_leaf = 10, table_leaf = 13;
constexpr std::size_t first_free_at = 1, cells_at = 3, content_at = 5;  // in the header
constexpr std::size_t child_bytes = 4, number_bytes = 4;

std::size_t short_at(ReadPage page, std::size_t at) {
    return (std::size_t{page[at]} << 8U) | page[at + 1];
}

bool clear(Page bytes) {
    bool const clean = std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
    std::ranges::fill(bytes, std::uint8_t{0});
    return !clean;
}

// Where the cells are. nullopt: this is no page of a table or an index.
struct Tree {
    std::uint8_t type;
    std::size_t pointers;  // of the cells
    std::size_t cells;
    std::size_t content;
};
std::optional<Tree> tree_of(ReadPage page, std::size_t head) {
    auto const type = page[head];
    bool const interior = type == index_interior || type == table_interior;
    if (!interior && type != index_leaf && type != table_leaf) return std::nullopt;
    Tree out{type, head + (interior ? 12 : 8), short_at(page, head + cells_at),
             short_at(page, head + content_at)};
    if (out.content == 0) out.content = 65'536;
    bool const sound = out.pointers + 2 * out.cells <= out.content && out.content <= page.size();
    return sound ? std::optional(out) : std::nullopt;
}

bool clear_free_blocks(Page page, std::size_t first) {
    bool changed = false;
    for (std::size_t block = first, before = 0; block != 0;) {
        // In ascending order, so a damaged page ends this, too.
        if (block <= before || block + 4 > page.size()) return changed;
        auto const bytes = short_at(page, block + 2);
        if (bytes < 4 || block + bytes > page.size()) return changed;
        changed = clear(page.subspan(block + 4, bytes - 4)) || changed;
        before = std::exchange(block, short_at(page, block));
    }
    return changed;
}

// Reads a number of up to nine bytes, and moves `at` behind it.
std::optional<std::uint64_t> varint(ReadPage page, std::size_t& at) {
    std::uint64_t out = 0;
    for (int i = 0; i < 9; ++i) {
        if (at >= page.size()) return std::nullopt;
        std::uint8_t const byte = page[at++];
        if (i == 8) return (out << 8U) | byte;
        out = (out << 7U) | (byte & 0x7fU);
        if (byte < 0x80) return out;
    }
    return std::nullopt;
}

// How many bytes of a content are in its cell. The page has no reserved bytes.
std::uint64_t local_bytes(std::uint64_t content, std::uint8_t type, std::uint64_t page_bytes) {
    auto const least = (page_bytes - 12) * 32 / 255 - 23;
    auto const most = type == table_leaf ? page_bytes - 35 : (page_bytes - 12) * 64 / 255 - 23;
    if (content <= most) return content;
    auto const fitting = least + (content - least) % (page_bytes - number_bytes);
    return fitting <= most ? fitting : least;
}

std::optional<std::uint64_t> overflow_of(ReadPage page, std::uint8_t type, std::size_t at,
                                         std::uint32_t first) {
    if (type == index_interior) at += child_bytes;
    auto const content = varint(page, at);
    if (type == table_leaf && !varint(page, at)) return std::nullopt;  // the row's number
    if (!content) return std::nullopt;
    auto const local = local_bytes(*content, type, page.size());
    if (local == *content || at + local + number_bytes > page.size()) return std::nullopt;
    if (number_at(page, at + local) != first) return std::nullopt;
    return *content - local;
}

}  // namespace

std::uint32_t number_at(ReadPage page, std::size_t at) {
    return (std::uint32_t{page[at]} << 24U) | (std::uint32_t{page[at + 1]} << 16U) |
           (std::uint32_t{page[at + 2]} << 8U) | page[at + 3];
}

bool clear_after(Page page, std::size_t used) {
    return used < page.size() && clear(page.subspan(used));
}

bool clear_tree_page(Page page, std::size_t head) {
    auto const tree = tree_of(page, head);
    if (!tree) return false;
    auto const gap = tree->pointers + 2 * tree->cells;
    bool const changed = clear(page.subspan(gap, tree->content - gap));
    return clear_free_blocks(page, short_at(page, head + first_free_at)) || changed;
}

bool clear_free_list(Page page) {
    auto const pages = std::size_t{number_at(page, 4)};
    return pages <= page.size() / number_bytes - 2 && clear_after(page, 8 + number_bytes * pages);
}

std::optional<std::uint64_t> overflow_bytes(ReadPage page, std::size_t head, std::uint32_t first) {
    auto const tree = tree_of(page, head);
    if (!tree || tree->type == table_interior) return std::nullopt;
    for (std::size_t i = 0; i < tree->cells; ++i) {
        auto const at = short_at(page, tree->pointers + 2 * i);
        if (auto const bytes = overflow_of(page, tree->type, at, first)) return bytes;
    }
    return std::nullopt;
}

}  // namespace dormouse::store::sqlite
