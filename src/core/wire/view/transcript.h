#pragma once
// The history with which a fork begins.

#include "session/state.h"
#include "wire/journal/history.h"

#include <string>
#include <utility>
#include <vector>

namespace dormouse::wire {

// The reply of the last committed step at or before `seq`; 0: none.
[[nodiscard]] Seq last_step(History const& history, Seq seq);

// Messages up to `seq`, as GET …/messages returns them, with calls as they were then.
struct Transcript {
    std::vector<std::string> messages;

    [[nodiscard]] std::string text() const;  // an array
    // Removes the oldest messages until at most `bytes` are left and the first is a user message.
    void cut(std::size_t bytes);
};
[[nodiscard]] Transcript transcript(session::State const& state, History const& history, Seq seq);

// Artifacts of calls up to `seq`, and others that the transcript names: those with which the
// session was created, and images and files of its messages.
[[nodiscard]] std::vector<std::pair<Seq, session::ArtifactEmitted>> artifacts_of(
    SessionId const& session, History const& history, Seq seq, std::string_view transcript);

}  // namespace dormouse::wire
