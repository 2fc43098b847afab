#pragma once
// Pages for people, as HTML without scripts. What comes from agents, tools and people is shown as
// text, whatever it holds.

#include "http/transport/http.h"

#include <string>
#include <string_view>

namespace dormouse::server {

// As text of a page. What is not seen, or turns the direction of writing, is spelt out, so that a
// person reads what the tool gets. Line breaks stay.
[[nodiscard]] std::string html_text(std::string_view text);
// The first line of a text, for a title; at most 80 bytes and `…`.
[[nodiscard]] std::string title_text(std::string_view text);

// "2026-11-22 14:01 UTC"
[[nodiscard]] std::string utc_text(Time at);
// The same as HTML, with how far it is from `now`: "(in 5 h)", "(3 min ago)".
[[nodiscard]] std::string time_html(Time at, Time now);

// A whole page. `title` is text; `body` is HTML and holds the heading.
[[nodiscard]] HttpReply html_reply(int status, std::string_view title, std::string_view body);

// True when the request is a browser's that shows the answer to a person.
[[nodiscard]] bool wants_html(HttpRequest const& request);
// An error of the API as a page, when the request wants one.
[[nodiscard]] HttpReply for_browser(HttpReply reply, HttpRequest const& request);

// The path that a sign-in leads to: `path` if it is one of this server, else "/".
[[nodiscard]] std::string safe_next(std::string_view path);

}  // namespace dormouse::server
