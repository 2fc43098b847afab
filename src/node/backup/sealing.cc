#include "backup/sealing.h"

#include "backup/files.h"
#include "base/text/text.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

namespace dormouse::backup {

namespace {

constexpr std::uint64_t key_file_max = 1'024;
constexpr std::size_t nonce_bytes = std::tuple_size_v<AesNonce>;

std::optional<Aes256Key> key_in(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    return parse_hex_256(text);
}

Sha256 derived(std::string_view key, std::string_view use) {
    return hmac_sha256(key, "dormouse backup 1: " + std::string(use));
}

}  // namespace

std::optional<std::array<std::uint8_t, 32>> parse_hex_256(std::string_view text) {
    std::array<std::uint8_t, 32> out{};
    if (text.size() != 2 * out.size()) return std::nullopt;
    for (std::size_t i = 0; i < out.size(); ++i) {
        char const* const digits = text.data() + 2 * i;
        auto const [end, error] = std::from_chars(digits, digits + 2, out[i], 16);
        if (error != std::errc() || end != digits + 2) return std::nullopt;
    }
    return out;
}

// Different keys for different uses, so that none reveals anything about another.
Sealing::Sealing(Aes256Key const& key) {
    std::string_view const bytes(reinterpret_cast<char const*>(key.data()), key.size());
    keys_ = Keys{derived(bytes, "content"), derived(bytes, "names")};
    key_id_ = hex(derived(bytes, "id")).substr(0, 16);
}

Result<Sealing> Sealing::load(std::filesystem::path const& file) {
    auto const text = read_file(file, key_file_max);
    if (!text) return std::unexpected(text.error());
    struct stat found{};
    bool const open = ::stat(file.c_str(), &found) == 0 && (found.st_mode & 077) != 0;
    if (open) return fail(Code::bad_value, file.string() + " can be read by others: chmod 600 it");
    auto const key = key_in(*text);
    if (!key)
        return fail(Code::bad_value, file.string() +
                                         " must hold 64 hexadecimal digits: openssl "
                                         "rand -hex 32");
    return Sealing(*key);
}

Sha256 Sealing::name_of(std::string_view content) const {
    Sha256 const digest = sha256(content);
    if (!keys_) return digest;
    auto const bytes = [](Sha256 const& of) {
        return std::string_view(reinterpret_cast<char const*>(of.data()), of.size());
    };
    return hmac_sha256(bytes(keys_->names), bytes(digest));
}

std::string Sealing::seal(std::string_view content, std::string_view name,
                          port::Entropy& entropy) const {
    if (!keys_) return std::string(content);
    auto const random = entropy.random();
    AesNonce nonce{};
    std::copy_n(random.begin(), nonce.size(), nonce.begin());
    return std::string(reinterpret_cast<char const*>(nonce.data()), nonce.size()) +
           aes256_gcm(keys_->content, nonce, content, name);
}

std::optional<std::string> Sealing::open(std::string_view stored, std::string_view name) const {
    if (!keys_) return std::string(stored);
    if (stored.size() < nonce_bytes) return std::nullopt;
    AesNonce nonce{};
    std::copy_n(stored.begin(), nonce.size(), nonce.begin());
    return open_aes256_gcm(keys_->content, nonce, stored.substr(nonce_bytes), name);
}

}  // namespace dormouse::backup
