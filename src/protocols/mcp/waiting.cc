#include "mcp/waiting.h"

#include "json/json.h"

#include <algorithm>

namespace dormouse::mcp {
namespace {

// Seconds that the next request may wait; at least one, so that a server is not asked all the time.
std::int64_t seconds_of(ApiAccess const& api, Waiting const& waiting) {
    if (!waiting.until) return api.wait_seconds;
    auto const left = std::chrono::ceil<std::chrono::seconds>(*waiting.until - api.now()).count();
    return std::clamp<std::int64_t>(left, 1, api.wait_seconds);
}

}  // namespace

bool is_settled(Json const& call) {
    auto const status = json::View(call)["status"].string_or("");
    return status != "waiting" && status != "processing";
}

void ask_until_back(ApiPtr const& api, std::string target, TicketPtr const& ticket, ApiDone done) {
    ApiRequest request{.target = target, .waits = ticket != nullptr};
    api->ask(std::move(request), [api, target = std::move(target), ticket,
                                  done = std::move(done)](ApiAnswer answer) mutable {
        bool const away = !answer && answer.error().away;
        if (!away || !ticket || ticket->over()) return done(std::move(answer));
        ask_until_back(api, std::move(target), ticket, std::move(done));
    });
}

void wait_for(ApiPtr const& api, Waiting waiting, TicketPtr const& ticket, ApiDone done) {
    ApiRequest request{
        .target = waiting.target + "?wait=" + std::to_string(seconds_of(*api, waiting)),
        .waits = true};
    api->ask(std::move(request), [api, waiting = std::move(waiting), ticket,
                                  done = std::move(done)](ApiAnswer answer) mutable {
        bool const late = waiting.until && api->now() >= *waiting.until;
        bool const away = !answer && answer.error().away;
        bool const open = answer && !waiting.final(*answer);
        if (ticket->over() || late || (!away && !open)) return done(std::move(answer));
        if (ticket->progress && open) ticket->progress("waiting");
        wait_for(api, std::move(waiting), ticket, std::move(done));
    });
}

}  // namespace dormouse::mcp
