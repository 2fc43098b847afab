#pragma once
// Whether the disk has room for what is written, as the writes say. Any thread.

#include <dormouse/error.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace dormouse::store::sqlite {

class Room {
public:
    // `directory`: on the disk; nullopt: its space is not known.
    explicit Room(std::optional<std::filesystem::path> directory)
        : directory_(std::move(directory)) {}

    // The result of a write. On a full disk small ones may still succeed.
    void written();
    void failed(Code code);

    // Errors: store_full, from a write that the disk refused until there is more space than there
    // was then, or until one succeeds on a disk that is not full.
    [[nodiscard]] Result<void> check();

private:
    static constexpr auto more = std::uint64_t{64} << 10;   // bytes
    static constexpr auto little = std::uint64_t{1} << 20;  // less is full

    [[nodiscard]] std::optional<std::uint64_t> free_bytes() const;

    std::optional<std::filesystem::path> const directory_;
    std::atomic<bool> refused_ = false;
    std::atomic<std::uint64_t> free_then_ = 0;
};

}  // namespace dormouse::store::sqlite
