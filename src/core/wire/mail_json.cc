#include "wire/mail_json.h"

#include "json/json.h"
#include "wire/names.h"

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

std::string name_of(std::string const& alias, std::optional<SessionId> const& session) {
    if (!session) return alias;
    return alias.empty() ? session->text() : alias + " (" + session->text() + ")";
}

void text_part(json::Writer& out, std::string const& text, bool synthetic) {
    out.begin_object().member("type", "text").member("text", text);
    if (synthetic) out.member("synthetic", true);
    out.end_object();
}

}  // namespace

Json mail_parts(Mail const& mail) {
    std::string const who = mail.from ? name_of(mail.from_alias, mail.from) : actor_text(mail.by);
    std::string heading = "Mail " + text(mail.id) + " from " + who;
    if (mail.reply_to) heading += ", in reply to " + text(*mail.reply_to);
    json::Writer out;
    out.begin_array();
    text_part(out, heading + ":\n", true);
    text_part(out, mail.text, false);
    return out.end_array().json();
}

Json bounce_parts(SessionId const& session, MailBounced const& bounced) {
    MailId const id{session, bounced.mail};
    json::Writer out;
    out.begin_array();
    text_part(out,
              "Mail " + text(id) + " to " + name_of(bounced.to.alias, bounced.to.session) +
                  " could not be delivered: " + bounced.error.message,
              true);
    return out.end_array().json();
}

}  // namespace dormouse::wire
