#pragma once
// The past that a fork begins with.

#include "session/state.h"
#include "wire/history.h"

#include <string>
#include <utility>
#include <vector>

namespace dormouse::wire {

// The last committed step at or before `seq`: a reply whose event is not after it. 0: none.
[[nodiscard]] Seq last_step(History const& history, Seq seq);

// Messages up to `seq`, as GET …/messages shows them, with calls as they stood then.
struct Transcript {
    std::vector<std::string> messages;

    [[nodiscard]] std::string text() const;  // an array
    // The oldest messages go until it has so many bytes and begins with what a user said.
    void cut(std::size_t bytes);
};
[[nodiscard]] Transcript transcript(session::State const& state, History const& history, Seq seq);

// What calls up to `seq` brought, and what else the transcript names: what the session was made
// with, and the images and files of its messages.
[[nodiscard]] std::vector<std::pair<Seq, session::ArtifactEmitted>> artifacts_of(
    SessionId const& session, History const& history, Seq seq, std::string_view transcript);

}  // namespace dormouse::wire
