#include "webhook/kinds/kinds.h"

#include <algorithm>
#include <cmath>

namespace dormouse::webhook {

namespace {

constexpr std::size_t words_max = 120;

}  // namespace

Service const* service_of(Notice const& notice) {
    switch (notice.kind) {
        case NotifyKind::slack: return &slack_service;
        case NotifyKind::slack_bot: return &slack_bot_service;
        case NotifyKind::discord: return &discord_service;
        case NotifyKind::telegram: return &telegram_service;
        case NotifyKind::teams: return &teams_service;
        case NotifyKind::ntfy: return &ntfy_service;
        case NotifyKind::web_push: return &web_push_service;
        case NotifyKind::email:
        case NotifyKind::webhook:
        case NotifyKind::command: break;
    }
    return nullptr;
}

bool can_change(Notice const& notice) {
    using enum NotifyKind;
    return notice.kind == slack_bot || notice.kind == discord || notice.kind == telegram ||
           notice.kind == ntfy || notice.kind == web_push;
}

ServiceReply read_reply(Service const& service, int status, std::string_view body, bool is_change) {
    ServiceAnswer answer{.status = status, .body = body, .is_change = is_change};
    auto const checked = json::check(body);
    answer.is_json = checked.has_value();
    if (checked) answer.json = json::View(*checked);
    return service.reply(answer);
}

ServiceReply by_status(int status) {
    ServiceReply out;
    out.taken = status >= 200 && status < 300;
    if (out.taken) return out;
    out.why = "the service answered " + std::to_string(status);
    out.permanent = status == 400 || status == 413;
    return out;
}

ServiceReply with_reason(ServiceReply reply, std::string const& words) {
    bool const plain = !words.empty() && words.size() <= words_max &&
                       std::ranges::all_of(words, [](char c) { return c >= ' ' && c < 0x7F; });
    if (plain) reply.why += ": " + words;
    return reply;
}

std::optional<Duration> seconds(json::View value) {
    auto const number = value.number();
    if (!number || !(*number >= 0) || *number > 1e6) return std::nullopt;
    return Duration(static_cast<std::int64_t>(std::ceil(*number * 1'000)));
}

}  // namespace dormouse::webhook
