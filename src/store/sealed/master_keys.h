#pragma once
// The keys that a person keeps outside of the store. They encrypt the data keys, nothing else.

#include <dormouse/error.h>

#include "base/crypto/aes_gcm.h"

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::store {

class MasterKeys {
public:
    // Keys in base64, 32 bytes each, separated by commas; the first one encrypts. Errors:
    // bad_value. No error contains a part of the text.
    [[nodiscard]] static Result<MasterKeys> parse(std::string_view text);

    struct Key {
        std::string id;  // 16 hexadecimal digits; reveals nothing about the key
        Aes256Key wrap;  // derived from it
    };
    [[nodiscard]] Key const& first() const { return keys_.front(); }
    // Null: none has this id.
    [[nodiscard]] Key const* find(std::string_view id) const;
    [[nodiscard]] std::string ids() const;  // for people: "a, b"
    [[nodiscard]] std::vector<Key> const& all() const { return keys_; }

private:
    std::vector<Key> keys_;  // never empty
};

}  // namespace dormouse::store
