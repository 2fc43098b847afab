#pragma once
// Names and, with a key, encrypts the chunks of a backup. A chunk's name follows from its content,
// so that one that is stored already need not be stored again; with a key it reveals nothing.

#include <dormouse/error.h>

#include "base/crypto/aes_gcm.h"
#include "base/crypto/sha256.h"
#include "port/world.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::backup {

// A digest or a key of 64 hexadecimal digits; nullopt: it is something else.
[[nodiscard]] std::optional<std::array<std::uint8_t, 32>> parse_hex_256(std::string_view text);

class Sealing {
public:
    Sealing() = default;  // nothing is encrypted
    explicit Sealing(Aes256Key const& key);

    // Reads a key: 64 hexadecimal digits. Errors: bad_value, also for a file that others may read.
    [[nodiscard]] static Result<Sealing> load(std::filesystem::path const& file);

    [[nodiscard]] bool encrypts() const { return keys_.has_value(); }
    // Tells one key from another: 16 hexadecimal digits; empty: nothing is encrypted.
    [[nodiscard]] std::string const& key_id() const { return key_id_; }
    [[nodiscard]] Sha256 name_of(std::string_view content) const;
    // Returns the bytes to store under `name`.
    [[nodiscard]] std::string seal(std::string_view content, std::string_view name,
                                   port::Entropy& entropy) const;
    // nullopt: damaged, or sealed with another key or name.
    [[nodiscard]] std::optional<std::string> open(std::string_view stored,
                                                  std::string_view name) const;

private:
    struct Keys {
        Aes256Key content;
        Sha256 names;
    };
    std::optional<Keys> keys_;
    std::string key_id_;
};

}  // namespace dormouse::backup
