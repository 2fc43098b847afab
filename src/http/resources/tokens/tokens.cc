#include "http/resources/tokens/handlers.h"
#include "http/resources/tokens/token_changes.h"

#include "json/json.h"

// Tokens: who may call. A secret is told once, when it is made.
namespace dormouse::server {

namespace {

constexpr Duration life_max{std::int64_t{10} * 366 * 86'400'000};

std::optional<Error> refuse_more(Api& api) {
    drop_expired(api);
    if (api.services().gate.tokens().size() < Tokens::most) return std::nullopt;
    return Error{Code::wrong_state, "There are 10,000 tokens; revoke some.", {}, 0};
}

}  // namespace

void list_tokens(Api& api, ExchangePtr const& x) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (PrincipalPtr const& one : api.services().gate.tokens().all()) out.raw(token_object(*one));
    x->json(200, out.end_array().member_null("next").end_object().take());
}

void create_token(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"name", "role", "projects", "agents", "ttlMs"});
    port::TokenRow row = read_token(api, body);
    auto const lives = read_life(body, "ttlMs", std::nullopt, life_max);
    if (body.error()) return x->fail(*body.error());
    if (auto const error = refuse_more(api)) return x->fail(*error);
    row.kind = "token";
    Minted minted = mint(api, "dm_", std::move(row), lives);
    port::TokenChange change{.put = minted.row};
    change_tokens(api, "token_created", x->by, std::move(change),
                  [&api, x, minted](Result<void> done) {
                      if (!done) return x->fail(done.error());
                      auto const made = api.services().gate.tokens().find_id(minted.row.id);
                      json::Writer out;
                      out.begin_object().member("secret", minted.secret).key("token");
                      if (made) {
                          out.raw(token_object(*made));
                      } else {
                          out.null();  // revoked in between
                      }
                      x->json(201, out.end_object().take(), {{"Cache-Control", "no-store"}});
                  });
}

void delete_token(Api& api, ExchangePtr const& x) {
    auto const principal = api.services().gate.tokens().find_id(x->params[0]);
    if (!principal) return x->fail(not_found());
    if (principal->built_in) {
        return x->fail({Code::wrong_state,
                        principal->row.id == "env"
                            ? "This is $DORMOUSE_TOKEN of the server; start it without."
                            : "This is the data directory's file `token`; delete it and start the "
                              "server anew, and it makes another one.",
                        {},
                        0});
    }
    change_tokens(api, "token_revoked", x->by, {.drop = x->params[0]}, [x](Result<void> done) {
        if (!done && done.error().code == Code::conflict) return x->fail(not_found());
        if (!done) return x->fail(done.error());
        x->empty(204);
    });
}

}  // namespace dormouse::server
