#include "base/crypto/sha256.h"

#include "base/check.h"
#include "base/text/text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>

namespace dormouse {

// The functions of OpenSSL 1, which 3 deprecates and still has: those that replace them allocate
// and look up four times for each digest, which costs more than the digest of a short text.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
Sha256 sha256(std::string_view bytes) {
    Sha256 out;
    SHA256_CTX context;
    CHECK(SHA256_Init(&context) == 1);
    CHECK(SHA256_Update(&context, bytes.data(), bytes.size()) == 1);
    CHECK(SHA256_Final(out.data(), &context) == 1);
    return out;
}
#pragma GCC diagnostic pop

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
    Sha256 out;
    unsigned length = 0;
    auto const* const data = reinterpret_cast<unsigned char const*>(bytes.data());
    CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, bytes.size(),
               out.data(), &length) != nullptr);
    CHECK(length == out.size());
    return out;
}

bool same_digest(Sha256 const& a, Sha256 const& b) {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

inline namespace v0 {
std::string digest_text(Sha256 const& digest) { return "sha256:" + hex(digest); }
}  // namespace v0

Bits128 draw(Random const& random, std::uint32_t n) {
    std::string bytes(random.begin(), random.end());
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        bytes.push_back(static_cast<char>(n >> shift & 0xFF));
    }
    Sha256 const digest = sha256(bytes);
    Bits128 id;
    std::copy_n(digest.begin(), id.size(), id.begin());
    return id;
}

}  // namespace dormouse
