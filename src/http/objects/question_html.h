#pragma once
// A question as HTML. Its Markdown becomes paragraphs, lists, code and emphasis; nothing else of it
// becomes HTML.

#include <string>
#include <string_view>

namespace dormouse::server {

struct QuestionHtml {
    std::string heading;  // inside <h1>
    std::string body;     // below it; empty when the heading says all
};

// `heading` is text, for questions that begin with neither a paragraph nor a heading.
[[nodiscard]] QuestionHtml question_html(std::string_view question, std::string_view heading);

}  // namespace dormouse::server
