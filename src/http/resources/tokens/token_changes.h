#pragma once
// Changes of tokens, links and cookies in the store. A new one is valid in memory when the store
// has committed it; a removed one is invalid at once.

#include "http/resources/api.h"

namespace dormouse::http {

struct Minted {
    port::TokenRow row;
    std::string secret;  // returned once, stored nowhere
};

// Makes a row with a random id and the digest of a random secret that begins with `prefix`.
[[nodiscard]] Minted mint(Api& api, std::string_view prefix, port::TokenRow row,
                          std::optional<Duration> lives);
// Applies both `put` and `drop` of the change. `type` is its type in the audit log.
void change_tokens(Api& api, std::string_view type, session::Actor const& by,
                   port::TokenChange change, port::Fn<void(Result<void>)> done);
// Deletes those that have expired.
void drop_expired(Api& api);

// Reads `name`, `projects`, `agents` and the lifetime from a body.
class Body;
[[nodiscard]] port::TokenRow read_token(Api& api, Body& body);
[[nodiscard]] std::optional<Duration> read_life(Body& body, std::string_view field,
                                                std::optional<Duration> by_default, Duration most);

}  // namespace dormouse::http
