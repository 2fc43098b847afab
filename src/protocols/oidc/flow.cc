#include "oidc/flow.h"

#include "base/text/base64url.h"
#include "oidc/keys.h"

#include "base/text/text.h"

#include <algorithm>

namespace dormouse::oidc {

namespace {

constexpr std::size_t cookie_bytes_max = 1'024;
constexpr std::size_t random_length = 43;  // 32 bytes in base64url

bool same(std::string_view a, std::string_view b) { return same_digest(sha256(a), sha256(b)); }

std::string encoded(std::string_view text) {
    return base64url({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()});
}

// Returns the text up to the next dot, and removes both.
std::string_view take_part(std::string_view& text) {
    auto const end = std::min(text.find('.'), text.size());
    std::string_view const out = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return out;
}

}  // namespace

std::string Flows::signature(std::string_view text) const {
    return base64url(hmac_sha256(key_, "oidc cookie " + std::string(text)));
}

Flow Flows::derived(std::string_view random) const {
    auto const secret = [&](std::string const& use) {
        return hmac_sha256(key_, "oidc " + use + " " + std::string(random));
    };
    Flow out;
    out.state = base64url(secret("state"));
    out.nonce = base64url(secret("nonce"));
    out.verifier = base64url(secret("verifier"));
    out.challenge = base64url(sha256(out.verifier));
    out.id = secret("id");
    return out;
}

Flow Flows::begin(Random const& random, std::string_view next, Time now) const {
    std::string const name = base64url(random);
    Flow out = derived(name);
    out.next = next;
    out.ends = now + flow_life;
    std::string const text = name + "." + std::to_string(to_ms(out.ends)) + "." + encoded(next);
    out.cookie = text + "." + signature(text);
    return out;
}

std::expected<Flow, Flows::Wrong> Flows::resume(std::string_view cookie, std::string_view state,
                                                Time now) {
    auto const dot = cookie.rfind('.');
    if (cookie.size() > cookie_bytes_max || dot == std::string_view::npos)
        return std::unexpected(Wrong::no_cookie);
    std::string_view text = cookie.substr(0, dot);
    if (!same(cookie.substr(dot + 1), signature(text))) return std::unexpected(Wrong::no_cookie);
    // From here on the text is this server's own.
    std::string_view const random = take_part(text);
    auto const ends = parse_number(take_part(text));
    auto next = parse_base64url(take_part(text));
    if (random.size() != random_length || !ends || !next) return std::unexpected(Wrong::no_cookie);
    Flow out = derived(random);
    out.next = *std::move(next);
    out.ends = from_ms(static_cast<std::int64_t>(*ends));
    if (now >= out.ends) return std::unexpected(Wrong::expired);
    if (!same(state, out.state)) return std::unexpected(Wrong::other_state);
    std::erase_if(used_, [now](Used const& one) { return one.ends <= now; });
    if (std::ranges::find(used_, out.id, &Used::id) != used_.end())
        return std::unexpected(Wrong::used);
    if (used_.size() >= used_max) used_.pop_front();
    used_.push_back({out.id, out.ends});
    return out;
}

}  // namespace dormouse::oidc
