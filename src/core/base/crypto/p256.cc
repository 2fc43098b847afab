#include "base/crypto/p256.h"

#include "base/check.h"
#include "base/crypto/openssl_owned.h"

#include <openssl/core_names.h>

#include <algorithm>
#include <vector>

namespace dormouse {

namespace {

openssl::Group curve() {
    openssl::Group out(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
    CHECK(out);
    return out;
}

openssl::Number number_of(P256Secret const& secret) {
    openssl::Number out(BN_new());
    CHECK(out && BN_bin2bn(secret.data(), static_cast<int>(secret.size()), out.get()));
    return out;
}

openssl::Key key_of(P256Secret const& secret) {
    auto const point = p256_public(secret);
    openssl::Number const number = number_of(secret);
    openssl::ParameterBuilder const builder(OSSL_PARAM_BLD_new());
    CHECK(point && builder);
    CHECK(OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0));
    CHECK(OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point->data(),
                                           point->size()));
    CHECK(OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get()));
    openssl::Parameters const params(OSSL_PARAM_BLD_to_param(builder.get()));
    openssl::KeyContext const context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
    CHECK(params && context && EVP_PKEY_fromdata_init(context.get()) == 1);
    EVP_PKEY* made = nullptr;
    CHECK(EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, params.get()) == 1);
    return openssl::Key(made);
}

// OpenSSL signs in DER; JWS wants both numbers in 32 bytes each.
P256Signature plain(std::vector<unsigned char> const& der) {
    unsigned char const* from = der.data();
    openssl::EcdsaSignature const read(
        d2i_ECDSA_SIG(nullptr, &from, static_cast<long>(der.size())));
    CHECK(read);
    P256Signature out{};
    CHECK(BN_bn2binpad(ECDSA_SIG_get0_r(read.get()), out.data(), 32) == 32);
    CHECK(BN_bn2binpad(ECDSA_SIG_get0_s(read.get()), out.data() + 32, 32) == 32);
    return out;
}

}  // namespace

std::optional<P256Point> p256_public(P256Secret const& secret) {
    openssl::Group const group = curve();
    openssl::Number const number = number_of(secret);
    BIGNUM const* const order = EC_GROUP_get0_order(group.get());
    if (BN_is_zero(number.get()) || BN_cmp(number.get(), order) >= 0) return std::nullopt;
    openssl::Point const point(EC_POINT_new(group.get()));
    CHECK(point && EC_POINT_mul(group.get(), point.get(), number.get(), nullptr, nullptr, nullptr));
    P256Point out{};
    CHECK(EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, out.data(),
                             out.size(), nullptr) == out.size());
    return out;
}

std::optional<P256Point> parse_p256_point(std::string_view bytes) {
    P256Point out{};
    if (bytes.size() != out.size() || bytes.front() != POINT_CONVERSION_UNCOMPRESSED)
        return std::nullopt;
    std::ranges::transform(bytes, out.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    openssl::Group const group = curve();
    openssl::Point const point(EC_POINT_new(group.get()));
    // OpenSSL refuses what is not on the curve.
    bool const valid =
        EC_POINT_oct2point(group.get(), point.get(), out.data(), out.size(), nullptr) == 1;
    return valid ? std::optional(out) : std::nullopt;
}

// The x coordinate of the peer's point times the secret (SEC 1, 3.3.1). OpenSSL's EVP interface
// checks both keys again each time, which costs five times as much.
Sha256 p256_agree(P256Secret const& own, P256Point const& peer) {
    openssl::Group const group = curve();
    openssl::Number const number = number_of(own);
    openssl::Point const point(EC_POINT_new(group.get()));
    openssl::Number const x(BN_new());
    CHECK(point && x);
    CHECK(EC_POINT_oct2point(group.get(), point.get(), peer.data(), peer.size(), nullptr) == 1);
    CHECK(EC_POINT_mul(group.get(), point.get(), nullptr, point.get(), number.get(), nullptr) == 1);
    CHECK(EC_POINT_get_affine_coordinates(group.get(), point.get(), x.get(), nullptr, nullptr) ==
          1);
    Sha256 out{};
    CHECK(BN_bn2binpad(x.get(), out.data(), static_cast<int>(out.size())) ==
          static_cast<int>(out.size()));
    return out;
}

P256Signature es256(P256Secret const& secret, std::string_view text) {
    openssl::Key const key = key_of(secret);
    openssl::DigestContext const context(EVP_MD_CTX_new());
    CHECK(context &&
          EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1);
    auto const* const bytes = reinterpret_cast<unsigned char const*>(text.data());
    std::size_t length = 0;
    CHECK(EVP_DigestSign(context.get(), nullptr, &length, bytes, text.size()) == 1);
    std::vector<unsigned char> der(length);
    CHECK(EVP_DigestSign(context.get(), der.data(), &length, bytes, text.size()) == 1);
    der.resize(length);
    return plain(der);
}

}  // namespace dormouse
