#include "base/sha256.h"
#include "port/store_rows.h"

namespace dormouse::port {

namespace {

constexpr int seq_bits = 24;  // as in the key of a stored frame (store/sqlite/layout.h)

void append_big_endian(std::string& out, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

}  // namespace

Stamp stamp_of(SessionId session, Frame const& frame) {
    std::string text;
    text.reserve(16 + frame.bytes.size());
    append_big_endian(text, session.number() << seq_bits | frame.first);
    append_big_endian(text, frame.count);
    text += frame.bytes;
    auto const digest = sha256(text);
    std::uint64_t stamp = 0;
    for (std::size_t i = 0; i < 8; ++i) stamp = stamp << 8 | digest[i];
    return Stamp{stamp};
}

AppendResult moved(SessionId session) {
    AppendError error(Error{Code::store_unavailable,
                            "Another append to " + session.text() + " came first.",
                            {},
                            1'000});
    error.cause = AppendError::Cause::moved;
    return std::unexpected(std::move(error));
}

AppendResult fenced() {
    AppendError error(Error{Code::store_unavailable,
                            "The other servers took this one for gone; it joins them again.",
                            {},
                            1'000});
    error.cause = AppendError::Cause::fenced;
    return std::unexpected(std::move(error));
}

}  // namespace dormouse::port
