// Slack: an incoming webhook, which takes a text; or a bot (chat.postMessage), whose messages have
// blocks and buttons and can be changed (chat.update). Texts of agents and tools are plain_text or
// preformatted, so that no markup and no mention of theirs has an effect.
#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "webhook/kinds/kinds.h"

#include <algorithm>

namespace dormouse::webhook {

namespace slack {
namespace {

constexpr std::size_t section_max = 2'900;  // of 3,000 characters

// Escapes characters that Slack would take for markup or mentions.
std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else {
            out += c;
        }
    }
    return out;
}

void write_plain(json::Writer& out, std::string_view text) {
    out.begin_object().member("type", "plain_text").member("text", text);
    out.member("emoji", false).end_object();
}

void write_section(json::Writer& out, std::string_view text) {
    out.begin_object().member("type", "section").key("text");
    write_plain(out, cut_with_mark(text, section_max));
    out.end_object();
}

void write_preformatted(json::Writer& out, std::string_view text) {
    out.begin_object().member("type", "rich_text").key("elements").begin_array();
    out.begin_object().member("type", "rich_text_preformatted").key("elements").begin_array();
    out.begin_object().member("type", "text").member("text", text).end_object();
    out.end_array().end_object().end_array().end_object();
}

std::string details(Notification const& it) {
    std::string out = it.agent;
    if (it.deadline && it.outcome.empty())
        out += (out.empty() ? "" : " · ") + std::string("until ") + utc_minute(*it.deadline);
    if (!it.digest.empty()) out += (out.empty() ? "" : " · ") + it.digest;
    return out;
}

void write_context(json::Writer& out, std::string const& text) {
    if (text.empty()) return;
    out.begin_object().member("type", "context").key("elements").begin_array();
    write_plain(out, text);
    out.end_array().end_object();
}

void write_button(json::Writer& out, std::string_view label, std::string_view action,
                  std::string_view style, Notification const& it) {
    out.begin_object().member("type", "button").key("text");
    write_plain(out, label);
    out.member("action_id", action);
    if (!style.empty()) out.member("style", style);
    if (action == "open") {
        out.member("url", it.url);
    } else {
        out.member("value", it.pending + " " + it.digest);
    }
    out.end_object();
}

void write_actions(json::Writer& out, Notice const& notice, Notification const& it) {
    bool const decides = notice.buttons && is_decidable(it);
    if (!decides && it.url.empty()) return;
    out.begin_object().member("type", "actions").key("elements").begin_array();
    if (decides) {
        write_button(out, "Approve", "approve", "primary", it);
        write_button(out, "Deny", "deny", "danger", it);
    }
    if (!it.url.empty()) write_button(out, "Open", "open", "", it);
    out.end_array().end_object();
}

void write_blocks(json::Writer& out, Notice const& notice, Notification const& it) {
    out.key("blocks").begin_array();
    write_section(out, it.question.empty() ? headline(it) : headline(it) + ": " + it.question);
    std::string const call = it.arguments.empty() ? it.tool : it.tool + " " + it.arguments;
    if (!call.empty()) write_preformatted(out, call);
    write_context(out, details(it));
    write_actions(out, notice, it);
    out.end_array();
}

constexpr char const* json_type = "application/json; charset=utf-8";

ServiceRequest hook_request(Notice const& notice, Notification const& it,
                            std::string const& /*reference*/) {
    json::Writer body;
    body.begin_object().member("text", escaped(plain_text(it))).end_object();
    return {.url = notice.url, .headers = {{"Content-Type", json_type}}, .body = body.take()};
}

ServiceReply hook_reply(ServiceAnswer const& answer) { return by_status(answer.status); }

// A reference is "CHANNEL/TS".
ServiceRequest bot_request(Notice const& notice, Notification const& it,
                           std::string const& reference) {
    ServiceRequest out;
    out.headers = {{"Content-Type", json_type}, {"Authorization", "Bearer " + notice.token}};
    auto const slash = std::min(reference.find('/'), reference.size());
    out.url = notice.api_url + (reference.empty() ? "/chat.postMessage" : "/chat.update");
    json::Writer body;
    body.begin_object();
    body.member("channel", reference.empty() ? notice.channel : reference.substr(0, slash));
    if (!reference.empty()) body.member("ts", reference.substr(slash + 1));
    body.member("text", escaped(plain_text(it)));
    body.member("unfurl_links", false).member("unfurl_media", false);
    write_blocks(body, notice, it);
    out.body = body.end_object().take();
    return out;
}

bool has(std::initializer_list<std::string_view> words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

// The API answers {"ok": bool, …} with status 200.
ServiceReply bot_reply(ServiceAnswer const& answer) {
    ServiceReply out = by_status(answer.status);
    if (!out.taken) return out;
    auto const ok = answer.json["ok"].boolean();
    if (!answer.is_json || !ok) return {.why = "unexpected response, not from Slack"};
    if (*ok) {
        std::string const channel = answer.json["channel"].string_or("");
        std::string const ts = answer.json["ts"].string_or("");
        if (!channel.empty() && !ts.empty()) out.reference = channel + "/" + ts;
        return out;
    }
    std::string const error = answer.json["error"].string_or("");
    if (answer.is_change &&
        has({"message_not_found", "cant_update_message", "edit_window_closed"}, error))
        return {.taken = true};
    out.taken = false;
    out.why = "Slack refused the message";
    out.permanent = has({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long",
                         "msg_too_long", "no_text", "channel_not_found", "is_archived",
                         "invalid_auth", "not_authed", "account_inactive", "token_revoked"},
                        error);
    return with_reason(std::move(out), error);
}

}  // namespace
}  // namespace slack

Service const slack_service{slack::hook_request, slack::hook_reply};
Service const slack_bot_service{slack::bot_request, slack::bot_reply};

}  // namespace dormouse::webhook
