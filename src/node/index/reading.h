#pragma once
// Reads the documents of an index from a store. All functions block: they run where the store's
// reading members may be called. Damaged documents are left out; other readers report them. Errors:
// those of the store when it does not answer.

#include "port/index.h"
#include "port/store.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::index {

// A place in a feed, and its row, which differs if a store was restored, replaced or lost its end.
struct Position {
    std::uint64_t next = 0;     // everything up to this number is in the index
    std::uint64_t row = 0;      // number of the newest row up to there; 0: none
    SessionId session = {};     // of that row
    port::Stamp stamp{};        // of its frame; none: it has no frame
    std::uint64_t history = 0;  // of the store, see port::FeedPage
    friend bool operator==(Position const&, Position const&) = default;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] static std::optional<Position> parse(std::string_view text);
};

// Returns true if the store's feed is the one that has this position, apart from the history, which
// read_changes() compares.
[[nodiscard]] Result<bool> has(port::Store& store, Position const& position);
// Returns the end of the feed.
[[nodiscard]] Result<Position> end_of_feed(port::Store& store);

struct Changes {
    port::IndexBatch batch;  // with the position after it
    Position position;
    bool more = false;
    // The feed no longer has what follows the position, or the store fell back since the position
    // was read; nothing else is set.
    bool gone = false;
};
// Reads what changed after the position, as it is now, until there are about `bytes_max` bytes.
inline constexpr std::size_t batch_bytes = std::size_t{8} << 20;
[[nodiscard]] Result<Changes> read_changes(port::Store& store, Position const& after,
                                           std::size_t bytes_max = batch_bytes);

struct Everything {
    port::IndexBatch batch;     // without a position
    std::uint64_t session = 0;  // continue after this number
    bool more = false;
};
// Reads the documents of the sessions after the number `after`: of whole sessions, up to about
// `bytes_max` bytes.
[[nodiscard]] Result<Everything> read_everything(port::Store& store, std::uint64_t after,
                                                 std::size_t bytes_max = batch_bytes);

// Makes the index again, from a store that nobody else writes.
[[nodiscard]] Result<void> rebuild(port::Store& store, port::Index& index);

}  // namespace dormouse::index
