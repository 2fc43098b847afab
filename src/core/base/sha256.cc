#include "base/sha256.h"

#include "base/check.h"
#include "base/text/text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <memory>

namespace dormouse {

namespace {

// OpenSSL 3 looks up an algorithm by name under a lock: done here once for each thread.
class Hasher {
public:
    Hasher() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
        CHECK(algorithm_ && context_);
    }

    Sha256 digest(std::string_view bytes) {
        Sha256 out;
        unsigned length = 0;
        CHECK(EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1);
        CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
        CHECK(EVP_DigestFinal_ex(context_.get(), out.data(), &length) == 1);
        CHECK(length == out.size());
        return out;
    }

private:
    struct Free {
        void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD, Free> algorithm_;
    std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace

Sha256 sha256(std::string_view bytes) {
    thread_local Hasher hasher;
    return hasher.digest(bytes);
}

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
