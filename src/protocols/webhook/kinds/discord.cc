// Discord: an incoming webhook. With ?wait=true the answer is the message, whose id changes it
// later. Texts of agents and tools mention nobody; Markdown in them is escaped.
#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "webhook/kinds/kinds.h"

#include <algorithm>

namespace dormouse::webhook {

namespace discord {
namespace {

// The colours of the page: waiting, decided.
constexpr int amber = 0xD9A441;
constexpr int grey = 0x8A8F98;

std::string escaped(std::string_view text) {
    constexpr std::string_view markup = "\\*_~`|>[]()#<@:-";
    std::string out;
    for (char const c : text) {
        if (markup.contains(c)) out += '\\';
        out += c;
    }
    return out;
}

// A code block, which no backtick of the text ends.
std::string block(std::string text) {
    std::ranges::replace(text, '`', '\'');
    return "```json\n" + text + "\n```";
}

void write_field(json::Writer& out, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out.begin_object().member("name", name).member("value", value).end_object();
}

std::string body_of(Notification const& it) {
    json::Writer out;
    out.begin_object().key("allowed_mentions").begin_object();
    out.key("parse").begin_array().end_array().end_object();
    out.key("embeds").begin_array().begin_object().member("title",
                                                          cut_with_mark(headline(it), 250));
    out.member("color", it.outcome.empty() ? amber : grey);
    if (!it.question.empty()) out.member("description", escaped(it.question));
    if (!it.url.empty()) out.member("url", it.url);
    out.key("fields").begin_array();
    write_field(out, "Tool", escaped(cut_with_mark(it.tool, 200)));
    if (!it.arguments.empty())
        write_field(out, "Arguments", block(cut_with_mark(it.arguments, 990)));
    if (it.deadline && it.outcome.empty()) write_field(out, "Until", utc_minute(*it.deadline));
    out.end_array();
    if (!it.digest.empty()) out.key("footer").begin_object().member("text", it.digest).end_object();
    return out.end_object().end_array().end_object().take();
}

ServiceRequest request(Notice const& notice, Notification const& it, std::string const& reference) {
    ServiceRequest out;
    auto const query = std::min(notice.url.find('?'), notice.url.size());
    std::string const options = notice.url.substr(query);  // ?thread_id=
    out.headers = {{"Content-Type", "application/json"}};
    out.body = body_of(it);
    if (reference.empty()) {
        out.url = notice.url + (options.empty() ? "?wait=true" : "&wait=true");
        return out;
    }
    out.method = "PATCH";
    out.url = notice.url.substr(0, query) + "/messages/" + reference + options;
    return out;
}

bool is_id(std::string_view text) {
    constexpr std::string_view digits = "0123456789";
    return !text.empty() && text.size() <= 20 &&
           std::ranges::all_of(text, [&](char c) { return digits.contains(c); });
}

ServiceReply reply(ServiceAnswer const& answer) {
    ServiceReply out = by_status(answer.status);
    if (answer.is_change && answer.status == 404) return {.taken = true};  // it was deleted
    if (out.taken) {
        std::string id = answer.json["id"].string_or("");
        if (!answer.is_json) return {.why = "unexpected response, not from Discord"};
        if (is_id(id)) out.reference = std::move(id);
        return out;
    }
    out.retry_after = seconds(answer.json["retry_after"]);
    return with_reason(std::move(out), answer.json["message"].string_or(""));
}

}  // namespace
}  // namespace discord

Service const discord_service{discord::request, discord::reply};

}  // namespace dormouse::webhook
