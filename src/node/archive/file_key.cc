#include "archive/file_key.h"

#include "base/check.h"

#include <algorithm>
#include <tuple>

namespace dormouse::archive {

namespace {

constexpr std::size_t number_bytes = 8;
constexpr std::size_t nonce_bytes = std::tuple_size_v<AesNonce>;

std::string bound_key(std::string const& master) { return "archive key\n" + master; }

std::string characters(auto const& bytes) { return {bytes.begin(), bytes.end()}; }

AesNonce nonce_of(std::string_view number) {
    AesNonce nonce{};
    std::ranges::copy(number, nonce.end() - number_bytes);
    return nonce;
}

std::string number_text(std::uint64_t number) {
    std::string out;
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
    return out;
}

}  // namespace

FileKey FileKey::make(port::Entropy& entropy) {
    FileKey out(entropy.random());
    out.may_seal_ = true;
    return out;
}

Result<FileKey> FileKey::unwrap(WrappedKey const& wrapped, store::MasterKeys const* masters) {
    std::string const what = "it is encrypted with the master key " + wrapped.master;
    if (!masters)
        return fail(Code::wrong_state, what + ": name the variable that holds it by --key-env");
    auto const* const master = masters->find(wrapped.master);
    if (!master)
        return fail(Code::wrong_state, what + ", and what is given is " + masters->ids() +
                                           ": give that key too, after a comma");
    auto const damaged = fail(Code::bad_value, "the key in its index is damaged");
    if (wrapped.bytes.size() < nonce_bytes) return damaged;
    AesNonce nonce{};
    std::copy_n(wrapped.bytes.begin(), nonce_bytes, nonce.begin());
    auto const key =
        open_aes256_gcm(master->wrap, nonce, std::string_view(wrapped.bytes).substr(nonce_bytes),
                        bound_key(wrapped.master));
    Aes256Key out{};
    if (!key || key->size() != out.size()) return damaged;
    std::copy_n(key->begin(), out.size(), out.begin());
    return FileKey(out);
}

WrappedKey FileKey::wrap(store::MasterKeys const& masters, port::Entropy& entropy) const {
    auto const random = entropy.random();
    AesNonce nonce{};
    std::copy_n(random.begin(), nonce_bytes, nonce.begin());
    auto const& master = masters.first();
    return {master.id, characters(nonce) +
                           aes256_gcm(master.wrap, nonce, characters(key_), bound_key(master.id))};
}

void FileKey::continue_at_random(port::Entropy& entropy) {
    constexpr std::uint64_t first = std::uint64_t{1} << 63, room = std::uint64_t{1} << 32;
    auto const random = entropy.random();
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8 | random[i];
    used_ = first | (number % (first - room));
    may_seal_ = true;
}

std::string FileKey::seal(std::string_view content, std::string_view bound) {
    CHECK(may_seal_);
    std::string const number = number_text(++used_);
    return number + aes256_gcm(key_, nonce_of(number), content, bound);
}

std::optional<std::string> FileKey::open(std::string_view sealed, std::string_view bound) const {
    if (sealed.size() < number_bytes) return std::nullopt;
    return open_aes256_gcm(key_, nonce_of(sealed.substr(0, number_bytes)),
                           sealed.substr(number_bytes), bound);
}

}  // namespace dormouse::archive
