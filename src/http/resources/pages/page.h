#pragma once
// The page behind the link that people are sent, as HTML without scripts. What comes from agents
// and tools is shown as text, whatever it holds; of a question also its Markdown (question_html.h).

#include "http/transport/http.h"
#include "session/state.h"
#include "wire/history.h"

#include <string>

namespace dormouse::server {

// Who looks at the page, and what became of what he sent.
struct Viewer {
    session::Actor by = {};
    bool may_answer = false;      // his role is enough
    std::string form_token = {};  // empty: no form is shown
    std::string notice = {};      // told above all else
};

// What a person is asked: one text, which may have several lines.
[[nodiscard]] std::string question_of(wire::CallView const& call, wire::PauseView const& pause);
// The page for everybody who may not see the call. It tells nothing of it.
[[nodiscard]] HttpReply page_to_sign_in(PendingId const& pending);
// REQUIRES: the call has this pause.
[[nodiscard]] HttpReply page_of(session::State const& state, wire::History const& history,
                                wire::PauseView const& pause, Viewer const& viewer, int status,
                                Time now);

// Who holds the call for himself at `now`; empty: nobody but `by`.
[[nodiscard]] std::string claimed_by_another(wire::PauseView const& pause, session::Actor const& by,
                                             Time now);
// What became of an attempt that a crash cut off is asked by this pause.
[[nodiscard]] bool asks_of_doubt(session::State const& state, PendingId const& pending);

}  // namespace dormouse::server
