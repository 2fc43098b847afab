#include "store/postgres/layout.h"

#include "base/sha256.h"

#include <string>

namespace dormouse::store::postgres {
namespace {

void append_eight_bytes(std::string& out, std::int64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8)
        out += static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 0xff);
}

}  // namespace

std::int64_t checksum(std::int64_t place, std::int64_t detail, std::string_view bytes) {
    std::string text;
    text.reserve(16 + bytes.size());
    append_eight_bytes(text, place);
    append_eight_bytes(text, detail);
    text += bytes;
    auto const digest = sha256(text);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum = sum << 8 | digest[i];
    return sum;
}

}  // namespace dormouse::store::postgres
