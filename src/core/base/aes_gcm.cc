#include "base/aes_gcm.h"

#include "base/check.h"
#include "base/openssl_owned.h"

#include <openssl/evp.h>

namespace dormouse {

namespace {

constexpr int tag_bytes = 16;

}  // namespace

std::string aes128_gcm(AesKey const& key, AesNonce const& nonce, std::string_view text) {
    openssl::CipherContext const context(EVP_CIPHER_CTX_new());
    CHECK(context && EVP_EncryptInit_ex2(context.get(), EVP_aes_128_gcm(), key.data(), nonce.data(),
                                         nullptr) == 1);
    std::string out(text.size() + tag_bytes, '\0');
    auto* const to = reinterpret_cast<unsigned char*>(out.data());
    auto const* const from = reinterpret_cast<unsigned char const*>(text.data());
    int written = 0;
    CHECK(EVP_EncryptUpdate(context.get(), to, &written, from, static_cast<int>(text.size())) == 1);
    int rest = 0;
    CHECK(EVP_EncryptFinal_ex(context.get(), to + written, &rest) == 1);
    CHECK(static_cast<std::size_t>(written + rest) == text.size());
    CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, to + text.size()) ==
          1);
    return out;
}

}  // namespace dormouse
