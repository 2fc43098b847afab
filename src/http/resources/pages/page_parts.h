#pragma once
// Pieces of HTML of the page behind a notification's link.

#include "http/objects/html.h"

#include <string>
#include <string_view>

namespace dormouse::http {

inline std::string shown(std::string_view text) { return html_text(text); }

inline std::string paragraph(std::string_view text) {
    return "<p class=\"said\">" + shown(text) + "</p>\n";
}

inline std::string block(std::string_view text) { return "<pre>" + shown(text) + "</pre>\n"; }

inline std::string row(std::string_view name, std::string const& html) {
    return "<dt>" + std::string(name) + "</dt><dd>" + html + "</dd>\n";
}

}  // namespace dormouse::http
