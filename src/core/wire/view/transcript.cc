#include "wire/view/transcript.h"

#include "json/json.h"
#include "wire/message_json.h"

#include <algorithm>
#include <set>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

// A call that was open then cannot be answered in the fork: its ids belong to the original session.
std::string stays_with(SessionId const& session) { return "stays with session " + session.text(); }

// The ids of artifacts in a text, where each is a whole string.
std::set<std::string, std::less<>> named_artifacts(std::string_view text) {
    std::set<std::string, std::less<>> out;
    for (std::size_t at = text.find("\"art_"); at != std::string_view::npos;) {
        std::size_t const end = text.find('"', at + 1);
        out.emplace(text.substr(at + 1, end - at - 1));
        at = text.find("\"art_", end);
    }
    return out;
}

}  // namespace

Seq last_step(History const& history, Seq seq) {
    Seq last = 0;
    for (StepView const& step : history.steps()) {
        if (step.reply != 0 && step.reply <= seq) last = step.reply;
    }
    return last;
}

std::string Transcript::text() const {
    std::string out = "[";
    for (std::string const& message : messages) out += (out.size() > 1 ? "," : "") + message;
    return out + "]";
}

void Transcript::cut(std::size_t bytes) {
    std::size_t size = 0;
    auto first = messages.end();
    while (first != messages.begin() && size + (first - 1)->size() < bytes)
        size += (--first)->size() + 1;
    auto const by_user = [](std::string const& message) {
        return json::View(message)["role"].string_or("") == "user";
    };
    if (first != messages.begin()) first = std::find_if(first, messages.end(), by_user);
    messages.erase(messages.begin(), first);
}

Transcript transcript(State const& state, History const& history, Seq seq) {
    Transcript out;
    json::View(history.forked_messages()).elements([&](json::View message) {
        out.messages.emplace_back(message.raw());
    });
    History at_step = history;
    at_step.close_calls_after(seq, stays_with(state.id));
    for (auto const& [no, message] : at_step.messages()) {
        bool const then =
            message.shown != 0 && message.shown <= seq && !message.dropped && message.turn != 0;
        if (then) out.messages.push_back(message_object(state, at_step, no));
    }
    return out;
}

std::vector<std::pair<Seq, ArtifactEmitted>> artifacts_of(SessionId const& session,
                                                          History const& history, Seq seq,
                                                          std::string_view transcript) {
    auto const named = named_artifacts(transcript);
    std::vector<std::pair<Seq, ArtifactEmitted>> out;
    for (auto const& [at, artifact] : history.artifacts()) {
        bool const brought = artifact.call != 0 && at <= seq;
        if (brought || named.contains(numbered_id("art_", session, at)))
            out.emplace_back(at, artifact);
    }
    return out;
}

}  // namespace dormouse::wire
