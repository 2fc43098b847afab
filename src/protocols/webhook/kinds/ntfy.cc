// ntfy: a message to a topic, published as JSON at the root of its server. A message with the
// sequence id of an earlier one replaces it (ntfy 2.16; older servers show both).
#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "webhook/kinds/kinds.h"

#include <algorithm>

namespace dormouse::webhook {

namespace ntfy {
namespace {

constexpr std::size_t message_max = 3'500;  // of 4,096 bytes; a longer one becomes a file
constexpr std::size_t id_max = 64;

std::string text_of(Notification const& it) {
    std::string out = it.question.empty() ? "" : it.question + "\n";
    out += it.tool + " " + it.arguments;
    if (it.deadline && it.outcome.empty()) out += "\nuntil " + utc_minute(*it.deadline);
    if (!it.digest.empty()) out += "\n" + it.digest;
    return cut_with_mark(out, message_max);
}

// 5 and 4 sound; 2 does not.
int priority_of(Notification const& it) {
    if (!it.outcome.empty()) return 2;
    return it.event == "deadline_near" ? 5 : 4;
}

bool is_id(std::string_view text) {
    constexpr std::string_view allowed =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    return !text.empty() && text.size() <= id_max &&
           std::ranges::all_of(text, [&](char c) { return allowed.contains(c); });
}

ServiceRequest request(Notice const& notice, Notification const& it, std::string const& reference) {
    auto const slash = std::min(notice.url.rfind('/'), notice.url.size());
    ServiceRequest out;
    out.url = notice.url.substr(0, slash) + "/";
    out.headers = {{"Content-Type", "application/json"}};
    if (!notice.token.empty()) out.headers.push_back({"Authorization", "Bearer " + notice.token});
    json::Writer body;
    body.begin_object();
    body.member("topic", slash < notice.url.size() ? notice.url.substr(slash + 1) : "");
    body.member("title", headline(it)).member("message", text_of(it));
    if (!reference.empty()) body.member("sequence_id", reference);
    body.member("priority", priority_of(it));
    if (!it.url.empty()) {
        body.member("click", it.url).key("actions").begin_array().begin_object();
        body.member("action", "view").member("label", "Open").member("url", it.url);
        body.end_object().end_array();
    }
    out.body = body.end_object().take();
    return out;
}

ServiceReply reply(ServiceAnswer const& answer) {
    ServiceReply out = by_status(answer.status);
    std::string id = answer.json["id"].string_or("");
    if (out.taken && id.empty()) return {.why = "unexpected response, not from ntfy"};
    if (out.taken && is_id(id)) out.reference = std::move(id);
    if (out.taken) return out;
    return with_reason(std::move(out), answer.json["error"].string_or(""));
}

}  // namespace
}  // namespace ntfy

Service const ntfy_service{ntfy::request, ntfy::reply};

}  // namespace dormouse::webhook
