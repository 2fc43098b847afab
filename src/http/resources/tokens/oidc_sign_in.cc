#include "http/resources/tokens/oidc_sign_in.h"

#include "base/text/text.h"
#include "base/url.h"
#include "http/access/cookies.h"
#include "http/objects/card_page.h"
#include "http/objects/html.h"
#include "http/resources/tokens/handlers.h"
#include "http/resources/tokens/token_changes.h"
#include "http/transport/address_count.h"

// `GET /sign-in/oidc` sends the browser to the provider; the provider sends it back to `/callback`
// with a code, which this server exchanges for the ID token. A cookie binds the two requests
// (oidc/flow.h). Both are limited by address. No log has the code, the token or the secrets.
namespace dormouse::http {

namespace {

constexpr std::string_view start_path = "/sign-in/oidc";
constexpr std::size_t code_bytes_max = 8'192;

// Why nobody is signed in, and what to do, for the person.
struct Stop {
    Code code = Code::unauthenticated;
    std::string title;
    std::string text;
    bool again = true;  // another try may help
};

std::string redirect_uri(Api& api) {
    return api.services().gate.base_url() + std::string(start_path) + "/callback";
}

std::string start_link(std::string const& next) {
    return std::string(start_path) + (next == "/" ? "" : "?next=" + percent_encode(next));
}

// Removes the cookie of the attempt: it cannot be resumed.
std::pair<std::string, std::string> end_of_flow(ExchangePtr const& x) {
    return {"Set-Cookie", set_cookie(x->request, oidc_cookie, "", Duration(0))};
}

void show_stop(Api& api, ExchangePtr const& x, Stop const& stop, std::string const& next) {
    if (!wants_html(x->request)) return x->fail({stop.code, stop.title + ". " + stop.text});
    CardPage page{.title = stop.title, .about = stop.text};
    if (stop.again)
        page.card = "<p><a class=\"btn yes\" href=\"" + html_text(start_link(next)) +
                    "\">Sign in with " + html_text(api.oidc()->settings.name) + " again</a></p>\n";
    page.card += "<p><a class=\"btn\" href=\"/sign-in\">Other ways to sign in</a></p>\n";
    page.notes = "<p class=\"note\">Request " + html_text(x->request.id) + "</p>\n";
    HttpReply out = card_reply(info(stop.code).http, page);
    out.headers.push_back(end_of_flow(x));
    x->responder->reply(std::move(out));
}

Stop too_many() {
    return {Code::rate_limited, "Too many sign-ins", "Wait a moment, then try again."};
}

Stop stop_of(oidc::Flows::Wrong wrong, std::string const& url) {
    using Wrong = oidc::Flows::Wrong;
    switch (wrong) {
        case Wrong::no_cookie: break;
        case Wrong::expired:
            return {Code::unauthenticated, "This sign-in took too long",
                    "It must be completed within ten minutes. Sign in again."};
        case Wrong::other_state:
            return {Code::unauthenticated, "This answer belongs to another sign-in",
                    "Another sign-in was begun in this browser since, for instance in another tab. "
                    "Sign in again."};
        case Wrong::used:
            return {Code::unauthenticated, "This sign-in was used before",
                    "Each sign-in works once. Sign in again."};
    }
    return {Code::unauthenticated, "This browser did not begin this sign-in",
            "Begin it in this browser, at " + url + ", and allow cookies."};
}

Stop stop_of(oidc::Failure const& failure, std::string const& name) {
    using Kind = oidc::Failure::Kind;
    switch (failure.kind) {
        case Kind::unreachable: break;
        case Kind::code:
            return {Code::unauthenticated, "This sign-in was used before or has expired",
                    name + " did not accept its code. Sign in again."};
        case Kind::settings:
            return {Code::forbidden, name + " did not accept this server",
                    "Ask the administrator to compare client_id, client_secret_env and the "
                    "redirect URI with the provider's: " +
                        failure.why + "."};
        case Kind::token:
            return {Code::unauthenticated, "The answer of " + name + " failed its checks",
                    "Nobody was signed in: " + failure.why +
                        ". Try again; if it happens again, tell the administrator."};
    }
    return {Code::overloaded, name + " cannot be reached",
            "Try again in a moment, or use a sign-in link: " + failure.why + "."};
}

// The provider's own error (RFC 6749, 4.1.2.1). Its text is not shown: others may have written it.
Stop stop_of_error(std::string_view error, std::string const& name) {
    if (error == "access_denied")
        return {Code::forbidden, "You were not signed in",
                "The sign-in was declined at " + name + ". Nothing was changed."};
    if (error == "temporarily_unavailable" || error == "server_error")
        return {Code::overloaded, name + " cannot sign you in now",
                "Try again in a moment, or use a sign-in link."};
    return {
        Code::forbidden, name + " refused the request of this server",
        "Tell the administrator: " + escape_for_terminal(std::string(error).substr(0, 64)) + "."};
}

std::string query(ExchangePtr const& x, std::string_view name) {
    return std::string(x->request.query_value(name).value_or(""));
}

// A row whose id is that of the attempt: after a restart, too, an attempt signs in once.
Minted minted_for(Api& api, oidc::Flow const& flow, Admitted const& who) {
    port::TokenRow row;
    row.kind = "cookie";
    row.name = who.name;
    row.role = text(who.role);
    row.projects = who.projects;
    Minted out = mint(api, "dmc_", std::move(row), api.oidc()->settings.lasts);
    out.row.id = "tok_" + base64url(std::span(flow.id).first(16));
    return out;
}

void sign_in_as(Api& api, ExchangePtr const& x, oidc::Flow const& flow, Admitted const& who,
                std::string const& subject) {
    drop_expired(api);
    Tokens& tokens = api.services().gate.tokens();
    if (tokens.size() >= Tokens::most)
        return show_stop(api, x,
                         {Code::overloaded, "Nobody can sign in now",
                          "There are 10,000 tokens; ask the administrator to revoke some."},
                         flow.next);
    Minted const minted = minted_for(api, flow, who);
    ChangeNote const note{.type = "signed_in",
                          .by = {session::ActorType::token, who.name},
                          .issuer = api.oidc()->settings.provider.issuer,
                          .subject = subject};
    change_tokens(api, note, {.put = minted.row}, [&api, x, flow, minted](Result<void> done) {
        if (!done) return x->fail(done.error());
        auto const cookie =
            set_cookie(x->request, session_cookie, minted.secret, api.oidc()->settings.lasts);
        x->responder->reply({303,
                             "",
                             {{"Location", flow.next},
                              {"Set-Cookie", cookie},
                              end_of_flow(x),
                              {"Cache-Control", "no-store"}},
                             ""});
    });
}

void refuse_person(Api& api, ExchangePtr const& x, oidc::Flow const& flow,
                   std::string const& subject, std::string const& why) {
    api.services().log.warn("a person may not sign in", {{"subject", subject}, {"why", why}});
    show_stop(api, x,
              {Code::forbidden, "You may not use this server",
               "You are signed in at " + api.oidc()->settings.name + " as " + subject + ". " + why},
              flow.next);
}

void answered(Api& api, ExchangePtr const& x, oidc::Flow const& flow,
              oidc::Answer<oidc::Claims> const& claims) {
    if (!claims) {
        (void)api.services().gate.failed_auth(x->request);
        api.services().log.warn(
            "a sign-in failed",
            {{"issuer", api.oidc()->settings.provider.issuer}, {"why", claims.error().why}});
        return show_stop(api, x, stop_of(claims.error(), api.oidc()->settings.name), flow.next);
    }
    auto const who = admit(*claims, api.oidc()->settings.rules, api.services().people);
    if (!who) return refuse_person(api, x, flow, claims->subject, who.error());
    sign_in_as(api, x, flow, *who, claims->subject);
}

// The cookie and the state belong together, and were not used before.
std::expected<oidc::Flow, Stop> resume(Api& api, ExchangePtr const& x) {
    Services& services = api.services();
    auto flow = api.oidc()->flows.resume(read_cookie(x->request, oidc_cookie), query(x, "state"),
                                         services.runner.now());
    using Wrong = oidc::Flows::Wrong;
    std::string const url = services.gate.base_url() + "/sign-in";
    if (!flow) return std::unexpected(stop_of(flow.error(), url));
    std::string const id = "tok_" + base64url(std::span(flow->id).first(16));
    if (services.gate.tokens().find_id(id)) return std::unexpected(stop_of(Wrong::used, url));
    return *std::move(flow);
}

}  // namespace

std::string oidc_link(Api& api, std::string const& next) {
    if (!api.oidc()) return "";
    return "<p><a class=\"btn yes\" href=\"" + html_text(start_link(next)) + "\">Sign in with " +
           html_text(api.oidc()->settings.name) + "</a></p>\n";
}

void begin_oidc(Api& api, ExchangePtr const& x) {
    if (!api.oidc()) return x->fail(not_found());
    Services& services = api.services();
    std::string const next = safe_next(query(x, "next"));
    if (!services.gate.may_sign_in(x->request)) return show_stop(api, x, too_many(), next);
    oidc::Flow const flow =
        api.oidc()->flows.begin(services.entropy.random(), next, services.runner.now());
    auto go = [&api, x, flow](oidc::Answer<std::string> const& url) {
        if (!url) {
            api.services().log.warn("a sign-in failed", {{"why", url.error().why}});
            return show_stop(api, x, stop_of(url.error(), api.oidc()->settings.name), flow.next);
        }
        auto const cookie = set_cookie(x->request, oidc_cookie, flow.cookie, oidc::flow_life);
        x->responder->reply({303,
                             "",
                             {{"Location", *url},
                              {"Set-Cookie", cookie},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cache-Control", "no-store"}},
                             ""});
    };
    api.oidc()->provider.begin(flow, redirect_uri(api), std::move(go));
}

void end_oidc(Api& api, ExchangePtr const& x) {
    if (!api.oidc()) return x->fail(not_found());
    if (!api.services().gate.may_sign_in(x->request)) return show_stop(api, x, too_many(), "/");
    auto const flow = resume(api, x);
    if (!flow) {
        (void)api.services().gate.failed_auth(x->request);
        return show_stop(api, x, flow.error(), "/");
    }
    std::string const error = query(x, "error");
    if (!error.empty())
        return show_stop(api, x, stop_of_error(error, api.oidc()->settings.name), flow->next);
    oidc::Redirect redirect{query(x, "code"), query(x, "iss"), redirect_uri(api)};
    if (redirect.code.empty() || redirect.code.size() > code_bytes_max)
        return show_stop(api, x,
                         {Code::bad_value, "The answer has no code",
                          "The address must have a code of 1 to 8192 bytes. Sign in again."},
                         flow->next);
    api.oidc()->provider.finish(*flow, std::move(redirect),
                                [&api, x, flow = *flow](oidc::Answer<oidc::Claims> claims) {
                                    answered(api, x, flow, claims);
                                });
}

}  // namespace dormouse::http
