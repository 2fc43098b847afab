#include "backup/gzip.h"

#include <boost/beast/zlib.hpp>
#include <boost/crc.hpp>

#include <array>
#include <cstddef>

namespace dormouse::backup {

namespace {

namespace zlib = boost::beast::zlib;

// Deflate, no name, no time, Unix.
constexpr std::array<unsigned char, 10> header{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
constexpr std::size_t trailer_bytes = 8;  // the checksum and the size of the text

std::uint32_t checksum(std::string_view text) {
    boost::crc_32_type sum;
    sum.process_bytes(text.data(), text.size());
    return sum.checksum();
}

void put_little_endian(std::uint32_t number, std::string& out) {
    for (int i = 0; i < 4; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

std::uint32_t little_endian(std::string_view bytes) {
    std::uint32_t out = 0;
    for (std::size_t i = 4; i > 0; --i) out = out << 8 | static_cast<unsigned char>(bytes[i - 1]);
    return out;
}

// Passes `in` through `stream` until its end; false: it is damaged, or longer than `bytes_max`. Up
// to `left` bytes follow the end: Beast's decoder may want more bits than the last code has.
template <class Stream>
bool pass(Stream& stream, zlib::Flush flush, std::string_view in, std::uint64_t bytes_max,
          std::size_t left, std::string& out) {
    std::array<char, 64 * 1024> piece{};
    zlib::z_params at;
    at.next_in = in.data();
    at.avail_in = in.size();
    for (;;) {
        at.next_out = piece.data();
        at.avail_out = piece.size();
        boost::beast::error_code error;
        stream.write(at, flush, error);
        std::size_t const made = piece.size() - at.avail_out;
        if (out.size() + made > bytes_max) return false;
        out.append(piece.data(), made);
        if (error == zlib::error::end_of_stream) return at.avail_in <= left;
        if (error || (made == 0 && at.avail_in == 0)) return false;
    }
}

std::unexpected<Error> damaged() { return fail(Code::bad_value, "its bytes are damaged"); }

}  // namespace

std::string gzip(std::string_view text) {
    std::string out(header.begin(), header.end());
    zlib::deflate_stream stream;
    (void)pass(stream, zlib::Flush::finish, text, UINT64_MAX, 0, out);
    put_little_endian(checksum(text), out);
    put_little_endian(static_cast<std::uint32_t>(text.size()), out);
    return out;
}

Result<std::string> gunzip(std::string_view member, std::uint64_t bytes_max) {
    std::string_view const begin(reinterpret_cast<char const*>(header.data()), header.size());
    if (member.size() < header.size() + trailer_bytes || !member.starts_with(begin))
        return damaged();
    auto const trailer = member.substr(member.size() - trailer_bytes);
    auto const data = member.substr(begin.size());
    std::string out;
    zlib::inflate_stream stream;
    if (!pass(stream, zlib::Flush::sync, data, bytes_max, trailer_bytes, out)) {
        if (out.size() + (64 * 1024) > bytes_max)
            return fail(Code::too_large,
                        "it has more than " + std::to_string(bytes_max) + " bytes, or is damaged");
        return damaged();
    }
    bool const same = little_endian(trailer) == checksum(out) &&
                      little_endian(trailer.substr(4)) == static_cast<std::uint32_t>(out.size());
    if (!same) return damaged();
    return out;
}

}  // namespace dormouse::backup
