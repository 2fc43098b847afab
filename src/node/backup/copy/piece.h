#pragma once
// The objects of a continuous copy as bytes. docs/format.md shows them. Pure.
//
// copy.json lists generations. A generation begins with every page of the database and continues
// with the pages that changed. Its pieces are numbered from 1, and each has the digest of the one
// before; GENERATION/newest.json has the number and the digest of the newest piece.

#include <dormouse/error.h>
#include <dormouse/time.h>

#include "backup/sealing.h"
#include "base/crypto/sha256.h"
#include "store/sqlite/changes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::backup {

inline constexpr std::int64_t copy_format = 1;
inline constexpr std::size_t piece_pages = 4'096;
inline constexpr std::uint64_t piece_bytes_max = std::uint64_t{1} << 30;
inline constexpr std::uint64_t copy_index_max = std::uint64_t{16} << 20;
inline constexpr char const* copy_index_name = "copy.json";

struct KeyFile {
    std::string name;  // of one path segment
    std::string content;
    friend bool operator==(KeyFile const&, KeyFile const&) = default;
};

struct Piece {
    std::string generation;
    std::uint64_t sequence = 1;
    Sha256 previous = {};  // of the piece before; zero: there is none
    std::string release;
    Time time = {};  // if the cut is complete: it has everything that was stored by then
    store::sqlite::Cut cut = {};
    std::vector<KeyFile> files = {};  // those that changed
};

[[nodiscard]] std::string piece_name(std::string const& generation, std::uint64_t sequence);
[[nodiscard]] std::string newest_name(std::string const& generation);
[[nodiscard]] std::string piece_bytes(Piece const& piece);
// Errors name the piece: internal if it is damaged, newer_format.
[[nodiscard]] Result<Piece> read_piece(std::string_view bytes, std::string const& name);

// The newest piece of a generation.
struct Newest {
    std::uint64_t sequence = 0;
    Sha256 digest = {};
};
[[nodiscard]] std::string newest_text(Newest const& newest);
[[nodiscard]] Result<Newest> read_newest(std::string_view text, std::string const& name);

struct Generation {
    std::string id;
    Time begun = {};
    std::optional<Time> complete = {};  // the first state that it holds
    bool leaving = false;               // its objects are being removed
};
struct CopyIndex {
    std::string key_id;  // empty: the copy is not encrypted
    std::vector<Generation> generations = {};
};
[[nodiscard]] std::string copy_index_text(CopyIndex const& index, std::string const& release);
// Errors: internal (damaged), newer_format; bad_value for another file, or a key that is missing,
// not needed, or another one.
[[nodiscard]] Result<CopyIndex> read_copy_index(std::string_view text, Sealing const& sealing);

}  // namespace dormouse::backup
