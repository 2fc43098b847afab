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
// The fields of a change in the audit log, besides the token.
struct ChangeNote {
    std::string_view type;
    session::Actor by;
    std::string issuer = {};  // of a sign-in with OIDC, and the person's subject there
    std::string subject = {};
};
// Applies both `put` and `drop` of the change, with its own audit line if it has one.
void change_tokens(Api& api, ChangeNote const& note, port::TokenChange change,
                   port::Fn<void(Result<void>)> done);
// Revokes a built-in token for all processes of the store, also for those that begin with its
// secret later. It is invalid when `done` is called.
void revoke_built_in(Api& api, ChangeNote const& note, Principal const& principal,
                     port::Fn<void(Result<void>)> done);
// Deletes those that have expired.
void drop_expired(Api& api);

// Returns true if a token may have this name: [A-Za-z0-9_.@-]{1,64}.
[[nodiscard]] bool is_token_name(std::string_view text);

// Reads `name`, `projects`, `agents` and the lifetime from a body.
class Body;
[[nodiscard]] port::TokenRow read_token(Api& api, Body& body);
[[nodiscard]] std::optional<Duration> read_life(Body& body, std::string_view field,
                                                std::optional<Duration> by_default, Duration most);

}  // namespace dormouse::http
