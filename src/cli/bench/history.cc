#include "cli/bench/history.h"

#include "base/check.h"
#include "json/json.h"

#include <algorithm>

namespace dormouse::cli {
namespace {

constexpr int turn_bytes = 2048;
constexpr std::string_view bare_target = "/api/projects/default/sessions";

}  // namespace

bool CreateScript::next(std::size_t connection, std::string& out) {
    if (left_ == 0) return false;
    --left_;
    out = writer_.post(connection, bare_target, R"({"agentID":"demo"})");
    return true;
}

bool CreateScript::take(std::size_t, int status, std::string_view body, double) {
    auto const session = member_text(body, "id");
    if (status != 201 || session.empty()) {
        wrong = unexpected_answer("a session without a prompt", status, body);
        return false;
    }
    sessions.emplace_back(session);
    return true;
}

Turns turns_of(int bytes) {
    CHECK(bytes > 0);
    int const count = (bytes + turn_bytes - 1) / turn_bytes;
    auto const size = std::max(1, bytes / count / 2);
    return {count, std::string(static_cast<std::size_t>(size), 'x')};
}

TurnScript::TurnScript(RequestWriter const& writer, std::vector<std::string> const& sessions,
                       Turns turns)
    : writer_(writer),
      sessions_(sessions),
      turns_(std::move(turns)),
      body_("{\"text\":" + json::quote(turns_.text) + "}") {}

bool TurnScript::next(std::size_t connection, std::string& out) {
    if (connection >= links_.size()) links_.resize(connection + 1);
    auto& link = links_[connection];
    if (link.watches) {
        out = writer_.get(connection, "/api/sessions/" + link.session + "?wait=10");
        return true;
    }
    if (link.turns_left == 0) {
        if (next_ == sessions_.size()) return false;
        link.session = sessions_[next_++];
        link.turns_left = turns_.count;
    }
    out = writer_.post(connection, "/api/sessions/" + link.session + "/prompt?wait=10", body_);
    return true;
}

bool TurnScript::take(std::size_t connection, int status, std::string_view body, double took_us) {
    auto& link = links_[connection];
    bool const sleeps = body.find(R"("type":"waiting_async")") != std::string_view::npos;
    bool const rests = sleeps || body.find(R"("type":"idle")") != std::string_view::npos;
    if (status != 200 || (link.watches && !rests)) {
        wrong = unexpected_answer(link.watches ? "a prompted session" : "a prompt", status, body);
        return false;
    }
    if (!link.watches) {
        link.prompt_us = took_us;
        link.watches = true;
        return true;
    }
    latency.add(link.prompt_us + took_us);
    link.watches = false;
    --link.turns_left;
    if (link.turns_left == 0 && sleeps)
        sleepers.push_back({link.session, std::string(member_text(body, "pendingID"))});
    return true;
}

}  // namespace dormouse::cli
