#include "wire/mail_json.h"

#include "wire/names.h"

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

MailId mail_id(json::View v, std::string_view name) {
    return parse_mail_id(v[name].string_or("")).value_or(MailId());
}

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

void write_mail(json::Writer& out, Mail const& mail) {
    out.member("mailID", text(mail.id)).member("projectID", mail.project);
    if (mail.from) out.member("from", mail.from->text());
    if (!mail.from_alias.empty()) out.member("fromAlias", mail.from_alias);
    if (!mail.to_alias.empty()) out.member("toAlias", mail.to_alias);
    out.member("text", mail.text);
    if (mail.reply_to) out.member("replyTo", text(*mail.reply_to));
    if (mail.conversation != mail.id) out.member("conversation", text(mail.conversation));
    if (mail.hops != 0) out.member("hops", mail.hops);
    if (mail.wake != Wake::usual) out.member("wake", text(mail.wake));
    out.member("by", actor_text(mail.by)).member("sent", to_ms(mail.sent));
    if (mail.expires) out.member("expires", to_ms(*mail.expires));
}

Mail read_mail(json::View v) {
    Mail mail;
    mail.id = mail_id(v, "mailID");
    mail.project = v["projectID"].string_or("");
    mail.from = SessionId::parse(v["from"].string_or(""));
    mail.from_alias = v["fromAlias"].string_or("");
    mail.to_alias = v["toAlias"].string_or("");
    mail.text = v["text"].string_or("");
    mail.reply_to = parse_mail_id(v["replyTo"].string_or(""));
    mail.conversation = v["conversation"].exists() ? mail_id(v, "conversation") : mail.id;
    mail.hops = static_cast<std::uint32_t>(v["hops"].integer_or(0));
    mail.wake = parse<Wake>(v["wake"].string_or("")).value_or(Wake::usual);
    mail.by = parse_actor(v["by"].string_or(""));
    mail.sent = from_ms(v["sent"].integer_or(0));
    if (auto const at = v["expires"].integer()) mail.expires = from_ms(*at);
    return mail;
}

void write_mail_targets(json::Writer& out, std::vector<MailTarget> const& to) {
    out.begin_array();
    for (MailTarget const& target : to) {
        out.begin_object().member("sessionID", target.session.text());
        if (!target.alias.empty()) out.member("alias", target.alias);
        out.end_object();
    }
    out.end_array();
}

std::vector<MailTarget> read_mail_targets(json::View array) {
    std::vector<MailTarget> out;
    array.elements([&](json::View target) {
        out.push_back({SessionId::parse(target["sessionID"].string_or("")).value_or(SessionId()),
                       target["alias"].string_or("")});
    });
    return out;
}

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
