#pragma once
// Renders a question as HTML. Its Markdown becomes paragraphs, lists, code and emphasis; all other
// text is escaped.

#include <string>
#include <string_view>

namespace dormouse::http {

struct QuestionHtml {
    std::string heading;  // inside <h1>
    std::string body;     // below it; empty when the heading is the whole question
};

// `heading` is text, for questions that begin with neither a paragraph nor a heading.
[[nodiscard]] QuestionHtml question_html(std::string_view question, std::string_view heading);

}  // namespace dormouse::http
