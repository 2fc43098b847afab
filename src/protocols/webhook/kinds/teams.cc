// Microsoft Teams: an incoming webhook of a workflow or a connector, which takes an Adaptive Card.
// The text of a RichTextBlock has no markup.
#include "base/text/iso_time.h"
#include "webhook/kinds/kinds.h"

namespace dormouse::webhook {

namespace teams {
namespace {

void write_text(json::Writer& out, std::string_view text, std::string_view look) {
    out.begin_object().member("type", "RichTextBlock").key("inlines").begin_array();
    out.begin_object().member("type", "TextRun").member("text", text);
    if (look == "bold") out.member("weight", "Bolder").member("size", "Medium");
    if (look == "code") out.member("fontType", "Monospace");
    if (look == "dim") out.member("isSubtle", true).member("size", "Small");
    out.end_object().end_array().end_object();
}

void write_card(json::Writer& out, Notification const& it) {
    out.begin_object().member("$schema", "http://adaptivecards.io/schemas/adaptive-card.json");
    out.member("type", "AdaptiveCard").member("version", "1.4").key("body").begin_array();
    write_text(out, headline(it), "bold");
    if (!it.question.empty()) write_text(out, it.question, "");
    write_text(out, it.tool + " " + it.arguments, "code");
    if (it.deadline) write_text(out, "until " + utc_minute(*it.deadline), "");
    if (!it.digest.empty()) write_text(out, it.digest, "dim");
    out.end_array();
    if (!it.url.empty()) {
        out.key("actions").begin_array().begin_object().member("type", "Action.OpenUrl");
        out.member("title", "Open").member("url", it.url).end_object().end_array();
    }
    out.end_object();
}

ServiceRequest request(Notice const& notice, Notification const& it,
                       std::string const& /*reference*/) {
    json::Writer body;
    body.begin_object().member("type", "message").key("attachments").begin_array().begin_object();
    body.member("contentType", "application/vnd.microsoft.card.adaptive").key("content");
    write_card(body, it);
    body.end_object().end_array().end_object();
    return {
        .url = notice.url, .headers = {{"Content-Type", "application/json"}}, .body = body.take()};
}

// A connector answers 200 with "1", or with a sentence that names its own failure.
ServiceReply reply(ServiceAnswer const& answer) {
    ServiceReply out = by_status(answer.status);
    if (out.taken && answer.body.contains("HTTP error"))
        return {.why = "Teams did not take the message"};
    if (out.taken && answer.body.starts_with('<'))
        return {.why = "unexpected response, not from Teams"};
    return out;
}

}  // namespace
}  // namespace teams

Service const teams_service{teams::request, teams::reply};

}  // namespace dormouse::webhook
