#pragma once
// Tokens, links and cookies on their way into the store. What the store has taken holds in memory
// from the same moment on.

#include "http/resources/api.h"

namespace dormouse::server {

struct Minted {
    port::TokenRow row;
    std::string secret;  // told once, kept nowhere
};

// A row with a fresh id and the digest of a fresh secret, which begins with `prefix`.
[[nodiscard]] Minted mint(Api& api, std::string_view prefix, port::TokenRow row,
                          std::optional<Duration> lives);
// `type`: what the audit calls it. Both `put` and `drop` of the change are applied.
void change_tokens(Api& api, std::string_view type, session::Actor const& by,
                   port::TokenChange change, port::Fn<void(Result<void>)> done);
// Those that have expired go.
void drop_expired(Api& api);

[[nodiscard]] std::string token_object(Principal const& principal);
// `name`, `projects`, `agents` and how long it lives, of a body.
class Body;
[[nodiscard]] port::TokenRow read_token(Api& api, Body& body);
[[nodiscard]] std::optional<Duration> read_life(Body& body, std::string_view field,
                                                std::optional<Duration> usual, Duration most);

}  // namespace dormouse::server
