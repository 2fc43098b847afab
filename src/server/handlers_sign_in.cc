#include "server/handlers.h"
#include "server/token_changes.h"

#include "base/text.h"
#include "json/json.h"

// Signing in with a browser: a link is opened, the page that it shows spends its code, and the
// browser has a cookie. The code stands behind '#', which no browser sends: it is in no log, and
// whoever fetches links ahead spends nothing.
namespace dormouse::server {

namespace {

constexpr Duration link_life{10 * 60'000};
constexpr Duration link_life_max{std::int64_t{7} * 86'400'000};
constexpr Duration cookie_life{std::int64_t{30} * 86'400'000};

constexpr std::string_view script = R"js(
const say = text => { document.getElementById('said').textContent = text };
const code = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
document.getElementById('in').addEventListener('click', async () => {
  const reply = await fetch('/sign-in', {method: 'POST', body: JSON.stringify({code}),
    headers: {'Content-Type': 'application/json'}});
  const said = await reply.json();
  say(reply.ok ? 'Signed in as ' + said.name + '.' : said.detail);
  if (reply.ok) location.replace('/');
});
if (!code) say('This page is opened by a sign-in link: dormouse link');
)js";

std::string page() {
    return "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Dormouse: sign in"
           "</title><meta name=\"viewport\" content=\"width=device-width\"><h1>Dormouse</h1>"
           "<p><button id=\"in\">Sign in</button></p><p id=\"said\" role=\"status\"></p><script>" +
           std::string(script) + "</script></html>\n";
}

std::string policy() {
    return "default-src 'none'; script-src 'sha256-" + base64(sha256(script)) +
           "'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
}

std::string cookie_header(HttpRequest const& request, std::string const& secret, Duration lives) {
    std::string const name = request.secure ? "__Host-dormouse=" : "dormouse=";
    return name + secret +
           "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(lives.count() / 1000) +
           (request.secure ? "; Secure" : "");
}

// A cookie is for what its link was for.
Minted cookie_of(Api& api, port::TokenRow row) {
    row.kind = "cookie";
    return mint(api, "dmc_", std::move(row), cookie_life);
}

}  // namespace

void create_link(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"name", "role", "projects", "agents", "ttlMs"});
    port::TokenRow row = read_token(api, body);
    auto const lives = read_life(body, "ttlMs", link_life, link_life_max);
    if (body.error()) return x->fail(*body.error());
    row.kind = "link";
    drop_expired(api);
    if (api.services().gate.tokens().size() >= Tokens::most)
        return x->fail({Code::wrong_state, "There are 10,000 tokens; revoke some.", {}, 0});
    Minted minted = mint(api, "dml_", std::move(row), lives);
    change_tokens(
        api, "link_created", x->by, {.put = minted.row}, [&api, x, minted](Result<void> done) {
            if (!done) return x->fail(done.error());
            json::Writer out;
            out.begin_object().member("id", minted.row.id).member("name", minted.row.name);
            out.member("role", minted.row.role);
            out.member("url", api.services().gate.base_url() + "/sign-in#" + minted.secret);
            out.member("expires", to_ms(*minted.row.expires));
            x->json(201, out.end_object().take(), {{"Cache-Control", "no-store"}});
        });
}

void show_sign_in(Api&, ExchangePtr const& x) {
    x->responder->reply({200,
                         "text/html; charset=utf-8",
                         {{"Cache-Control", "no-store"},
                          {"Content-Security-Policy", policy()},
                          {"Referrer-Policy", "no-referrer"},
                          {"X-Content-Type-Options", "nosniff"}},
                         page()});
}

void sign_in(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"code"});
    std::string const code = body.required_string("code");
    if (body.error()) return x->fail(*body.error());
    Gate& gate = api.services().gate;
    PrincipalPtr const link = gate.tokens().find("link", code);
    if (!link) {
        Error error = gate.failed_auth(x->request);
        if (error.code == Code::unauthenticated)
            error.detail = "This sign-in link was used before, or it has expired.";
        return x->fail(error);
    }
    Minted minted = cookie_of(api, link->row);
    session::Actor const by{session::ActorType::token, link->row.name};
    change_tokens(api, "signed_in", by, {.put = minted.row, .drop = link->row.id},
                  [x, minted](Result<void> done) {
                      if (!done) return x->fail(done.error());
                      json::Writer out;
                      out.begin_object().member("name", minted.row.name);
                      out.member("role", minted.row.role);
                      out.member("expires", to_ms(*minted.row.expires));
                      x->json(
                          200, out.end_object().take(),
                          {{"Set-Cookie", cookie_header(x->request, minted.secret, cookie_life)},
                           {"Cache-Control", "no-store"}});
                  });
}

void sign_out(Api& api, ExchangePtr const& x) {
    PrincipalPtr const who = x->principal;
    if (!who || !who->is_cookie()) return x->fail({Code::unauthenticated, "Nobody is signed in."});
    change_tokens(api, "signed_out", x->by, {.drop = who->row.id}, [x](Result<void> done) {
        if (!done) return x->fail(done.error());
        x->responder->reply(
            {204, "", {{"Set-Cookie", cookie_header(x->request, "", Duration(0))}}, ""});
    });
}

}  // namespace dormouse::server
