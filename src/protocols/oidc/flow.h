#pragma once
// One sign-in, from the redirect to the provider until the browser comes back. It is bound to the
// browser by a signed cookie; state, nonce and the PKCE verifier are computed from it, so nothing
// is stored and a restart of the server does not matter. Used ones are remembered in memory.

#include "base/crypto/sha256.h"

#include <dormouse/time.h>

#include <deque>
#include <expected>
#include <string>
#include <string_view>

namespace dormouse::oidc {

inline constexpr Duration flow_life{10 * 60'000};

struct Flow {
    std::string cookie;     // its value
    std::string state;      // sent to the provider and back
    std::string nonce;      // in the ID token
    std::string verifier;   // PKCE (RFC 7636): sent with the code
    std::string challenge;  // its SHA-256, sent with the redirect
    std::string next;       // where the sign-in leads
    Sha256 id{};            // known to this server only
    Time ends{};
};

class Flows {
public:
    // So many used ones are remembered; beyond it the oldest are forgotten, and only the provider
    // refuses their codes.
    static constexpr std::size_t used_max = 10'000;

    // `key`: what was begun under it can be resumed.
    explicit Flows(std::string key) : key_(std::move(key)) {}

    [[nodiscard]] Flow begin(Random const& random, std::string_view next, Time now) const;

    enum class Wrong : std::uint8_t {
        no_cookie,  // or one of another server
        expired,
        other_state,
        used,
    };
    // Resumes the flow of a cookie, once.
    [[nodiscard]] std::expected<Flow, Wrong> resume(std::string_view cookie, std::string_view state,
                                                    Time now);

private:
    [[nodiscard]] Flow derived(std::string_view random) const;
    [[nodiscard]] std::string signature(std::string_view text) const;

    std::string const key_;
    struct Used {
        Sha256 id;
        Time ends;
    };
    std::deque<Used> used_;  // oldest first
};

}  // namespace dormouse::oidc
