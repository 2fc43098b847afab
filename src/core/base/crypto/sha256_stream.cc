#include "base/crypto/sha256_stream.h"

#include "base/check.h"

#include <openssl/evp.h>

namespace dormouse {

struct Sha256Stream::Context {
    Context() : digest(EVP_MD_CTX_new()) {
        CHECK(digest && EVP_DigestInit_ex(digest, EVP_sha256(), nullptr) == 1);
    }
    ~Context() { EVP_MD_CTX_free(digest); }
    Context(Context const&) = delete;
    Context& operator=(Context const&) = delete;

    EVP_MD_CTX* const digest;
};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {}
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::add(std::string_view bytes) {
    CHECK(EVP_DigestUpdate(context_->digest, bytes.data(), bytes.size()) == 1);
}

Sha256 Sha256Stream::finish() {
    Sha256 out;
    unsigned length = 0;
    CHECK(EVP_DigestFinal_ex(context_->digest, out.data(), &length) == 1);
    CHECK(length == out.size());
    return out;
}

}  // namespace dormouse
