#include "http/access/cookies.h"
#include "http/objects/card_page.h"
#include "http/objects/html.h"
#include "http/objects/plain_files.h"
#include "http/resources/shared_access.h"
#include "http/resources/tokens/handlers.h"
#include "http/resources/tokens/mail_links.h"
#include "http/resources/tokens/oidc_sign_in.h"
#include "http/resources/tokens/token_changes.h"
#include "http/resources/tokens/token_fields.h"

#include "base/text/text.h"
#include "json/json.h"
#include "webhook/source.h"

// Signing in with a browser: the person opens a link, the page behind it sends the link's code, and
// the browser receives a cookie. A form of another site, which could sign in another person, is
// refused by its Origin. The code is behind '#', which browsers do not send: it is in no log, and a
// program that fetches links ahead does not use it up.
namespace dormouse::http {

namespace {

bool is_sign_in_form(HttpRequest const& request) {
    return lower_case(request.header("content-type"))
        .starts_with("application/x-www-form-urlencoded");
}

constexpr Duration link_life{10 * 60'000};
constexpr Duration link_life_max{std::int64_t{7} * 86'400'000};
constexpr Duration cookie_life{std::int64_t{30} * 86'400'000};

constexpr std::string_view fields =
    "<div id=\"paste\"><p><label>Sign-in link<br><input type=\"text\" id=\"link\" name=\"link\" "
    "required autocomplete=\"off\" placeholder=\"https://…/sign-in#dml_…\"></label></p></div>\n"
    "<p><button class=\"yes\" id=\"in\">Continue</button></p>\n";
constexpr std::string_view no_link =
    "<p class=\"note\" id=\"note\">No link? Ask the person who runs this server for one.</p>\n";

std::string hidden(std::string_view name, std::string_view value) {
    return "<input type=\"hidden\" name=\"" + std::string(name) + "\" value=\"" + html_text(value) +
           "\">\n";
}

std::string bold(std::string_view text) { return "<b>" + html_text(text) + "</b>"; }

std::string_view may_do(Role role) {
    switch (role) {
        case Role::anyone: break;
        case Role::read: return "read everything";
        case Role::answer: return "read everything and answer what waits";
        case Role::operate: return "answer, run sessions and settle calls";
        case Role::admin: return "change everything";
    }
    return "";
}

bool leads_to_call(std::string_view next) {
    return next.starts_with("/a/") || next.starts_with("/?open=");
}

std::string then_html(std::string const& next) {
    if (next == "/") return "Then you see " + bold("what waits for you") + ".";
    if (leads_to_call(next))
        return "Then you continue to " + bold("the call that you opened") + ".";
    return "Then you continue to " + bold(next) + ".";
}

// Lists what a person should know before they sign in. On the page with the form, `by` and `can`
// are empty, and the script fills them.
std::string facts_html(std::string_view by, std::string_view can, std::string const& next) {
    return fact_html("person", "<span id=\"by\">" + std::string(by) + "</span>") +
           fact_html("check", "<span id=\"can\">" + std::string(can) + "</span>") +
           fact_html("clock",
                     "This browser stays signed in for <b>30 days</b>. Sign out on a device "
                     "that is not yours.") +
           fact_html("arrow", then_html(next));
}

// The script says what a role may do in these words.
std::string words_of_roles() {
    std::string out;
    for (auto const& [name, role] : {std::pair{"read", Role::read},
                                     {"answer", Role::answer},
                                     {"operate", Role::operate},
                                     {"admin", Role::admin}})
        out += std::string(" data-") + name + "=\"" + std::string(may_do(role)) + "\"";
    return out;
}

std::string form_html(std::string const& next) {
    return "<form id=\"form\" method=\"post\" action=\"/sign-in\">\n" + hidden("next", next) +
           "<div role=\"status\"><ul id=\"facts\" class=\"facts\"" + words_of_roles() + " hidden>" +
           facts_html("", "", next) + "</ul></div>\n" + std::string(fields) + "</form>\n";
}

std::string_view why_to_sign_in(std::string_view next) {
    return leads_to_call(next)
               ? "You opened a call that waits. It is shown only to people who are signed in."
               : "Here you approve what agents ask for, and answer their questions.";
}

// Without script the person pastes the link into the form. The script reads the code, which is
// behind '#' and does not reach the server.
HttpReply sign_in_page(Api& api, ExchangePtr const& x, std::string const& next,
                       std::optional<Error> const& error = {}) {
    std::string const provider = oidc_link(api, next);
    std::string const mail = mail_form(api, next);
    CardPage page{.title = "Sign in to Dormouse"};
    if (error && error->code == Code::unauthenticated) page.title = "This link no longer works";
    page.about = error ? error->detail : why_to_sign_in(next);
    if (!provider.empty()) page.card = "<div class=\"other\">" + provider + or_html() + "</div>\n";
    page.card += form_html(next);
    if (!mail.empty()) page.card += "<div class=\"other\">" + or_html() + mail + "</div>\n";
    page.notes = no_link;
    page.host = x->request.header("host");
    if (!error) page.script = "<script src=\"" + sign_in_script_path() + "\" defer></script>";
    HttpReply out = card_reply(error ? info(error->code).http : 200, page);
    for (auto& [name, value] : out.headers) {
        if (!error && name == "Content-Security-Policy")
            value +=
                "; script-src 'self'; connect-src 'self'; "
                "require-trusted-types-for 'script'; trusted-types 'none'";
        if (name == "Referrer-Policy") value = "same-origin";
    }
    return out;
}

std::string projects_text(Principal const& link) {
    std::string out;
    for (std::string const& project : link.row.projects) out += (out.empty() ? "" : ", ") + project;
    if (out.empty()) return "all projects";
    return (link.row.projects.size() == 1 ? "the project " : "the projects ") + out;
}

// The second step without script: says what the link is for, and has the button that uses it.
HttpReply confirm_page(Principal const& link, ExchangePtr const& x, std::string const& code,
                       std::string const& next, Time now) {
    std::string const by = link.made_by.empty() ? "This link is for " + bold(link.row.name) + "."
                                                : bold(link.made_by) + " made this link for you.";
    std::string const can =
        "You can " + bold(may_do(link.role)) + " in " + bold(projects_text(link)) + ".";
    CardPage page{.title = "Sign in as " + link.row.name};
    page.card = "<ul class=\"facts\">" + facts_html(by, can, next) +
                "</ul>\n<form method=\"post\" action=\"/sign-in\">\n" + hidden("next", next) +
                hidden("link", code) +
                "<p><button class=\"yes\" name=\"confirm\" value=\"yes\">Sign in as " +
                html_text(link.row.name) + "</button></p>\n</form>\n";
    std::string const until =
        link.row.expires ? ", until " + time_html(*link.row.expires, now) : std::string();
    page.notes = "<p class=\"note\">The link works once" + until +
                 ". Not you? Close this page; nothing happens.</p>\n";
    page.host = x->request.header("host");
    return card_reply(200, page);
}

// A cookie permits what its link permitted.
Minted cookie_of(Api& api, port::TokenRow row) {
    row.kind = "cookie";
    return mint(api, "dmc_", std::move(row), cookie_life);
}

}  // namespace

void create_link(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), token_request);
    port::TokenRow row = read_token(api, body);
    auto const lives = read_life(body, "ttlMs", link_life, link_life_max);
    if (body.error()) return x->fail(*body.error());
    row.kind = "link";
    drop_expired(api);
    if (api.services().gate.tokens().size() >= Tokens::most)
        return x->fail({Code::wrong_state, "There are 10,000 tokens; revoke some.", {}, 0});
    Minted minted = mint(api, "dml_", std::move(row), lives);
    change_tokens(
        api, {"link_created", x->by}, {.put = minted.row}, [&api, x, minted](Result<void> done) {
            if (!done) return x->fail(done.error());
            api.services().gate.tokens().note_maker(minted.row.id, x->by.name);
            std::string const url = api.services().gate.base_url() + "/sign-in#" + minted.secret;
            x->json(201, object_text(NewLink{minted.row, url}), {{"Cache-Control", "no-store"}});
        });
}

