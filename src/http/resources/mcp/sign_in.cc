#include "http/resources/mcp/sign_in.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"
#include "base/url.h"
#include "http/access/cookies.h"
#include "http/objects/card_page.h"
#include "http/objects/html.h"
#include "http/resources/mcp/handlers.h"
#include "http/resources/mcp/own_requests.h"
#include "port/foreign_sign_in.h"

#include <memory>

// `GET /mcp-sign-in/SERVER` sends the browser to the server's authorization server, which sends it
// back to `/callback` with a code. A cookie binds the two requests (oidc/flow.h). The person
// needs a token of this server both times: the calls that waited continue in that person's name.
// The code is in no log.
namespace dormouse::http {
namespace {

constexpr std::string_view mcp_cookie = "dormouse-mcp";
constexpr std::string_view sign_in_prefix = "/mcp-sign-in/";
constexpr std::size_t mcp_code_bytes_max = 8'192;
constexpr std::size_t mcp_error_shown_max = 64;
constexpr std::size_t issuer_digest_length = 64;

std::string parameter_of(ExchangePtr const& x, std::string_view name) {
    return std::string(x->request.query_value(name).value_or(""));
}

std::string mcp_redirect_uri(Api& api, std::string const& server) {
    return mcp_sign_in_url(api.services().gate.base_url(), server) + "/callback";
}

std::pair<std::string, std::string> end_of_mcp_flow(ExchangePtr const& x) {
    return {"Set-Cookie", set_cookie(x->request, mcp_cookie, "", Duration(0))};
}

// Why nobody is signed in, and what to do.
void stop_sign_in(ExchangePtr const& x, Code code, std::string const& title,
                  std::string const& text) {
    if (!wants_html(x->request)) return x->fail({code, title + ". " + text});
    CardPage page{.title = title, .about = text};
    page.card = "<p><a class=\"btn yes\" href=\"" + html_text(sign_in_prefix) +
                html_text(percent_encode(x->params[0])) + "\">Sign in again</a></p>\n";
    page.notes = "<p class=\"note\">Request " + html_text(x->request.id) + "</p>\n";
    HttpReply out = card_reply(info(code).http, page);
    out.headers.push_back(end_of_mcp_flow(x));
    x->responder->reply(std::move(out));
}

void show_signed_in(ExchangePtr const& x) {
    HttpReply out = card_reply(
        200, {.title = "Signed in",
              .about = "Dormouse uses the MCP server '" + x->params[0] +
                       "' from now on, and the calls that waited for it continue. You can close "
                       "this page."});
    out.headers.push_back(end_of_mcp_flow(x));
    x->responder->reply(std::move(out));
}

// The calls that wait for the sign-in continue, as far as the person may decide them.
void continue_calls(mcp::ApiPtr const& api, std::string const& server, std::string const& cursor) {
    std::string target = "/async-tool/pending?project=*&limit=200&externalRef=" +
                         percent_encode(port::sign_in_reference(server));
    if (!cursor.empty()) target += "&cursor=" + percent_encode(cursor);
    api->ask({.target = std::move(target)}, [api, server](mcp::ApiAnswer calls) {
        if (!calls) return;
        json::View const list(*calls);
        list["items"].elements([&](json::View call) {
            json::Writer body;
            body.begin_object().member("pendingID", call["id"].string_or(""));
            body.member("approved", true).member("reason", "signed in").end_object();
            api->ask({.method = "POST", .target = "/async-tool/decision", .body = body.json()},
                     [](mcp::ApiAnswer const&) {});
        });
        if (auto const next = list["next"].string()) continue_calls(api, server, *next);
    });
}

// What the cookie remembers: the digest of the issuer, and the server.
std::string begun_at(std::string const& issuer, std::string const& server) {
    return hex(sha256(issuer)) + server;
}

void exchange_code(Api& api, ExchangePtr const& x, oidc::Flow const& flow) {
    auto const& server = x->params[0];
    port::ForeignCode code{.redirect_uri = mcp_redirect_uri(api, server),
                           .code = parameter_of(x, "code"),
                           .issuer = parameter_of(x, "iss"),
                           .begun_at = flow.next.substr(0, issuer_digest_length),
                           .verifier = flow.verifier};
    if (code.code.empty() || code.code.size() > mcp_code_bytes_max)
        return stop_sign_in(x, Code::bad_value, "The answer has no code",
                            "The address must have a code of 1 to 8192 bytes.");
    auto done = [&api, x, server](std::expected<void, std::string> result) {
        if (!result) {
            api.services().log.warn("a sign-in to an MCP server failed",
                                    {{"server", server}, {"why", result.error()}});
            return stop_sign_in(x, Code::unauthenticated, "The sign-in failed",
                                result.error() + ".");
        }
        api.services().log.info("signed in to an MCP server",
                                {{"server", server}, {"by", x->by.name}});
        continue_calls(api_of(api, staying(x, [] { return false; })), server, "");
        show_signed_in(x);
    };
    api.services().foreign_sign_ins->finish(server, std::move(code), std::move(done));
}

}  // namespace

std::string mcp_sign_in_url(std::string const& base_url, std::string const& server) {
    return base_url + std::string(sign_in_prefix) + percent_encode(server);
}

void begin_mcp_sign_in(Api& api, ExchangePtr const& x) {
    Services& services = api.services();
    auto const& server = x->params[0];
    bool const known = services.foreign_sign_ins && services.foreign_sign_ins->knows(server);
    if (!known) return x->fail(not_found());
    auto const cookie = std::make_shared<std::string>();
    auto challenge = [&api, server, cookie](std::string const& issuer) {
        Services& by = api.services();
        auto const flow = api.mcp_sign_ins().flows.begin(by.entropy.random(),
                                                         begun_at(issuer, server), by.runner.now());
        *cookie = flow.cookie;
        return port::ForeignChallenge{.state = flow.state, .challenge = flow.challenge};
    };
    auto go = [x, cookie](std::expected<std::string, std::string> const& url) {
        if (!url)
            return stop_sign_in(x, Code::overloaded, "Nobody can sign in now", url.error() + ".");
        x->responder->reply(
            {303,
             "",
             {{"Location", *url},
              {"Set-Cookie", set_cookie(x->request, mcp_cookie, *cookie, oidc::flow_life)},
              {"Referrer-Policy", "no-referrer"},
              {"Cache-Control", "no-store"}},
             ""});
    };
    services.foreign_sign_ins->begin(
        server, {.redirect_uri = mcp_redirect_uri(api, server), .challenge = std::move(challenge)},
        std::move(go));
}

void end_mcp_sign_in(Api& api, ExchangePtr const& x) {
    Services& services = api.services();
    bool const known = services.foreign_sign_ins && services.foreign_sign_ins->knows(x->params[0]);
    if (!known) return x->fail(not_found());
    auto const flow = api.mcp_sign_ins().flows.resume(
        read_cookie(x->request, mcp_cookie), parameter_of(x, "state"), services.runner.now());
    bool const fits = flow && flow->next.size() > issuer_digest_length &&
                      flow->next.substr(issuer_digest_length) == x->params[0];
    if (!fits)
        return stop_sign_in(
            x, Code::unauthenticated, "This answer belongs to no sign-in of this browser",
            "A sign-in must be begun in this browser, works once, and ends after ten "
            "minutes.");
    // Its description is not shown: others may have written it.
    if (auto const error = parameter_of(x, "error"); !error.empty())
        return stop_sign_in(x, Code::forbidden, "You were not signed in",
                            "The authorization server answered: " +
                                escape_for_terminal(error.substr(0, mcp_error_shown_max)) + ".");
    exchange_code(api, x, *flow);
}

}  // namespace dormouse::http
