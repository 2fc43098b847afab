#include "store/sealed/sealer.h"

#include "base/check.h"
#include "base/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>
#include <vector>

namespace dormouse::store {

namespace {

// Sealed bytes: a mark, the id of the data key, the number of its use, ciphertext and tag.
constexpr char mark = '\x01';
constexpr std::size_t number_bytes = 8;
constexpr std::size_t head_bytes = 1 + 2 * number_bytes;
constexpr std::size_t tag_bytes = 16;
static_assert(Sealer::overhead == head_bytes + tag_bytes);
constexpr std::string_view text_mark = "sealed:";
// Uses of one data key. NIST SP 800-38D permits more with nonces that are counted.
constexpr std::uint64_t uses_max = std::uint64_t{1} << 32;
constexpr std::size_t rows_at_once = 1'000;

template <class Bytes> std::string_view characters(Bytes const& bytes) {
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

void append_number(std::string& out, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

std::uint64_t number_in(std::string_view bytes) {
    std::uint64_t out = 0;
    for (char const c : bytes.substr(0, number_bytes))
        out = out << 8 | static_cast<std::uint8_t>(c);
    return out;
}

// The number of the use of the key.
AesNonce nonce_of(std::string_view number) {
    AesNonce nonce{};
    std::copy_n(number.begin(), number_bytes, nonce.end() - number_bytes);
    return nonce;
}

std::string text_of(std::uint64_t id) {
    std::string bytes;
    append_number(bytes, id);
    return hex({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
}

std::optional<std::uint64_t> id_in(std::string_view text) {
    std::uint64_t out = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
    bool const whole = error == std::errc() && end == text.data() + text.size();
    return whole && text.size() == 2 * number_bytes ? std::optional(out) : std::nullopt;
}

// Returns the values that a wrapped key is bound to.
std::string binding(port::DataKeyRow const& row) {
    return "data key\n" + row.id + "\n" + row.master + "\n" + (row.mixed ? "mixed" : "sealed");
}

std::optional<std::string> open_wrapped(MasterKeys::Key const& master,
                                        port::DataKeyRow const& row) {
    AesNonce nonce{};
    if (row.wrapped.size() < nonce.size()) return std::nullopt;
    std::copy_n(row.wrapped.begin(), nonce.size(), nonce.begin());
    return open_aes256_gcm(master.wrap, nonce, std::string_view(row.wrapped).substr(nonce.size()),
                           binding(row));
}

std::optional<std::string> bytes_in(std::string_view text) {
    if (!text.starts_with(text_mark)) return std::nullopt;
    return parse_base64(text.substr(text_mark.size()));
}

}  // namespace

Sealer::Sealer(MasterKeys masters, port::DataKeyStore& store,
               std::unique_ptr<port::Entropy> entropy)
    : masters_(std::move(masters)), store_(store), entropy_(std::move(entropy)) {}

Result<std::unique_ptr<Sealer>> Sealer::make(MasterKeys masters, port::DataKeyStore& store,
                                             std::unique_ptr<port::Entropy> entropy, bool empty) {
    std::unique_ptr<Sealer> out(new Sealer(std::move(masters), store, std::move(entropy)));
    if (auto read = out->read_keys(); !read) return std::unexpected(std::move(read.error()));
    if (out->keys_.empty() && empty) out->refuse_plain();
    return out;
}

Result<Aes256Key> Sealer::unwrapped(port::DataKeyRow const& row) const {
    auto const* const master = masters_.find(row.master);
    if (!master)
        return fail(Code::wrong_state,
                    "contents of the store are encrypted with the master key " + row.master +
                        ", and what is given is " + masters_.ids() +
                        ": give that key too, after a comma; dormouse rekey makes it unnecessary");
    auto const key = open_wrapped(*master, row);
    Aes256Key out{};
    if (!key || key->size() != out.size())
        return fail(Code::internal,
                    "the data key " + row.id +
                        " is damaged, and what it encrypts cannot be read: restore a backup");
    std::copy_n(key->begin(), out.size(), out.begin());
    return out;
}

port::DataKeyRow Sealer::wrapped(KeyId id, Aes256Key const& key) {
    auto const random = entropy_->random();
    AesNonce nonce{};
    std::copy_n(random.begin(), nonce.size(), nonce.begin());
    auto const& master = masters_.first();
    port::DataKeyRow row{text_of(id), master.id, mixed(), {}};
    row.wrapped = std::string(characters(nonce)) +
                  aes256_gcm(master.wrap, nonce, characters(key), binding(row));
    return row;
}

Result<void> Sealer::read_keys() {
    auto const rows = store_.data_keys();
    if (!rows) return std::unexpected(rows.error());
    for (port::DataKeyRow const& row : *rows) {
        auto const key = unwrapped(row);
        if (!key) return std::unexpected(key.error());
        auto const id = id_in(row.id);
        if (!id) return fail(Code::internal, "the id of the data key " + row.id + " is damaged");
        if (!row.mixed) refuse_plain();
        std::scoped_lock const held(lock_);
        keys_.insert_or_assign(*id, *key);
    }
    return {};
}

bool Sealer::mixed() const {
    std::scoped_lock const held(lock_);
    return mixed_;
}

void Sealer::refuse_plain() {
    std::scoped_lock const held(lock_);
    mixed_ = false;
}

Result<void> Sealer::prepare() {
    if (own_ && own_->used < uses_max / 2) return {};
    auto const random = entropy_->random();
    Own made{.id = number_in(characters(random)), .key = entropy_->random()};
    auto const row = wrapped(made.id, made.key);
    if (auto put = store_.put_data_keys({&row, 1}); !put) return put;
    std::scoped_lock const held(lock_);
    keys_.insert_or_assign(made.id, made.key);
    own_ = made;
    return {};
}

std::string Sealer::seal(std::string_view content, std::string_view bound) {
    CHECK(own_ && own_->used < uses_max);
    std::string out(1, mark);
    append_number(out, own_->id);
    append_number(out, ++own_->used);
    auto const nonce = nonce_of(std::string_view(out).substr(1 + number_bytes));
    return out += aes256_gcm(own_->key, nonce, content, bound);
}

std::string Sealer::seal_text(std::string_view content, std::string_view bound) {
    auto const bytes = seal(content, bound);
    return std::string(text_mark) +
           base64({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
}

std::optional<Aes256Key> Sealer::known(KeyId id) {
    std::scoped_lock const held(lock_);
    auto const found = keys_.find(id);
    return found == keys_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Aes256Key> Sealer::key_of(std::string_view stored) {
    if (stored.size() < overhead || stored.front() != mark) return std::nullopt;
    auto const id = number_in(stored.substr(1));
    if (auto const key = known(id)) return key;
    if (auto const read = read_keys(); !read) return std::nullopt;
    return known(id);
}

std::optional<std::string> Sealer::open(std::string_view stored, std::string_view bound) {
    auto const key = key_of(stored);
    if (!key) return mixed() ? std::optional(std::string(stored)) : std::nullopt;
    return open_aes256_gcm(*key, nonce_of(stored.substr(1 + number_bytes)),
                           stored.substr(head_bytes), bound);
}

std::optional<std::string> Sealer::open_text(std::string_view stored, std::string_view bound) {
    auto const bytes = bytes_in(stored);
    if (bytes && is_sealed(*bytes)) return open(*bytes, bound);
    return mixed() ? std::optional(std::string(stored)) : std::nullopt;
}

bool Sealer::is_sealed(std::string_view stored) { return key_of(stored).has_value(); }

bool Sealer::is_sealed_text(std::string_view stored) {
    auto const bytes = bytes_in(stored);
    return bytes && is_sealed(*bytes);
}

Result<std::uint64_t> Sealer::rewrap(bool all_sealed) {
    auto const rows = store_.data_keys();
    if (!rows) return std::unexpected(rows.error());
    if (all_sealed) refuse_plain();
    std::uint64_t others = 0;
    std::vector<port::DataKeyRow> out;
    for (port::DataKeyRow const& row : *rows) {
        auto const key = unwrapped(row);
        if (!key) return std::unexpected(key.error());
        if (row.master == masters_.first().id && row.mixed == mixed()) continue;
        if (row.master != masters_.first().id) ++others;
        out.push_back(wrapped(id_in(row.id).value_or(0), *key));
        if (out.size() < rows_at_once) continue;
        if (auto put = store_.put_data_keys(out); !put) return std::unexpected(put.error());
        out.clear();
    }
    if (!out.empty())
        if (auto put = store_.put_data_keys(out); !put) return std::unexpected(put.error());
    return others;
}

}  // namespace dormouse::store
