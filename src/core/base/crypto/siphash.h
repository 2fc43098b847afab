#pragma once
// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) of 64-bit words:
// for ids that must follow from a key without revealing it. It takes a tenth of the work of
// SHA-256. Pure.

#include <dormouse/id.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dormouse {

class SipHash {
public:
    explicit SipHash(Bits128 const& key) {
        std::uint64_t const first = word(key, 0);
        std::uint64_t const second = word(key, 8);
        a_ ^= first;
        b_ ^= second;
        c_ ^= first;
        d_ ^= second;
    }

    SipHash& add(std::uint64_t number) {
        mix(number);
        bytes_ += 8;
        return *this;
    }

    // Returns the hash of the numbers as bytes, the lowest byte of each first. REQUIRES: it is
    // called once, at the end.
    [[nodiscard]] std::uint64_t finish() {
        mix(bytes_ << 56U);
        c_ ^= 0xff;
        for (int i = 0; i < 4; ++i) round();
        return a_ ^ b_ ^ c_ ^ d_;
    }

private:
    static std::uint64_t word(Bits128 const& key, std::size_t from) {
        std::uint64_t out = 0;
        std::memcpy(&out, key.data() + from, sizeof out);
        return std::endian::native == std::endian::little ? out : __builtin_bswap64(out);
    }
    void mix(std::uint64_t number) {
        d_ ^= number;
        round();
        round();
        a_ ^= number;
    }
    void round() {
        a_ += b_;
        c_ += d_;
        b_ = std::rotl(b_, 13) ^ a_;
        d_ = std::rotl(d_, 16) ^ c_;
        a_ = std::rotl(a_, 32);
        c_ += b_;
        a_ += d_;
        b_ = std::rotl(b_, 17) ^ c_;
        d_ = std::rotl(d_, 21) ^ a_;
        c_ = std::rotl(c_, 32);
    }

    std::uint64_t a_ = 0x736f6d6570736575;
    std::uint64_t b_ = 0x646f72616e646f6d;
    std::uint64_t c_ = 0x6c7967656e657261;
    std::uint64_t d_ = 0x7465646279746573;
    std::uint64_t bytes_ = 0;
};

}  // namespace dormouse