void show_sign_in(Api& api, ExchangePtr const& x) {
    std::string const next = safe_next(x->request.query_value("next").value_or("/"));
    x->responder->reply(sign_in_page(api, x, next));
}

namespace {

struct SignIn {
    std::string code;
    std::string next;
    bool form = false;      // sent by the page's form without script
    bool confirmed = true;  // by its second step
};

// Accepts a pasted link, or the code alone.
std::optional<SignIn> read_form(ExchangePtr const& x) {
    auto const form = webhook::form_to_json(x->request.body);
    if (!form) {
        x->fail(form.error());
        return std::nullopt;
    }
    std::string link = json::View(*form)["link"].string_or("");
    std::erase_if(link, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
    auto const hash = link.rfind('#');
    return SignIn{hash == std::string::npos ? link : link.substr(hash + 1),
                  safe_next(json::View(*form)["next"].string_or("/")), true,
                  json::View(*form)["confirm"].string_or("") == "yes"};
}

std::optional<SignIn> read_sign_in(ExchangePtr const& x) {
    if (is_sign_in_form(x->request)) return read_form(x);
    Body body(json::View(x->body), sign_in_request);
    SignIn out{body.string_or_empty("code"), safe_next(body.string("next").value_or("/"))};
    if (!body.error()) return out;
    x->fail(*body.error());
    return std::nullopt;
}

void answer_signed_in(ExchangePtr const& x, SignIn const& asked, Minted const& minted) {
    std::pair<std::string, std::string> const cookie{
        "Set-Cookie", set_cookie(x->request, session_cookie, minted.secret, cookie_life)};
    if (asked.form) return x->responder->reply({303, "", {{"Location", asked.next}, cookie}, ""});
    x->json(200, object_text(SignedIn{minted.row, asked.next}),
            {cookie, {"Cache-Control", "no-store"}});
}

}  // namespace

namespace {

// Passes the link of a code, or the error that says that there is none. Another process may have
// made it a moment ago.
void find_link(Api& api, ExchangePtr const& x, std::string const& code,
               std::function<void(Result<PrincipalPtr>)> const& done) {
    auto use = [&api, x, code, done](Result<void> const& looked) {
        if (!looked) return done(std::unexpected(looked.error()));
        Gate& gate = api.services().gate;
        if (PrincipalPtr link = gate.tokens().find("link", code)) return done(std::move(link));
        Error error = gate.failed_auth(x->request);
        if (error.code == Code::unauthenticated)
            error.detail =
                "This sign-in link was used before, or it has expired. Ask the person who sent it "
                "for a new one.";
        done(std::unexpected(std::move(error)));
    };
    if (code.empty() || api.services().gate.failed_too_often(x->request)) return use({});
    api.shared_access().look_up("link", code, std::move(use));
}

}  // namespace

void describe_link(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), link_request);
    std::string const code = body.required_string("code");
    if (body.error()) return x->fail(*body.error());
    find_link(api, x, code, [x](Result<PrincipalPtr> const& link) {
        if (!link) return x->fail(link.error());
        x->json(200, object_text(LinkAbout{**link, cookie_life}), {{"Cache-Control", "no-store"}});
    });
}

