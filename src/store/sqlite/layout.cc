#include "store/sqlite/layout.h"

#include "base/sha256.h"

#include <cstdlib>
#include <string>

namespace dormouse::store::sqlite {
namespace {

void append_big_endian(std::string& out, std::int64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8)
        out += static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 0xff);
}

}  // namespace

port::NewestFrame newest_frame(SessionId session, std::int64_t key, std::int64_t n,
                               std::int64_t sum, std::string_view bytes) {
    auto const count = static_cast<std::uint32_t>(std::abs(n));
    Seq const head = seq_of(key) + count - 1;
    if (!is_short_sum(sum)) return {head, port::Stamp{static_cast<std::uint64_t>(sum)}};
    return {head, port::stamp_of(session, {seq_of(key), count, std::string(bytes)})};
}

std::int64_t checksum(std::int64_t place, std::int64_t detail, std::string_view bytes) {
    std::string text;
    text.reserve(16 + bytes.size());
    append_big_endian(text, place);
    append_big_endian(text, detail);
    text += bytes;
    auto const digest = sha256(text);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum = sum << 8 | digest[i];
    return sum;
}

}  // namespace dormouse::store::sqlite
