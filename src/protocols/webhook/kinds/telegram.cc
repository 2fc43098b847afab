// Telegram: a bot's message to a chat (sendMessage), changed by editMessageText. Without a
// parse_mode no text has markup.
#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "webhook/kinds/kinds.h"

#include <algorithm>

namespace dormouse::webhook {

namespace telegram {
namespace {

constexpr std::size_t text_max = 3'900;  // of 4,096 characters

std::string text_of(Notification const& it) {
    std::string out = headline(it);
    if (!it.question.empty()) out += "\n" + it.question;
    out += "\n\n" + it.tool + "\n" + it.arguments;
    if (it.deadline && it.outcome.empty()) out += "\n\nuntil " + utc_minute(*it.deadline);
    if (!it.digest.empty()) out += "\n" + it.digest;
    return cut_with_mark(out, text_max);
}

// Telegram refuses buttons whose URL is not public.
bool can_link(std::string const& url) { return url.starts_with("https://"); }

// "CHAT/MESSAGE"
ServiceRequest request(Notice const& notice, Notification const& it, std::string const& reference) {
    ServiceRequest out;
    out.url = notice.api_url + "/bot" + notice.token +
              (reference.empty() ? "/sendMessage" : "/editMessageText");
    out.headers = {{"Content-Type", "application/json"}};
    auto const slash = std::min(reference.find('/'), reference.size());
    json::Writer body;
    body.begin_object();
    body.member("chat_id", reference.empty() ? notice.channel : reference.substr(0, slash));
    if (!reference.empty()) body.member_raw("message_id", reference.substr(slash + 1));
    bool const button = can_link(it.url);
    std::string const link = it.url.empty() || button ? "" : "\n" + it.url;
    body.member("text", text_of(it) + link);
    body.key("link_preview_options").begin_object().member("is_disabled", true).end_object();
    if (button) {
        body.key("reply_markup").begin_object().key("inline_keyboard").begin_array().begin_array();
        body.begin_object().member("text", "Open").member("url", it.url).end_object();
        body.end_array().end_array().end_object();
    }
    out.body = body.end_object().take();
    return out;
}

ServiceReply reply(ServiceAnswer const& answer) {
    ServiceReply out = by_status(answer.status);
    auto const ok = answer.json["ok"].boolean();
    if (out.taken && !ok.value_or(false)) return {.why = "unexpected response, not from Telegram"};
    json::View const result = answer.json["result"];
    if (out.taken) {
        auto const message = result["message_id"].integer();
        auto const chat = result["chat"]["id"].integer();
        if (message && chat) out.reference = std::to_string(*chat) + "/" + std::to_string(*message);
        return out;
    }
    std::string const words = answer.json["description"].string_or("");
    bool const same = words.contains("message is not modified");
    if (answer.is_change && (same || words.contains("message to edit not found")))
        return {.taken = true};
    out.retry_after = seconds(answer.json["parameters"]["retry_after"]);
    return with_reason(std::move(out), words);
}

}  // namespace
}  // namespace telegram

Service const telegram_service{telegram::request, telegram::reply};

}  // namespace dormouse::webhook
