#pragma once
// The key of one file of an archive: random, used for this file and its later versions alone, and
// encrypted with a master key (docs/format.md#encrypted-files-of-an-archive). Pure.

#include <dormouse/error.h>

#include "base/crypto/aes_gcm.h"
#include "port/world.h"
#include "store/sealed/master_keys.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::archive {

// As the index of the file has it.
struct WrappedKey {
    std::string master;  // id of the master key
    std::string bytes;
};

class FileKey {
public:
    [[nodiscard]] static FileKey make(port::Entropy& entropy);
    // Errors: wrong_state (`masters` lacks the master key; null: none is given; the error names
    // it), bad_value (damaged).
    [[nodiscard]] static Result<FileKey> unwrap(WrappedKey const& wrapped,
                                                store::MasterKeys const* masters);
    // Returns the key encrypted with the first of these.
    [[nodiscard]] WrappedKey wrap(store::MasterKeys const& masters, port::Entropy& entropy) const;

    // Before the first seal() of a key that has encrypted other pieces, which nobody has counted:
    // later numbers are random ones that make() never reaches.
    void continue_at_random(port::Entropy& entropy);
    // REQUIRES: the key is from make(), or continue_at_random() was called. Each piece has a number
    // of its own, which is the nonce.
    [[nodiscard]] std::string seal(std::string_view content, std::string_view bound);
    // nullopt: damaged, or of another place.
    [[nodiscard]] std::optional<std::string> open(std::string_view sealed,
                                                  std::string_view bound) const;

private:
    explicit FileKey(Aes256Key const& key) : key_(key) {}

    Aes256Key key_;
    std::uint64_t used_ = 0;
    bool may_seal_ = false;  // no other piece has a number after used_
};

}  // namespace dormouse::archive
