#pragma once
// The small pages that the server draws: the mark, a heading, one card, notes below it. They are
// the sign-in, what leads to it, and errors.

#include "http/transport/http.h"

#include <string>
#include <string_view>

namespace dormouse::http {

struct CardPage {
    std::string title;   // text; also the heading
    std::string about;   // text below the heading, if any
    std::string card;    // HTML
    std::string notes;   // HTML of paragraphs below the card, if any
    std::string host;    // text: the name by which the browser reached the server
    std::string script;  // HTML of the element that loads a script, if any
};
[[nodiscard]] HttpReply card_reply(int status, CardPage const& page);

// Returns a line of a list of facts. `icon` is one of the names in card_page.cc; `html` is its
// text.
[[nodiscard]] std::string fact_html(std::string_view icon, std::string_view html);

// Returns the ways to the sign-in: those of a provider (HTML, may be empty) and the page at `path`.
[[nodiscard]] std::string ways_to_sign_in(std::string const& provider, std::string_view path);

// Returns a line with "or" between two ways.
[[nodiscard]] std::string or_html();

}  // namespace dormouse::http
