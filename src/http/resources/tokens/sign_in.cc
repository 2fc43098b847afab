#include "http/objects/html.h"
#include "http/resources/tokens/handlers.h"
#include "http/resources/tokens/token_changes.h"

#include "base/text.h"
#include "json/json.h"

// Signing in with a browser: a link is opened, the page that it shows spends its code, and the
// browser has a cookie. The code stands behind '#', which no browser sends: it is in no log, and a
// program that fetches links ahead spends nothing.
namespace dormouse::server {

namespace {

constexpr Duration link_life{10 * 60'000};
constexpr Duration link_life_max{std::int64_t{7} * 86'400'000};
constexpr Duration cookie_life{std::int64_t{30} * 86'400'000};

constexpr std::string_view script = R"js(
const at = id => document.getElementById(id);
const say = text => { at('said').textContent = text };
let code = location.hash.slice(1);
const next = new URLSearchParams(location.search).get('next') || '/';
history.replaceState(null, '', location.pathname + location.search);
at('paste').hidden = code !== '';
at('in').hidden = false;
at('in').addEventListener('click', async () => {
  code = code || at('link').value.trim().split('#').pop();
  const reply = await fetch('/sign-in', {method: 'POST', body: JSON.stringify({code, next}),
    headers: {'Content-Type': 'application/json'}});
  const said = await reply.json();
  say(reply.ok ? 'Signed in as ' + said.name + '.' : said.detail);
  if (reply.ok) location.replace(said.next);
  else { code = ''; at('paste').hidden = false }
});
)js";

constexpr std::string_view page =
    "<h1>Sign in to Dormouse</h1>\n<p>Then this device can answer what agents ask, for 30 days or "
    "until you sign out. Each sign-in link works once.</p>\n"
    "<p id=\"paste\" hidden><label>Paste your sign-in link<br>"
    "<input type=\"text\" id=\"link\" autocomplete=\"off\"></label></p>\n"
    "<p><button class=\"yes\" id=\"in\" hidden>Sign in</button></p>\n"
    "<p id=\"said\" role=\"status\"></p>\n"
    "<noscript><p>Signing in needs JavaScript; the other pages do not.</p></noscript>\n";

// The only page with a script: the code stands behind '#', which no server sees.
HttpReply sign_in_page() {
    HttpReply out = html_reply(200, "Sign in to Dormouse",
                               std::string(page) + "<script>" + std::string(script) + "</script>");
    for (auto& [name, value] : out.headers) {
        if (name == "Content-Security-Policy")
            value += "; script-src 'sha256-" + base64(sha256(script)) + "'; connect-src 'self'";
        if (name == "Referrer-Policy") value = "no-referrer";
    }
    return out;
}

// Lax: the cookie comes with a click on a link elsewhere, and with no request that could change
// something: a GET changes nothing.
std::string cookie_header(HttpRequest const& request, std::string const& secret, Duration lives) {
    std::string const name = request.secure ? "__Host-dormouse=" : "dormouse=";
    return name + secret +
           "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" + std::to_string(lives.count() / 1000) +
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

void show_sign_in(Api&, ExchangePtr const& x) { x->responder->reply(sign_in_page()); }

void sign_in(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"code", "next"});
    std::string const code = body.required_string("code");
    std::string const next = safe_next(body.string("next").value_or("/"));
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
                  [x, minted, next](Result<void> done) {
                      if (!done) return x->fail(done.error());
                      json::Writer out;
                      out.begin_object().member("name", minted.row.name);
                      out.member("role", minted.row.role).member("next", next);
                      out.member("expires", to_ms(*minted.row.expires));
                      x->json(
                          200, out.end_object().take(),
                          {{"Set-Cookie", cookie_header(x->request, minted.secret, cookie_life)},
                           {"Cache-Control", "no-store"}});
                  });
}

namespace {

void revoke_cookie(Api& api, ExchangePtr const& x, HttpReply reply) {
    PrincipalPtr const who = x->principal;
    if (!who || !who->is_cookie()) return x->fail({Code::unauthenticated, "Nobody is signed in."});
    reply.headers.emplace_back("Set-Cookie", cookie_header(x->request, "", Duration(0)));
    change_tokens(api, "signed_out", x->by, {.drop = who->row.id},
                  [x, reply = std::move(reply)](Result<void> done) {
                      if (!done) return x->fail(done.error());
                      x->responder->reply(reply);
                  });
}

}  // namespace

void sign_out(Api& api, ExchangePtr const& x) { revoke_cookie(api, x, {204, "", {}, ""}); }

// The button of the first page; a form cannot send DELETE.
void post_sign_out(Api& api, ExchangePtr const& x) {
    if (!wants_html(x->request)) return sign_out(api, x);
    revoke_cookie(api, x, {303, "", {{"Location", "/"}}, ""});
}

}  // namespace dormouse::server
