#include "port/stored_row.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"

#include <algorithm>

namespace dormouse::port {

namespace {

// These numbers are stored.
static_assert(static_cast<int>(PendingStatus::waiting) == 0 &&
              static_cast<int>(PendingStatus::completed) == 1 &&
              static_cast<int>(PendingStatus::failed) == 2 &&
              static_cast<int>(PendingStatus::expired) == 3 &&
              static_cast<int>(PendingStatus::cancelled) == 4);
static_assert(static_cast<int>(OutboxState::pending) == 0 &&
              static_cast<int>(OutboxState::delivered) == 1 &&
              static_cast<int>(OutboxState::dead) == 2 &&
              static_cast<int>(OutboxState::disabled) == 3);

void append_big_endian(std::string& out, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

// The first `size` bytes of SHA-256 over the numbers and the bytes.
std::uint64_t digest_start(std::uint64_t place, std::uint64_t detail, std::string_view bytes,
                           std::size_t size) {
    std::string text;
    text.reserve(16 + bytes.size());
    append_big_endian(text, place);
    append_big_endian(text, detail);
    text += bytes;
    auto const digest = sha256(text);
    std::uint64_t start = 0;
    for (std::size_t i = 0; i < size; ++i) start = start << 8 | digest[i];
    return start;
}

}  // namespace

Stamp stamp_of(SessionId session, Frame const& frame) {
    auto const place = static_cast<std::uint64_t>(key_of(session.number(), frame.first));
    return Stamp{digest_start(place, frame.count, frame.bytes, 8)};
}

std::int64_t checksum(std::int64_t place, std::int64_t detail, std::string_view bytes) {
    return static_cast<std::int64_t>(digest_start(static_cast<std::uint64_t>(place),
                                                  static_cast<std::uint64_t>(detail), bytes, 4));
}

std::optional<Sha256> digest_of(std::string_view bytes) {
    Sha256 out{};
    if (bytes.size() != out.size()) return std::nullopt;
    std::ranges::transform(bytes, out.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    return out;
}

Bits128 bits_of(std::string_view bytes) {
    Bits128 bits{};
    if (bytes.size() == bits.size())
        std::ranges::transform(bytes, bits.begin(),
                               [](char c) { return static_cast<std::uint8_t>(c); });
    return bits;
}

ReadRow<SessionId> read_session_id(std::string_view bare) {
    auto const bits = parse_base64url_128(bare);
    if (!bits) return std::unexpected("the id of a session is invalid");
    return SessionId{*bits};
}

std::vector<std::string> names_of(std::string_view lines) {
    std::vector<std::string> out;
    for (std::size_t end = 0; (end = lines.find('\n')) != std::string_view::npos;) {
        out.emplace_back(lines.substr(0, end));
        lines.remove_prefix(end + 1);
    }
    return out;
}

std::string lines_of(std::vector<std::string> const& names) {
    std::string out;
    for (auto const& name : names) out += name + "\n";
    return out;
}

std::int64_t statuses_of(PendingFilter const& filter) {
    constexpr std::int64_t all_statuses = (1 << 5) - 1;
    std::int64_t set = 0;
    for (auto const status : filter.statuses) set |= std::int64_t{1} << static_cast<int>(status);
    return set == 0 ? all_statuses : set;
}

}  // namespace dormouse::port
