#include "store/sqlite/room.h"

#include <system_error>

namespace dormouse::store::sqlite {

void Room::written() {
    if (!refused_) return;
    auto const free = free_bytes();
    if (!free || *free >= little) refused_ = false;
}

void Room::failed(Code code) {
    if (code != Code::store_full || refused_) return;
    free_then_ = free_bytes().value_or(0);
    refused_ = true;
}

Result<void> Room::check() {
    if (!refused_) return {};
    auto const now = free_bytes();
    bool const has_more = now && *now >= free_then_ + more;
    if (has_more) refused_ = false;
    if (has_more) return {};
    return fail(Code::store_full, "the disk of the data directory is full: make room on it");
}

std::optional<std::uint64_t> Room::free_bytes() const {
    if (!directory_) return std::nullopt;
    std::error_code error;
    auto const space = std::filesystem::space(*directory_, error);
    return error ? std::nullopt : std::optional<std::uint64_t>(space.available);
}

}  // namespace dormouse::store::sqlite
