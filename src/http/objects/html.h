#pragma once
// HTML pages for people, without scripts. All text of agents, tools and people is escaped.

#include "http/transport/http.h"

#include <string>
#include <string_view>

namespace dormouse::http {

// Escapes a text for a page. Invisible characters, and those that change the direction of text, are
// spelled out, so that a person sees what the tool gets. Keeps line breaks.
[[nodiscard]] std::string html_text(std::string_view text);
// Returns the first line of a text, for a title; at most 80 bytes and `…`.
[[nodiscard]] std::string title_text(std::string_view text);

// The same as HTML, with the distance from `now`: "(in 5 h)", "(3 min ago)".
[[nodiscard]] std::string time_html(Time at, Time now);

// Returns a whole page. `title` is text; `body` is HTML and contains the heading. `look`: a class
// of the body element in plain_files.cc, if any.
[[nodiscard]] HttpReply html_reply(int status, std::string_view title, std::string_view body,
                                   std::string_view look = "");

// Returns true if the request comes from a browser that shows the answer to a person.
[[nodiscard]] bool wants_html(HttpRequest const& request);
// Converts an error of the API to a page, if the request wants one.
[[nodiscard]] HttpReply for_browser(HttpReply reply, HttpRequest const& request);

// Returns where a sign-in leads: `path` if it is one of this server, else "/".
[[nodiscard]] std::string safe_next(std::string_view path);

}  // namespace dormouse::http
