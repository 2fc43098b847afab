#include "http/resources/shared_access.h"
#include "http/resources/tokens/handlers.h"
#include "http/resources/tokens/token_changes.h"
#include "http/resources/tokens/token_fields.h"

// Tokens. The secret is returned once, when the token is created.
namespace dormouse::http {

namespace {

constexpr Duration life_max{std::int64_t{10} * 366 * 86'400'000};

std::optional<Error> refuse_more(Api& api) {
    drop_expired(api);
    if (api.services().gate.tokens().size() < Tokens::most) return std::nullopt;
    return Error{Code::wrong_state, "There are 10,000 tokens; revoke some.", {}, 0};
}

// Without one nobody could make a token after the first one is revoked.
bool has_other_admin(Tokens const& tokens, Principal const& first) {
    auto const others = [&](PrincipalPtr const& one) {
        return one->row.kind == "token" && one->role == Role::admin && one->for_all_projects() &&
               !one->row.expires && one->row.secret != first.row.secret;
    };
    return std::ranges::any_of(tokens.all(), others);
}

// Why a built-in token cannot be revoked here; empty: it can.
std::string refuse_built_in(Api& api, Principal const& principal) {
    if (principal.row.id == "env")
        return "The token comes from $DORMOUSE_TOKEN. Restart the server without it to revoke it.";
    // A store in memory would forget that it is revoked, and the file has it still.
    if (principal.row.id != "first" || api.services().facts.data.empty())
        return "This is the data directory's file `token`; delete it and start the server again, "
               "and it makes another one.";
    if (!has_other_admin(api.services().gate.tokens(), principal))
        return "No other token could create tokens. Create one with role admin for all projects "
               "and without an expiry first (dormouse token create NAME --role admin).";
    return {};
}

void delete_built_in(Api& api, ExchangePtr const& x, Principal const& principal) {
    if (auto why = refuse_built_in(api, principal); !why.empty())
        return x->fail({Code::wrong_state, std::move(why), {}, 0});
    revoke_built_in(api, {"token_revoked", x->by}, principal, [x](Result<void> done) {
        if (!done) return x->fail(done.error());
        x->empty(204);
    });
}

void delete_known_token(Api& api, ExchangePtr const& x) {
    auto const principal = api.services().gate.tokens().find_id(x->params[0]);
    if (!principal) return x->fail(not_found());
    if (principal->built_in) return delete_built_in(api, x, *principal);
    change_tokens(api, {"token_revoked", x->by}, {.drop = x->params[0]}, [x](Result<void> done) {
        if (!done && done.error().code == Code::conflict) return x->fail(not_found());
        if (!done) return x->fail(done.error());
        x->empty(204);
    });
}

}  // namespace

void list_tokens(Api& api, ExchangePtr const& x) {
    with_newest_access(api, x, [&api, x] {
        auto const all = api.services().gate.tokens().all();
        auto const objects = all | std::views::transform([](auto const& one) { return Ref(*one); });
        x->json(200, list_text(objects, {}));
    });
}

// Returns the token of the caller, for the page.
void get_me(Api&, ExchangePtr const& x) { x->json(200, object_text(Me{*x->principal})); }

void create_token(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), token_request);
    port::TokenRow row = read_token(api, body);
    auto const lives = read_life(body, "ttlMs", std::nullopt, life_max);
    if (body.error()) return x->fail(*body.error());
    if (auto const error = refuse_more(api)) return x->fail(*error);
    row.kind = "token";
    Minted minted = mint(api, "dm_", std::move(row), lives);
    port::TokenChange change{.put = minted.row};
    change_tokens(api, {"token_created", x->by}, std::move(change),
                  [&api, x, minted](Result<void> done) {
                      if (!done) return x->fail(done.error());
                      auto const made = api.services().gate.tokens().find_id(minted.row.id);
                      NewToken answer{minted.secret, {}};
                      if (made) answer.token = *made;
                      x->json(201, object_text(answer), {{"Cache-Control", "no-store"}});
                  });
}

void delete_token(Api& api, ExchangePtr const& x) {
    with_newest_access(api, x, [&api, x] { delete_known_token(api, x); });
}

}  // namespace dormouse::http
