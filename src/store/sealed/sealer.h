#pragma once
// Encrypts the contents of one store with AES-256-GCM; docs/design/encryption.md has the forms.
//
// seal() and prepare() are called by the thread that writes the store, open() also by the one that
// reads it.

#include "port/data_keys.h"
#include "port/world.h"
#include "store/sealed/master_keys.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::store {

class Sealer {
public:
    // Decrypts the data keys of the store. Errors: wrong_state (a data key is encrypted with a
    // master key that is not among `masters`), internal (a data key is damaged). `store` outlives
    // it. `empty`: the store has no contents yet.
    [[nodiscard]] static Result<std::unique_ptr<Sealer>> make(
        MasterKeys masters, port::DataKeyStore& store, std::unique_ptr<port::Entropy> entropy,
        bool empty);

    // Makes a data key, unless there is one for seal(). Called before seal() calls, at least once
    // for each 2^31 of them.
    [[nodiscard]] Result<void> prepare();
    // REQUIRES: prepare() succeeded. As bytes, or as a text of ASCII.
    [[nodiscard]] std::string seal(std::string_view content, std::string_view bound);
    [[nodiscard]] std::string seal_text(std::string_view content, std::string_view bound);
    // Returns the content that seal() and seal_text() got. Contents from before the store was
    // encrypted are returned as they are, unless nothing of that kind is left. nullopt: damaged, or
    // from elsewhere.
    [[nodiscard]] std::optional<std::string> open(std::string_view stored, std::string_view bound);
    [[nodiscard]] std::optional<std::string> open_text(std::string_view stored,
                                                       std::string_view bound);

    static constexpr std::size_t overhead = 33;  // of seal(), in bytes

    // Returns true if the bytes or the text are sealed with a data key of this store.
    [[nodiscard]] bool is_sealed(std::string_view stored);
    [[nodiscard]] bool is_sealed_text(std::string_view stored);
    // Returns true if contents that are not encrypted are accepted.
    [[nodiscard]] bool mixed() const;

    // Encrypts all data keys with the first master key again. `all_sealed`: from now on contents
    // that are not encrypted are damage. Returns how many were encrypted with another one.
    [[nodiscard]] Result<std::uint64_t> rewrap(bool all_sealed);

private:
    using KeyId = std::uint64_t;

    Sealer(MasterKeys masters, port::DataKeyStore& store, std::unique_ptr<port::Entropy> entropy);

    [[nodiscard]] Result<void> read_keys();
    [[nodiscard]] Result<Aes256Key> unwrapped(port::DataKeyRow const& row) const;
    [[nodiscard]] port::DataKeyRow wrapped(KeyId id, Aes256Key const& key);
    // The key that sealed these bytes. Another process may have made it meanwhile. nullopt: none.
    [[nodiscard]] std::optional<Aes256Key> key_of(std::string_view stored);
    [[nodiscard]] std::optional<Aes256Key> known(KeyId id);
    void refuse_plain();

    MasterKeys const masters_;
    port::DataKeyStore& store_;
    std::unique_ptr<port::Entropy> const entropy_;

    // Used by the writer alone: a key that no other process and no earlier start has used, and how
    // often it was used. The number is the nonce, so none ever repeats.
    struct Own {
        KeyId id = 0;
        Aes256Key key{};
        std::uint64_t used = 0;
    };
    std::optional<Own> own_;

    mutable std::mutex lock_;  // of the next two
    bool mixed_ = true;
    std::map<KeyId, Aes256Key> keys_;
};

}  // namespace dormouse::store
