#include "store/sealed/master_keys.h"

#include "base/crypto/sha256.h"
#include "base/text/cut.h"
#include "base/text/text.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace dormouse::store {

namespace {

constexpr std::size_t keys_max = 100;

Sha256 derived(std::string_view key, std::string_view use) {
    return hmac_sha256(key, "dormouse content 1: " + std::string(use));
}

// Different keys for different uses, so that none reveals anything about another.
std::optional<MasterKeys::Key> key_of(std::string_view text) {
    auto const bytes = parse_base64(text);
    if (!bytes || bytes->size() != std::tuple_size_v<Aes256Key>) return std::nullopt;
    return MasterKeys::Key{hex(derived(*bytes, "id")).substr(0, 16), derived(*bytes, "wrap")};
}

}  // namespace

Result<MasterKeys> MasterKeys::parse(std::string_view text) {
    MasterKeys out;
    for (std::size_t end = 0; end != std::string_view::npos;) {
        end = text.find(',');
        auto key = key_of(trimmed(text.substr(0, end)));
        if (!key)
            return fail(Code::bad_value, "key " + std::to_string(out.keys_.size() + 1) +
                                             " is invalid: expected base64 of 32 bytes, as openssl "
                                             "rand -base64 32 makes it; several keys are separated "
                                             "by commas");
        if (out.find(key->id))
            return fail(Code::bad_value,
                        "key " + std::to_string(out.keys_.size() + 1) + " is there twice");
        if (out.keys_.size() == keys_max)
            return fail(Code::bad_value,
                        "there are more than " + std::to_string(keys_max) + " keys");
        out.keys_.push_back(*std::move(key));
        if (end != std::string_view::npos) text.remove_prefix(end + 1);
    }
    return out;
}

MasterKeys::Key const* MasterKeys::find(std::string_view id) const {
    auto const found = std::ranges::find(keys_, id, &Key::id);
    return found == keys_.end() ? nullptr : &*found;
}

std::string MasterKeys::ids() const {
    std::string out;
    for (Key const& key : keys_) out += (out.empty() ? "" : ", ") + key.id;
    return out;
}

}  // namespace dormouse::store
