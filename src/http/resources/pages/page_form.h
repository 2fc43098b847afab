#pragma once
// The forms on the page behind a notification's link, without script. A question has a form. A
// decision takes two steps on two pages: a link opens the confirmation (`?confirm=`), which has the
// form.

#include "http/resources/pages/page.h"
#include "session/vocabulary.h"

#include <string>
#include <string_view>

namespace dormouse::http {

// One way to decide, and what its confirmation says.
struct Step {
    std::string_view confirm;  // "approve"; the value of `confirm`
    std::string_view link;     // what opens the confirmation
    std::string_view heading;  // `{}` is the tool
    std::string_view means;    // what happens then
    std::string_view label;    // of the field
    std::string_view field;    // name of the field; empty: none
    std::string_view button;
};

struct FormOf {
    session::PauseTerms const& terms;
    bool doubt = false;  // asks what became of an attempt
    std::string id = {};
    std::string digest = {};
    std::string token = {};
    Typed typed = {};
};

// Returns true for a value of `confirm`.
[[nodiscard]] bool is_step(std::string_view confirm);
// Returns the confirmation of the decision `confirm`; nullptr: the call has none.
[[nodiscard]] Step const* find_step(FormOf const& of, std::string_view confirm);
// Returns `about`, and below it the form of the question, or the links to the confirmations.
// `about` is before the buttons, which stay visible while it is read.
[[nodiscard]] std::string first_step(FormOf const& of, std::string const& about);
[[nodiscard]] std::string confirmation(FormOf const& of, Step const& step,
                                       std::string const& about);
[[nodiscard]] std::string heading_of(Step const& step, std::string_view tool);

}  // namespace dormouse::http
