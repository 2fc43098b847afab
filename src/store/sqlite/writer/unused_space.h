#pragma once
// The bytes of a page that SQLite does not use, which may hold what was deleted:
// https://sqlite.org/fileformat2.html
//
// clear_…() overwrite these bytes with zeros and return true if any was not zero. Malformed parts
// of a page stay as they are.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace dormouse::store::sqlite {

// Clears a page of a table or an index. `head`: where its header begins, 100 in the first page of
// the file. The up to 3 bytes of a fragment between two cells stay.
[[nodiscard]] bool clear_tree_page(std::span<std::uint8_t> page, std::size_t head);
// Clears a page that lists free pages.
[[nodiscard]] bool clear_free_list(std::span<std::uint8_t> page);
// Clears everything behind the first `used` bytes.
[[nodiscard]] bool clear_after(std::span<std::uint8_t> page, std::size_t used);

// Returns how many bytes the overflow pages that begin with `first` hold of their cell's content.
// nullopt: the page, of a table or an index, has no such cell.
[[nodiscard]] std::optional<std::uint64_t> overflow_bytes(std::span<std::uint8_t const> page,
                                                          std::size_t head, std::uint32_t first);

[[nodiscard]] std::uint32_t number_at(std::span<std::uint8_t const> page, std::size_t at);

}  // namespace dormouse::store::sqlite
