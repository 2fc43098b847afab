#include "base/crypto/public_key.h"

#include "base/check.h"
#include "base/crypto/openssl_owned.h"

#include <openssl/core_names.h>
#include <openssl/err.h>

#include <string>
#include <vector>

namespace dormouse {

namespace {

constexpr std::size_t coordinate_bytes = 32;
constexpr std::size_t modulus_bytes_max = 1'024;  // 8192 bits
constexpr int modulus_bits_min = 2'048;
constexpr std::size_t exponent_bytes_max = 4;

unsigned char const* bytes_of(std::string_view text) {
    return reinterpret_cast<unsigned char const*>(text.data());
}

openssl::Number number_of(std::string_view bytes) {
    return openssl::Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

// nullptr: OpenSSL does not accept these numbers as a key.
std::shared_ptr<EVP_PKEY> key_of(char const* type, openssl::ParameterBuilder const& builder) {
    openssl::Parameters const parameters(OSSL_PARAM_BLD_to_param(builder.get()));
    openssl::KeyContext const context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    CHECK(parameters && context);
    EVP_PKEY* key = nullptr;
    bool const made =
        EVP_PKEY_fromdata_init(context.get()) == 1 &&
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) == 1;
    ERR_clear_error();
    return made ? std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free) : nullptr;
}

// OpenSSL takes the two numbers of an ECDSA signature as DER. Empty: they are not numbers.
std::vector<unsigned char> der_of(std::string_view signature) {
    openssl::EcdsaSignature const pair(ECDSA_SIG_new());
    CHECK(pair);
    openssl::Number r = number_of(signature.substr(0, coordinate_bytes));
    openssl::Number s = number_of(signature.substr(coordinate_bytes));
    CHECK(r && s);
    CHECK(ECDSA_SIG_set0(pair.get(), r.release(), s.release()) == 1);
    unsigned char* made = nullptr;
    int const size = i2d_ECDSA_SIG(pair.get(), &made);
    if (size <= 0) return {};
    std::vector<unsigned char> out(made, made + size);
    OPENSSL_free(made);
    return out;
}

}  // namespace

std::optional<PublicKey> PublicKey::rsa(std::string_view modulus, std::string_view exponent) {
    if (modulus.size() > modulus_bytes_max || exponent.size() > exponent_bytes_max)
        return std::nullopt;
    openssl::Number const n = number_of(modulus);
    openssl::Number const e = number_of(exponent);
    CHECK(n && e);
    bool const usable = BN_num_bits(n.get()) >= modulus_bits_min && BN_is_odd(n.get()) &&
                        BN_is_odd(e.get()) && BN_num_bits(e.get()) > 1;
    if (!usable) return std::nullopt;
    openssl::ParameterBuilder const builder(OSSL_PARAM_BLD_new());
    CHECK(builder && OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) == 1);
    CHECK(OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) == 1);
    auto key = key_of("RSA", builder);
    if (!key) return std::nullopt;
    return PublicKey(std::move(key), false);
}

std::optional<PublicKey> PublicKey::p256(std::string_view x, std::string_view y) {
    if (x.size() != coordinate_bytes || y.size() != coordinate_bytes) return std::nullopt;
    constexpr char uncompressed = 4;
    std::string point(1, uncompressed);
    point.append(x).append(y);
    openssl::ParameterBuilder const builder(OSSL_PARAM_BLD_new());
    CHECK(builder);
    CHECK(OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) ==
          1);
    CHECK(OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                           point.size()) == 1);
    auto key = key_of("EC", builder);
    if (!key) return std::nullopt;
    return PublicKey(std::move(key), true);
}

bool PublicKey::verify(std::string_view message, std::string_view signature) const {
    std::vector<unsigned char> der;
    if (ecdsa_) {
        if (signature.size() != 2 * coordinate_bytes) return false;
        der = der_of(signature);
        signature = {reinterpret_cast<char const*>(der.data()), der.size()};
    }
    openssl::DigestContext const context(EVP_MD_CTX_new());
    CHECK(context);
    bool const good =
        EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
        EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                         message.size()) == 1;
    ERR_clear_error();
    return good;
}

}  // namespace dormouse
