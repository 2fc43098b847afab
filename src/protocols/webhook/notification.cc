#include "webhook/notification.h"

#include "base/text/cut.h"
#include "base/text/iso_time.h"
#include "base/text/text.h"
#include "json/json.h"
#include "webhook/outgoing.h"

#include <algorithm>
#include <array>

namespace dormouse::webhook {

namespace {

constexpr std::size_t arguments_in_text = 300;

struct Line {
    std::string_view event;
    std::string_view headline;
};
constexpr std::array<Line, 4> headlines{
    {{"expired", "Nobody answered in time"},
     {"deadline_near", "Still waiting, and the deadline is near"},
     {"in_doubt", "In doubt"},
     {"reminded", "Still waiting"}}};

}  // namespace

std::string headline(Notification const& it) {
    if (!it.outcome.empty()) return it.outcome;
    bool const job = it.reason == "tool_result" || it.reason == "handoff";
    if (it.event == "expired" && job) return "Tool execution timed out";
    auto const* const known = std::ranges::find(headlines, it.event, &Line::event);
    if (known != headlines.end()) return std::string(known->headline);
    return it.reason == "approval" ? "Approval wanted" : "Waiting";
}

std::string plain_text(Notification const& it) {
    std::string const about = it.tool + " " + cut_with_mark(it.arguments, arguments_in_text);
    bool const asks = it.event != "expired" && it.event != "deadline_near";
    std::string text = headline(it) + ": ";
    text += asks && !it.question.empty() ? it.question + "\n" + about : about;
    if (it.deadline && it.outcome.empty()) text += "\nuntil " + iso_time(*it.deadline);
    if (!it.url.empty()) text += "\n" + it.url;
    return text;
}

bool is_decidable(Notification const& it) {
    return it.reason == "approval" && it.outcome.empty() && it.event != "expired" &&
           !it.digest.empty() && it.is_whole && !it.always_ask;
}

std::string write_notification(Notification const& it) {
    json::Writer out;
    out.begin_object().member("type", "notify").member("event", it.event);
    out.member("reason", it.reason).member("tool", it.tool).member("pendingID", it.pending);
    out.member("sessionID", it.session).member("agentID", it.agent);
    out.member("message", it.question).member("arguments", it.arguments);
    it.digest.empty() ? out.member_null("inputDigest") : out.member("inputDigest", it.digest);
    out.member("whole", it.is_whole).member("alwaysAsk", it.always_ask);
    it.outcome.empty() ? out.member_null("outcome") : out.member("outcome", it.outcome);
    out.member("text", plain_text(it));
    out.member("timeout", it.deadline ? std::optional(to_ms(*it.deadline)) : std::nullopt);
    it.url.empty() ? out.member_null("url") : out.member("url", it.url);
    return out.end_object().take();
}

std::optional<Notification> read_notification(std::string_view text) {
    auto const checked = json::check(text);
    if (!checked) return std::nullopt;
    json::View const from(*checked);
    if (from["type"].string_or("") != "notify") return std::nullopt;
    Notification out;
    out.event = from["event"].string_or("");
    out.reason = from["reason"].string_or("");
    out.pending = from["pendingID"].string_or("");
    out.session = from["sessionID"].string_or("");
    out.agent = from["agentID"].string_or("");
    out.tool = from["tool"].string_or("");
    out.question = from["message"].string_or("");
    out.arguments = from["arguments"].string_or("");
    out.digest = from["inputDigest"].string_or("");
    out.is_whole = from["whole"].boolean_or(false);
    out.always_ask = from["alwaysAsk"].boolean_or(true);
    out.outcome = from["outcome"].string_or("");
    out.url = from["url"].string_or("");
    if (auto const at = from["timeout"].integer()) out.deadline = from_ms(*at);
    return out;
}

}  // namespace dormouse::webhook
