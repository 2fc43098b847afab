#pragma once
// Overwrites what a file still has of deleted contents, page by page, while the store works.
//
// VACUUM does that at once, but nothing else is written meanwhile. A step reads some pages and
// writes those whose unused bytes are not zero. Its pages are those that have not been read yet,
// and those that have changed since: SQLite moves pages, unused bytes included. So what was deleted
// before the first step is gone when no page is left.

#include "store/sqlite/changes.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/page_set.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::store::sqlite {

class Scrub {
public:
    // REQUIRES: the store of the directory is open, longer than this. Errors: wrong_state (the file
    // does not say what its pages are for, because it is older than auto_vacuum: compact rewrites
    // it), and those of Connection::open().
    [[nodiscard]] static Result<std::unique_ptr<Scrub>> open(
        std::filesystem::path const& directory);

    // Before each checkpoint.
    void note() { changes_.note(); }
    // Starts from the beginning.
    void repeat();
    // One transaction of a few milliseconds. Returns true if no page is left. Called by the thread
    // that writes the store, or with its lock. Errors: fail_stop if a sync failed.
    [[nodiscard]] Result<bool> step();

private:
    enum class Use : std::uint8_t { root = 1, free, first_overflow, next_overflow, tree };
    // The use of a page, as recorded in the file's pointer map.
    struct Entry {
        Use use = Use::root;
        std::uint32_t parent = 0;  // in the chain of an overflow, or the page of its cell
    };

    explicit Scrub(Connection connection) : connection_(std::move(connection)) {}

    [[nodiscard]] Result<bool> scrub_some();
    [[nodiscard]] Result<void> scrub_page(std::uint32_t page);
    // Returns whether the bytes were changed.
    [[nodiscard]] Result<bool> clear(std::uint32_t page, std::vector<std::uint8_t>& bytes);
    [[nodiscard]] Result<bool> clear_overflow(std::uint32_t page, Entry entry,
                                              std::vector<std::uint8_t>& bytes);
    [[nodiscard]] Result<std::vector<std::uint8_t>> read(std::uint32_t page);
    [[nodiscard]] Result<Entry> entry_of(std::uint32_t page);
    [[nodiscard]] bool is_map(std::uint32_t page) const { return map_of(page) == page; }
    [[nodiscard]] std::uint32_t map_of(std::uint32_t page) const;
    // The pages that list free ones.
    [[nodiscard]] Result<PageSet> free_lists();

    Connection connection_;
    Changes changes_;
    std::uint32_t page_bytes_ = 0;
    std::uint32_t page_count_ = 0;  // in the transaction of a step
    PageSet left_;
    PageSet lists_;  // in the transaction of a step
    std::uint32_t next_page_ = 1;
    std::map<std::uint32_t, std::vector<std::uint8_t>> maps_;  // in the transaction of a step
};

}  // namespace dormouse::store::sqlite
