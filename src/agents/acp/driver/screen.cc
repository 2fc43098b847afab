#include "acp/driver/screen.h"

#include "acp/protocol_types.h"
#include "base/text/cut.h"
#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

// Enough for the steps of a long answer, because readings are only seconds apart.
constexpr int newest = 50;
constexpr std::size_t answer_max = std::size_t{32} << 20;
constexpr std::size_t text_max = std::size_t{1} << 20;

std::string written(json::View part) {
    bool const own = part["synthetic"].boolean_or(false) || part["ignored"].boolean_or(false);
    std::string const type = part["type"].string_or("");
    if (own) return "";
    if (type == "text") return part["text"].string_or("");
    if (type == "subtask") return part["prompt"].string_or("");
    if (type == "file") return "[" + part["filename"].string_or("a file") + "]";
    return "";
}

// Returns "[]" if a person wrote no part of it.
Json parts_of(json::View message, std::string_view marker) {
    json::Writer out;
    out.begin_array();
    std::size_t budget = text_max;
    bool ours = false;
    message["parts"].elements([&](json::View part) {
        std::string text = written(part);
        ours = ours || text.find(marker) != std::string::npos;
        if (text.empty() || budget == 0) return;
        text = cut_with_mark(text, budget, cut_note);
        budget -= std::min(budget, text.size());
        out.begin_object().member("type", "text").member("text", text).end_object();
    });
    Json parts = out.end_array().json();
    return ours ? Json::trusted("[]") : parts;
}

// Returns the agent's answer to the message `id`; null: none, or not finished.
Json answer_to(json::View messages, std::string const& id) {
    json::Writer out;
    out.begin_array();
    std::size_t budget = text_max / 4;
    bool ended = false;
    messages.elements([&](json::View message) {
        json::View const info = message["info"];
        if (id.empty() || info["parentID"].string_or("") != id) return;
        ended = info["time"]["completed"].exists();
        message["parts"].elements([&](json::View part) {
            std::string text = part["type"].string_or("") == "text" ? written(part) : "";
            if (text.empty() || budget == 0) return;
            text = cut_with_mark(text, budget, cut_note);
            budget -= std::min(budget, text.size());
            out.begin_object().member("type", "text").member("text", text).end_object();
        });
    });
    Json parts = out.end_array().json();
    return ended && parts.text() != "[]" ? parts : Json();
}

port::HttpRequest request_for(ScreenPlace const& place) {
    std::string const secret = "opencode:" + place.password;
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(secret.data());
    port::HttpRequest request;
    request.url = place.url + "/session/" + percent_encode(place.session) +
                  "/message?limit=" + std::to_string(newest) +
                  "&directory=" + percent_encode(place.folder);
    request.headers = {{"Authorization", "Basic " + base64({bytes, secret.size()})}};
    request.total_limit = Duration(10'000);
    request.response_max = answer_max;
    return request;
}

}  // namespace

std::vector<AgentTyped> typed_in(json::View messages, std::string_view marker) {
    std::vector<AgentTyped> out;
    messages.elements([&](json::View message) {
        json::View const info = message["info"];
        if (info["role"].string_or("") != "user") return;
        AgentTyped typed{parts_of(message, marker), info["time"]["created"].integer_or(0),
                         answer_to(messages, info["id"].string_or(""))};
        if (typed.at > 0 && typed.parts.text() != "[]") out.push_back(std::move(typed));
    });
    std::ranges::sort(out, {}, &AgentTyped::at);
    return out;
}

void read_messages(port::HttpClient& http, ScreenPlace const& place, ScreenRead then) {
    struct Reading {
        int status = 0;
        std::string body;
    };
    auto const reading = std::make_shared<Reading>();
    port::HttpCallbacks callbacks;
    callbacks.head = [reading](port::HttpHead const& head) { reading->status = head.status; };
    callbacks.data = [reading](std::string_view chunk) { reading->body += chunk; };
    callbacks.done = [reading, marker = place.marker,
                      then = std::move(then)](std::optional<port::HttpFailure> const& failure) {
        if (failure || reading->status != 200) return then({});
        auto const answer = json::check(reading->body);
        then(answer ? typed_in(json::View(*answer), marker) : std::vector<AgentTyped>());
    };
    http.start(request_for(place), std::move(callbacks));
}

}  // namespace dormouse::acp
