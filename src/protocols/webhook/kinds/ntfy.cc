// ntfy: a message to a topic, published as JSON at the root of its server.
#include "base/text/cut.h"
#include "webhook/kinds/kinds.h"

#include <algorithm>

namespace dormouse::webhook {

namespace ntfy {
namespace {

constexpr std::size_t message_max = 3'500;  // of 4,096 bytes; a longer one becomes a file

std::string text_of(Notification const& it) {
    std::string out = it.question.empty() ? "" : it.question + "\n";
    out += it.tool + " " + it.arguments;
    if (it.deadline) out += "\nuntil " + utc_minute(*it.deadline);
    if (!it.digest.empty()) out += "\n" + it.digest;
    return cut_with_mark(out, message_max);
}

ServiceRequest request(Notice const& notice, Notification const& it,
                       std::string const& /*reference*/) {
    auto const slash = std::min(notice.url.rfind('/'), notice.url.size());
    ServiceRequest out;
    out.url = notice.url.substr(0, slash) + "/";
    out.headers = {{"Content-Type", "application/json"}};
    if (!notice.token.empty()) out.headers.push_back({"Authorization", "Bearer " + notice.token});
    json::Writer body;
    body.begin_object();
    body.member("topic", slash < notice.url.size() ? notice.url.substr(slash + 1) : "");
    body.member("title", headline(it)).member("message", text_of(it));
    body.member("priority", it.event == "deadline_near" ? 5 : 4);
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
    if (out.taken && answer.json["id"].string_or("").empty())
        return {.why = "unexpected response, not from ntfy"};
    if (out.taken) return out;
    return with_reason(std::move(out), answer.json["error"].string_or(""));
}

}  // namespace
}  // namespace ntfy

Service const ntfy_service{ntfy::request, ntfy::reply};

}  // namespace dormouse::webhook