namespace {

void use_link(Api& api, ExchangePtr const& x, SignIn const& asked, Principal const& link) {
    if (!asked.confirmed)
        return x->responder->reply(
            confirm_page(link, x, asked.code, asked.next, api.services().runner.now()));
    Minted minted = cookie_of(api, link.row);
    session::Actor const by{session::ActorType::token, link.row.name};
    change_tokens(api, {"signed_in", by}, {.put = minted.row, .drop = link.row.id},
                  [x, minted, asked](Result<void> done) {
                      if (!done) return x->fail(done.error());
                      answer_signed_in(x, asked, minted);
                  });
}

}  // namespace

void sign_in(Api& api, ExchangePtr const& x) {
    auto const asked = read_sign_in(x);
    if (!asked) return;
    find_link(api, x, asked->code, [&api, x, asked = *asked](Result<PrincipalPtr> const& link) {
        if (link) return use_link(api, x, asked, **link);
        if (!asked.form) return x->fail(link.error());
        x->responder->reply(sign_in_page(api, x, asked.next, link.error()));
    });
}

namespace {

void revoke_cookie(Api& api, ExchangePtr const& x, HttpReply reply) {
    PrincipalPtr const who = x->principal;
    if (!who || !who->is_cookie()) return x->fail({Code::unauthenticated, "Nobody is signed in."});
    reply.headers.emplace_back("Set-Cookie",
                               set_cookie(x->request, session_cookie, "", Duration(0)));
    change_tokens(api, {"signed_out", x->by}, {.drop = who->row.id},
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

}  // namespace dormouse::http
