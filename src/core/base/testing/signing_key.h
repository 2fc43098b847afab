#pragma once
// A key pair that signs in tests: RSA or ECDSA on P-256, with SHA-256.

#include "base/check.h"
#include "base/crypto/public_key.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::testing {

class SigningKey {
public:
    [[nodiscard]] static SigningKey rsa(unsigned bits = 2'048) {
        return {EVP_RSA_gen(bits), false};
    }
    [[nodiscard]] static SigningKey p256() { return {EVP_EC_gen("P-256"), true}; }

    // A number of the public key: "n", "e", "qx", "qy".
    [[nodiscard]] std::string number(char const* name) const {
        BIGNUM* value = nullptr;
        CHECK(EVP_PKEY_get_bn_param(key_.get(), name, &value) == 1);
        std::string out(static_cast<std::size_t>(ecdsa_ ? 32 : BN_num_bytes(value)), '\0');
        CHECK(BN_bn2binpad(value, bytes(out), static_cast<int>(out.size())) > 0);
        BN_free(value);
        return out;
    }

    [[nodiscard]] std::string sign(std::string_view message) const {
        std::shared_ptr<EVP_MD_CTX> const context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
        auto const* const data = reinterpret_cast<unsigned char const*>(message.data());
        std::string out(2'048, '\0');
        std::size_t size = out.size();
        CHECK(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1);
        CHECK(EVP_DigestSign(context.get(), bytes(out), &size, data, message.size()) == 1);
        out.resize(size);
        return ecdsa_ ? two_numbers(out) : out;
    }

    [[nodiscard]] PublicKey public_key() const {
        auto out = ecdsa_ ? PublicKey::p256(number("qx"), number("qy"))
                          : PublicKey::rsa(number("n"), number("e"));
        CHECK(out);
        return *out;
    }

private:
    SigningKey(EVP_PKEY* key, bool ecdsa) : key_(key, EVP_PKEY_free), ecdsa_(ecdsa) { CHECK(key); }

    static unsigned char* bytes(std::string& text) {
        return reinterpret_cast<unsigned char*>(text.data());
    }

    static std::string two_numbers(std::string const& der) {
        auto const* at = reinterpret_cast<unsigned char const*>(der.data());
        std::shared_ptr<ECDSA_SIG> const pair(
            d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), ECDSA_SIG_free);
        CHECK(pair);
        std::string out(64, '\0');
        CHECK(BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), bytes(out), 32) == 32);
        CHECK(BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), bytes(out) + 32, 32) == 32);
        return out;
    }

    std::shared_ptr<EVP_PKEY> key_;
    bool ecdsa_;
};

}  // namespace dormouse::testing
