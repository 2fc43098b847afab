#pragma once
// One state of a database as the bytes of its file, read while a server writes. It needs no lock on
// the data directory: a reader of SQLite's log delays no writer, and the log only grows meanwhile.

#include "store/sqlite/connection.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
    // The next page of the file; valid until the next call. nullopt: the end.
    [[nodiscard]] Result<std::optional<std::string_view>> next();

private:
    explicit Snapshot(Connection connection) : connection_(std::move(connection)) {}
    [[nodiscard]] Result<void> begin();

    Connection connection_;
    std::size_t format_ = 0;
    std::uint64_t epoch_ = 0;
    std::uint64_t feed_ = 0;
    std::unique_ptr<Query> pages_;  // destroyed before the connection
};

}  // namespace dormouse::store::sqlite
