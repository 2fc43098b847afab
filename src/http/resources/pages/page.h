#pragma once
// The page behind the link that people receive, as browsers without script show it. Text of agents
// and tools is escaped; only a question's Markdown is rendered (question_html.h).

#include "http/transport/http.h"
#include "session/state.h"
#include "wire/journal/history.h"

#include <string>

namespace dormouse::http {

// The text that a person typed into the form. It is kept when the form is refused.
struct Typed {
    std::string comment = {};
    std::string content = {};
    std::string answer = {};
};

// The person who views the page, and what became of the submitted form.
struct Viewer {
    session::Actor by = {};
    bool may_answer = false;      // the role suffices
    std::string form_token = {};  // empty: the page has no form
    std::string notice = {};      // shown at the top
    std::string confirm = {};     // "approve": the confirmation of that decision; empty: the page
    Typed typed = {};
};

// Returns the question of a pause: one text, perhaps of several lines.
[[nodiscard]] std::string question_of(wire::CallView const& call, wire::PauseView const& pause);
// Returns the page for requests that may not see the call. It shows nothing of the call. `ways`:
// HTML of further ways to sign in.
[[nodiscard]] HttpReply page_to_sign_in(PendingId const& pending, std::string const& ways);
struct PageText {
    std::string title = {};
    std::string html = {};
};
// REQUIRES: the call has this pause.
[[nodiscard]] PageText page_of(session::State const& state, wire::History const& history,
                               wire::PauseView const& pause, Viewer const& viewer, Time now);

// Returns true if an answer of this schema is not simply a text.
[[nodiscard]] bool wants_json(Json const& schema);
// Returns who has claimed the call at `now`; empty: no claim, or that of `by`.
[[nodiscard]] std::string claimed_by_another(wire::PauseView const& pause, session::Actor const& by,
                                             Time now);
// Returns true if the pause asks what became of an attempt that a crash interrupted.
[[nodiscard]] bool asks_of_doubt(session::State const& state, PendingId const& pending);

}  // namespace dormouse::http
