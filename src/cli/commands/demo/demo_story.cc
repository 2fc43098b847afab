#include "cli/commands/demo/demo_story.h"

#include "cli/render/story.h"

#include "base/text/text.h"

#include <array>
#include <cstdio>
#include <ostream>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr std::string_view result = R"("result":{"title":"Deployed","output":{"status":"live",)"
                                    R"("url":"https://preview-123.example.com"},"metadata":{}})";
constexpr std::string_view other_result =
    R"("result":{"title":"Deployed","output":{"status":"failed"},"metadata":{}})";

}  // namespace

std::unexpected<Failure> broken(std::string what) {
    return failure(status::failed, "the check failed: " + std::move(what));
}

void DemoStory::print_line(std::string const& text) {
    auto const now = std::chrono::steady_clock::now();
    auto const ms = std::chrono::duration<double, std::milli>(now - since_).count();
    since_ = now;
    std::array<char, 32> time{};
    std::snprintf(time.data(), time.size(), "%8.1f ms  ", ms);
    context_.out << context_.style(Paint::dim, time.data()) << text << '\n' << std::flush;
}

Outcome<json::View> DemoStory::get(std::string const& target) {
    auto reply = client_->get(target);
    if (!reply) return std::unexpected(reply.error());
    last_ = std::move(reply->body);
    return json::View(last_);
}

Outcome<Reply> DemoStory::submit(std::string_view what) {
    auto const body = "{\"pendingID\":" + json::quote(pending_) + "," + std::string(what) + "}";
    return client_->post("/async-tool/result", Json::trusted(body));
}

Outcome<void> DemoStory::fall_asleep() {
    auto const body = Json::trusted(R"({"agentID":"demo","prompt":{"text":"deploy A"}})");
    auto const created = client_->post("/api/projects/default/sessions?wait=10", body, Keyed::yes);
    if (!created) return std::unexpected(created.error());
    session_ = json::View(created->body)["id"].string_or("");
    auto const session = get("/api/sessions/" + session_ + "?wait=10");
    if (!session) return std::unexpected(session.error());
    auto const activity = (*session)["activity"];
    pending_ = activity["pendingID"].string_or("");
    if (activity["type"].string_or("") != "waiting_async" || pending_.empty())
        return broken("the session does not sleep");
    print_line("session " + escape_for_terminal(session_) + " was asked: deploy A");
    print_line("it called deploy, which takes long, and sleeps: " + escape_for_terminal(pending_));
    return {};
}

Outcome<void> DemoStory::still_waits() {
    auto const call = get("/async-tool/pending/" + pending_);
    if (!call) return std::unexpected(call.error());
    if ((*call)["status"].string_or("") != "waiting")
        return broken("the call does not wait any more");
    print_line("the call still waits");
    return {};
}

Outcome<void> DemoStory::apply() {
    auto const reply = submit(result);
    if (!reply) return std::unexpected(reply.error());
    json::View const answer(reply->body);
    digest_ = answer["receipt"]["digest"].string_or("");
    if (answer["outcome"].string_or("") != "applied" || digest_.empty())
        return broken("the result was not applied");
    print_line("the result came over HTTP: applied, receipt " + escape_for_terminal(digest_));
    return {};
}

Outcome<void> DemoStory::woke() {
    auto const session = get("/api/sessions/" + session_ + "?wait=10");
    if (!session) return std::unexpected(session.error());
    if ((*session)["activity"]["type"].string_or("") != "idle")
        return broken("the session did not continue");
    auto const messages = get("/api/sessions/" + session_ + "/messages");
    if (!messages) return std::unexpected(messages.error());
    std::string reply_text;
    (*messages)["items"].elements([&](json::View message) {
        if (message["role"].string_or("") != "assistant") return;
        message["parts"].elements([&](json::View part) {
            if (part["type"].string_or("") == "text") reply_text = part["text"].string_or("");
        });
    });
    if (reply_text.find("https://preview-123.example.com") == std::string::npos)
        return broken("the answer lacks the result");
    print_line("the session woke and answered: " + escape_for_terminal(reply_text));
    return {};
}

Outcome<void> DemoStory::repeat() {
    auto const reply = submit(result);
    if (!reply) return std::unexpected(reply.error());
    json::View const answer(reply->body);
    bool const same = answer["receipt"]["digest"].string_or("") == digest_;
    if (!answer["duplicate"].boolean_or(false) || !same)
        return broken("the repeated result was not a duplicate");
    print_line("the same result again: acknowledged, duplicate: true, same receipt");
    return {};
}

Outcome<void> DemoStory::contradict() {
    auto const reply = submit(other_result);
    if (reply || code_of(reply.error()) != "conflict")
        return broken("another result was not refused");
    auto const winner = json::View(reply.error().problem)["digest"].string_or("");
    if (winner != digest_) return broken("the refusal names another digest");
    print_line("another result: refused, 409 conflict, the first one stays");
    return {};
}

Outcome<void> DemoStory::count() {
    ConsumptionCount counting(pending_);
    std::int64_t after = 0;
    for (;;) {
        auto const page =
            get("/api/sessions/" + session_ + "/events?limit=200&after=" + std::to_string(after));
        if (!page) return std::unexpected(page.error());
        auto const items = (*page)["items"];
        items.elements([&](json::View event) {
            counting.add(event);
            after = event["seq"].integer_or(after);
        });
        if (items.size() == 0 || (*page)["next"].is_null()) break;
    }
    auto const& seen = counting.result();
    if (seen.settlements != 1)
        return broken(std::to_string(seen.settlements) + " outcomes settled the call");
    if (seen.steps_after != 1)
        return broken(std::to_string(seen.steps_after) + " steps consumed the result");
    if (seen.tool_starts != 1)
        return broken("the tool was started " + std::to_string(seen.tool_starts) + " times");
    if (seen.turns_ended != 1) return broken(std::to_string(seen.turns_ended) + " turns ended");
    print_line(
        "counted in the journal: started once, settled once, consumed by exactly one model step");
    return {};
}

}  // namespace dormouse::cli
