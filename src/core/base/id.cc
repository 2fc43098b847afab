#include <dormouse/id.h>

#include "base/check.h"
#include "base/text/append.h"
#include "base/text/text.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace dormouse::inline v0 {

namespace {

constexpr std::size_t id_length_max = 64;  // docs: ids match [A-Za-z0-9_-]{8,64}
constexpr std::size_t bare_length = 22;
constexpr std::size_t number_bytes = 5;

std::optional<std::string_view> without(std::string_view prefix, std::string_view text) {
    if (text.size() > id_length_max || !text.starts_with(prefix)) {
        return std::nullopt;
    }
    return text.substr(prefix.size());
}

// Removes the 22 characters of 16 bytes from the front. They can contain '_', so the length
// decides.
std::optional<Bits128> take_bits(std::string_view& text) {
    auto const bits = parse_base64url_128(text.substr(0, bare_length));
    if (bits) {
        text.remove_prefix(bare_length);
    }
    return bits;
}

// Removes "_<number>" from the front.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    if (!text.starts_with('_')) {
        return std::nullopt;
    }
    std::size_t const end = std::min(text.find('_', 1), text.size());
    auto const number = parse_number(text.substr(1, end - 1));
    if (number) {
        text.remove_prefix(end);
    }
    return number;
}

// Calls and generations count from 1.
std::optional<std::uint32_t> take_count(std::string_view& text) {
    auto const number = take_number(text);
    if (!number || *number == 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(*number);
}

bool is_part_id(std::string_view text) {
    auto rest = without("prt_", text);
    return rest && take_bits(*rest) && take_number(*rest) && take_number(*rest) && rest->empty();
}

}  // namespace

SessionId SessionId::make(std::uint64_t number, Bits128 random) {
    CHECK(number < std::uint64_t{1} << (8 * number_bytes));
    for (std::size_t i = number_bytes; i-- > 0; number >>= 8) {
        random[i] = static_cast<std::uint8_t>(number & 0xFF);
    }
    return SessionId{random};
}

std::optional<SessionId> SessionId::parse(std::string_view text) {
    auto const rest = without("ses_", text);
    auto const bits = rest ? parse_base64url_128(*rest) : std::nullopt;
    return bits ? std::optional(SessionId{*bits}) : std::nullopt;
}

std::uint64_t SessionId::number() const {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < number_bytes; ++i) {
        number = number << 8 | bytes[i];
    }
    return number;
}

std::string SessionId::bare() const { return base64url(bytes); }

std::string SessionId::text() const {
    std::string out;
    out.reserve(4 + bare_length);
    out += "ses_";
    append_base64url(out, bytes);
    return out;
}

std::optional<PendingId> PendingId::parse(std::string_view text) {
    auto rest = without("pnd_", text);
    auto const session = rest ? take_bits(*rest) : std::nullopt;
    auto const call = session ? take_count(*rest) : std::nullopt;
    auto const generation = call ? take_count(*rest) : std::nullopt;
    if (!generation || !rest->starts_with('_')) {
        return std::nullopt;
    }
    auto const nonce = parse_base64url_128(rest->substr(1));
    if (!nonce) {
        return std::nullopt;
    }
    return PendingId{SessionId{*session}, *call, *generation, *nonce};
}

std::string PendingId::text() const {
    std::string out;
    out.reserve(id_length_max + bare_length);
    out += "pnd_";
    append_base64url(out, session.bytes);
    out += '_';
    append_number(out, call);
    out += '_';
    append_number(out, generation);
    out += '_';
    append_base64url(out, nonce);
    return out;
}

std::string numbered_id(std::string_view prefix, SessionId const& session, std::uint64_t number) {
    std::string out;
    out.reserve(prefix.size() + bare_length + 21);
    out += prefix;
    append_base64url(out, session.bytes);
    out += '_';
    append_number(out, number);
    return out;
}

std::optional<NumberedId> parse_numbered(std::string_view prefix, std::string_view text) {
    auto rest = without(prefix, text);
    auto const session = rest ? take_bits(*rest) : std::nullopt;
    auto const number = session ? take_number(*rest) : std::nullopt;
    if (!number || *number == 0 || !rest->empty()) {
        return std::nullopt;
    }
    return NumberedId{SessionId{*session}, *number};
}

std::optional<SessionId> session_of(std::string_view id) {
    if (auto const session = SessionId::parse(id)) {
        return session;
    }
    if (auto const pending = PendingId::parse(id)) {
        return pending->session;
    }
    for (std::string_view const prefix :
         {"trn_", "msg_", "rcp_", "art_", "rul_", "tsk_", "mail_"}) {
        if (auto const numbered = parse_numbered(prefix, id)) {
            return numbered->session;
        }
    }
    if (id.starts_with("dlv_")) {
        constexpr std::size_t number_at = 4 + bare_length + 1;
        auto const end = id.find('_', number_at);
        if (end == std::string_view::npos) return std::nullopt;
        auto const delivery = parse_numbered("dlv_", id.substr(0, end));
        return delivery ? std::optional(delivery->session) : std::nullopt;
    }
    if (is_part_id(id)) {
        return SessionId{*parse_base64url_128(id.substr(4, bare_length))};
    }
    return std::nullopt;
}

}  // namespace dormouse::inline v0

// Ids of one store may differ only in their numbers, when a test's randomness is constant. The
// finalizer of splitmix64 spreads each bit over the whole hash.
std::size_t std::hash<dormouse::SessionId>::operator()(
    dormouse::SessionId const& id) const noexcept {
    auto const [high, low] = std::bit_cast<std::array<std::uint64_t, 2>>(id.bytes);
    auto const spread = [](std::uint64_t x) {
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
        x = (x ^ x >> 27) * 0x94D049BB133111EB;
        return x ^ x >> 31;
    };
    return spread(spread(high + 0x9E3779B97F4A7C15) ^ low);
}
