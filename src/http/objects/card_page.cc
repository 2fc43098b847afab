#include "http/objects/card_page.h"

#include "http/objects/html.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::http {

namespace {

constexpr std::string_view mark =
    "<svg class=\"mark\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">"
    "<g fill=\"currentColor\"><circle cx=\"6.2\" cy=\"6.6\" r=\"4.1\"/>"
    "<circle cx=\"17.8\" cy=\"6.6\" r=\"4.1\"/>"
    "<path d=\"M12 5.2c5.6 0 9.4 3.7 9.4 8.6 0 4.6-4.2 7.6-9.4 7.6s-9.4-3-9.4-7.6c0-4.9 3.8-8.6 "
    "9.4-8.6z\"/></g>"
    "<g class=\"face\"><path d=\"M5.8 13.1c.8 1.5 3 1.5 3.8 0M14.4 13.1c.8 1.5 3 1.5 3.8 0\"/>"
    "<path d=\"M11 17.2h2l-1 1.2z\"/></g></svg>";

// Strokes in a square of 18.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> icons{{
    {"person", "M9 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3 16c0-3 2.5-5 6-5s6 2 6 5"},
    {"check", "M3 9.5l4 4 8-9"},
    {"clock", "M9 16A7 7 0 1 0 9 2a7 7 0 0 0 0 14zM9 5v4l3 2"},
    {"arrow", "M3 9h12M10 4l5 5-5 5"},
}};

std::string on_host(std::string const& host) {
    if (host.empty()) return "";
    return "<p class=\"note\">Dormouse on <code>" + html_text(host) + "</code></p>\n";
}

}  // namespace

HttpReply card_reply(int status, CardPage const& page) {
    std::string const about =
        "<p id=\"said\" role=\"status\" class=\"said\">" + html_text(page.about) + "</p>";
    return html_reply(status, page.title,
                      "<header>" + std::string(mark) + "<h1 id=\"title\">" + html_text(page.title) +
                          "</h1>" + about + "</header>\n<section class=\"card\">\n" + page.card +
                          "</section>\n" + page.notes + on_host(page.host) + page.script,
                      "small");
}

std::string fact_html(std::string_view icon, std::string_view html) {
    auto const* const found = std::ranges::find(icons, icon, &decltype(icons)::value_type::first);
    std::string const path(found == icons.end() ? "" : found->second);
    return "<li><svg viewBox=\"0 0 18 18\" aria-hidden=\"true\"><path d=\"" + path +
           "\"/></svg><span>" + std::string(html) + "</span></li>\n";
}

std::string ways_to_sign_in(std::string const& provider, std::string_view path) {
    std::string const button = provider.empty() ? "btn yes" : "btn";
    return provider + (provider.empty() ? "" : or_html()) + "<p><a class=\"" + button +
           "\" href=\"" + html_text(path) + "\">I have a sign-in link</a></p>\n";
}

std::string or_html() { return "<p class=\"or\">or</p>\n"; }

}  // namespace dormouse::http
