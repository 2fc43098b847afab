#pragma once
// One state of a database as the bytes of its file, read while a server writes. It needs no lock on
// the data directory: a reader of SQLite's log delays no writer, and the log only grows meanwhile.
//
// While a reader has its transaction open, SQLite changes only those pages of the file that the
// log had when the transaction began: a checkpoint copies nothing newer (walformat.html, "Reader").
// So pages that no frame of the log names are read from the file, many at once, and all others by
// SQLite, one by one.

#include "store/sqlite/connection.h"
#include "store/sqlite/page_set.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

struct sqlite3_file;  // NOLINT(readability-identifier-naming): SQLite's name

namespace dormouse::store::sqlite {

// The newest format of dormouse.db that this release reads.
[[nodiscard]] std::size_t newest_format();

class Snapshot {
public:
    // Errors: not_found if there is no database, newer_format, wrong_state (another program's file,
    // or an SQLite without the table of pages), store_unavailable, internal (damaged).
    [[nodiscard]] static Result<std::unique_ptr<Snapshot>> open(
        std::filesystem::path const& directory);

    [[nodiscard]] std::size_t format() const { return format_; }
    [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
    // The newest position of the feed; 0 if nothing was appended.
    [[nodiscard]] std::uint64_t feed() const { return feed_; }
    // Reads the next pages of the file, as many as `to` has room for. Returns their bytes; 0: the
    // end. REQUIRES: `to` has room for one (65,536 bytes are enough).
    [[nodiscard]] Result<std::size_t> read(std::span<char> to);

private:
    explicit Snapshot(Connection connection) : connection_(std::move(connection)) {}
    [[nodiscard]] Result<void> begin();
    [[nodiscard]] Result<void> begin_pages();
    void note_logged();
    [[nodiscard]] sqlite3_file* file_of(int which) const;
    [[nodiscard]] std::size_t unlogged(std::size_t most) const;
    [[nodiscard]] bool read_file(std::span<char> to) const;
    [[nodiscard]] Result<void> read_page(std::span<char> to);

    Connection connection_;
    std::size_t format_ = 0;
    std::uint64_t epoch_ = 0;
    std::uint64_t feed_ = 0;
    std::uint32_t page_bytes_ = 0;
    std::uint32_t page_count_ = 0;
    std::uint32_t next_ = 1;        // page
    sqlite3_file* file_ = nullptr;  // the connection's own: to open and close the file would end
                                    // its locks. Null: SQLite reads all pages
    PageSet logged_;                // pages that the log may have
};

}  // namespace dormouse::store::sqlite
