#include "base/crypto/aes_gcm.h"

#include "base/check.h"
#include "base/crypto/openssl_owned.h"

#include <openssl/evp.h>

namespace dormouse {

namespace {

constexpr int tag_bytes = 16;

unsigned char const* octets(std::string_view text) {
    return reinterpret_cast<unsigned char const*>(text.data());
}

std::string seal(EVP_CIPHER const* cipher, std::uint8_t const* key, AesNonce const& nonce,
                 std::string_view text, std::string_view bound) {
    openssl::CipherContext const context(EVP_CIPHER_CTX_new());
    CHECK(context && EVP_EncryptInit_ex2(context.get(), cipher, key, nonce.data(), nullptr) == 1);
    int written = 0;
    if (!bound.empty())
        CHECK(EVP_EncryptUpdate(context.get(), nullptr, &written, octets(bound),
                                static_cast<int>(bound.size())) == 1);
    std::string out(text.size() + tag_bytes, '\0');
    auto* const to = reinterpret_cast<unsigned char*>(out.data());
    CHECK(EVP_EncryptUpdate(context.get(), to, &written, octets(text),
                            static_cast<int>(text.size())) == 1);
    int rest = 0;
    CHECK(EVP_EncryptFinal_ex(context.get(), to + written, &rest) == 1);
    CHECK(static_cast<std::size_t>(written + rest) == text.size());
    CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, to + text.size()) ==
          1);
    return out;
}

}  // namespace

std::string aes128_gcm(AesKey const& key, AesNonce const& nonce, std::string_view text) {
    return seal(EVP_aes_128_gcm(), key.data(), nonce, text, {});
}

std::string aes256_gcm(Aes256Key const& key, AesNonce const& nonce, std::string_view text,
                       std::string_view bound) {
    return seal(EVP_aes_256_gcm(), key.data(), nonce, text, bound);
}

std::optional<std::string> open_aes256_gcm(Aes256Key const& key, AesNonce const& nonce,
                                           std::string_view sealed, std::string_view bound) {
    if (sealed.size() < tag_bytes) return std::nullopt;
    std::size_t const size = sealed.size() - tag_bytes;
    std::string tag(sealed.substr(size));
    openssl::CipherContext const context(EVP_CIPHER_CTX_new());
    CHECK(context && EVP_DecryptInit_ex2(context.get(), EVP_aes_256_gcm(), key.data(), nonce.data(),
                                         nullptr) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1);
    int written = 0;
    if (!bound.empty())
        CHECK(EVP_DecryptUpdate(context.get(), nullptr, &written, octets(bound),
                                static_cast<int>(bound.size())) == 1);
    std::string out(size, '\0');
    auto* const to = reinterpret_cast<unsigned char*>(out.data());
    CHECK(EVP_DecryptUpdate(context.get(), to, &written, octets(sealed), static_cast<int>(size)) ==
          1);
    int rest = 0;
    if (EVP_DecryptFinal_ex(context.get(), to + written, &rest) != 1) return std::nullopt;
    return out;
}

}  // namespace dormouse
