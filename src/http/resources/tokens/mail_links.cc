#include "http/resources/tokens/mail_links.h"

#include "base/text/text.h"
#include "base/url.h"
#include "http/objects/card_page.h"
#include "http/objects/html.h"
#include "http/resources/shared.h"
#include "http/resources/tokens/handlers.h"
#include "http/resources/tokens/token_changes.h"
#include "http/transport/address_count.h"
#include "json/json.h"
#include "port/mail.h"
#include "webhook/kinds/email.h"
#include "webhook/source.h"

#include <algorithm>

namespace dormouse::http {

namespace {

constexpr Duration requested_life{10 * 60'000};
constexpr Duration notified_life{std::int64_t{7} * 86'400'000};
// Each attempt to send a mail makes a link, which lives on if the attempt fails. The rest of the
// tokens stays for people who sign in.
constexpr std::size_t links_max = Tokens::most / 2;

bool may_link(Api& api) {
    drop_expired(api);
    Tokens const& tokens = api.services().gate.tokens();
    if (tokens.size() < links_max) return true;
    auto const all = tokens.all();
    auto const is_link = [](PrincipalPtr const& one) { return one->row.kind == "link"; };
    return static_cast<std::size_t>(std::ranges::count_if(all, is_link)) < links_max;
}

// Makes a link for the person, durably, and calls `then` with its URL.
void make_link(Api& api, Person const& person, std::string const& next, Duration lives,
               port::Fn<void(Result<std::string>)> then) {
    if (!may_link(api) || api.services().gate.tokens().size() >= Tokens::most)
        return then(fail(Code::overloaded, "there are too many links or tokens; revoke some"));
    port::TokenRow row{.kind = "link",
                       .name = person.name,
                       .role = std::string(text(person.role)),
                       .projects = person.projects};
    Minted minted = mint(api, "dml_", std::move(row), lives);
    std::string url = api.services().gate.base_url() + "/sign-in?next=" + percent_encode(next) +
                      "#" + minted.secret;
    session::Actor const by{session::ActorType::runtime, "e-mail"};
    change_tokens(api, {"link_created", by}, {.put = minted.row},
                  [url = std::move(url), then = std::move(then)](Result<void> done) mutable {
                      if (!done) return then(std::unexpected(std::move(done.error())));
                      then(std::move(url));
                  });
}

void send(Api& api, webhook::MailText text, std::function<bool()> wanted,
          port::Fn<void(Result<void>)> done) {
    People const& people = api.services().people;
    text.from = people.mail_from;
    text.at = api.services().runner.now();
    people.mail->send({.from = people.mail_from,
                       .to = text.to,
                       .content = webhook::mail_content(text),
                       .wanted = std::move(wanted)},
                      std::move(done));
}

Person const* person_of(Api& api, std::string const& address) {
    auto const& persons = api.services().people.persons;
    auto const found = std::ranges::find_if(persons, [&](Person const& person) {
        return !address.empty() && lower_case(person.email) == address;
    });
    return found == persons.end() ? nullptr : &*found;
}

void mail_sign_in_link(Api& api, Person const& person, std::string const& next) {
    auto sent = [&api, name = person.name](Result<void> done) {
        if (!done)
            api.services().log.warn("a sign-in link was not sent",
                                    {{"name", name}, {"why", done.error().detail}});
    };
    make_link(api, person, next, requested_life,
              [&api, to = person.email, sent](Result<std::string> link) mutable {
                  if (!link) return sent(std::unexpected(std::move(link.error())));
                  Random const random = api.services().entropy.random();
                  webhook::MailText text{.to = to, .subject = "Sign in to Dormouse"};
                  text.id = base64url(std::span(random).first(16));
                  text.body = "Somebody, probably you, asked for a link to sign in:\n\n" + *link +
                              "\n\nIt works once, within ten minutes. If it was not you, ignore "
                              "this mail.\n";
                  send(api, std::move(text), {}, std::move(sent));
              });
}

HttpReply sent_page() {
    return card_reply(200,
                      {.title = "Check your mail",
                       .card = "<p>If this address belongs to a person of this server, a sign-in "
                               "link is on its way. It works once, within ten minutes.</p>\n"
                               "<p><a class=\"btn\" href=\"/sign-in\">Back</a></p>\n"});
}

}  // namespace

std::string mail_form(Api& api, std::string const& next) {
    if (!api.services().people.mail) return "";
    return "<form method=\"post\" action=\"/sign-in/email\">\n"
           "<input type=\"hidden\" name=\"next\" value=\"" +
           html_text(next) +
           "\">\n<p><label>E-mail<br><input type=\"email\" name=\"email\" required "
           "autocomplete=\"email\" placeholder=\"name@example.org\"></label></p>\n"
           "<p><button>E-mail me a link</button></p>\n</form>\n";
}

// Every address gets the same answer at the same time, so that it tells nobody who has an account.
void post_sign_in_mail(Api& api, ExchangePtr const& x) {
    Services& services = api.services();
    if (!services.people.mail) return x->fail(not_found());
    auto const form = webhook::form_to_json(x->request.body);
    if (!form) return x->fail(form.error());
    if (!services.gate.may_ask_mail("client " + network_of(x->request.peer_address)))
        return x->fail(
            {Code::rate_limited, "Too many links were asked for; try again later.", {}, 600'000});
    std::string address = lower_case(json::View(*form)["email"].string_or(""));
    std::erase_if(address, [](char c) { return c == ' ' || c == '\t'; });
    std::string const next = safe_next(json::View(*form)["next"].string_or("/"));
    x->responder->reply(sent_page());
    Person const* const person = person_of(api, address);
    if (person && services.gate.may_ask_mail("address " + address))
        mail_sign_in_link(api, *person, next);
}

void mail_notification(Api& api, std::string const& name, webhook::Notification const& it,
                       std::string const& id, std::function<bool()> wanted,
                       port::Fn<void(Result<void>)> done) {
    Services& services = api.services();
    Person const* const person = services.people.find(&Person::name, name);
    if (!person || person->email.empty() || !services.people.mail)
        return done(fail(Code::not_found, "there is no e-mail address for " + name + " now"));
    Duration lives = notified_life;
    if (it.deadline)
        lives = std::clamp(Duration(*it.deadline - services.runner.now()), requested_life, lives);
    webhook::MailText text{.to = person->email, .subject = webhook::mail_subject(it), .id = id};
    if (!may_link(api)) {  // the page asks who it is
        text.body = webhook::mail_body(it, services.gate.base_url() + "/a/" + it.pending,
                                       webhook::LeadsTo::page);
        return send(api, std::move(text), std::move(wanted), std::move(done));
    }
    make_link(api, *person, "/a/" + it.pending, lives,
              [&api, it, text = std::move(text), wanted = std::move(wanted),
               done = std::move(done)](Result<std::string> link) mutable {
                  if (!link) return done(std::unexpected(std::move(link.error())));
                  text.body = webhook::mail_body(it, *link, webhook::LeadsTo::sign_in);
                  send(api, std::move(text), std::move(wanted), std::move(done));
              });
}

}  // namespace dormouse::http
