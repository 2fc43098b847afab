#include "base/sha256.h"

#include "base/check.h"
#include "base/text.h"

#include <openssl/evp.h>

#include <algorithm>

namespace dormouse {

Sha256 sha256(std::string_view bytes) {
    Sha256 digest;
    unsigned length = 0;
    CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) ==
          1);
    CHECK(length == digest.size());
    return digest;
}

std::string digest_text(Sha256 const& digest) { return "sha256:" + hex(digest); }

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
