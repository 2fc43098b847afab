#pragma once
// Renders questions to a person and changes of arguments. Pure; safe for a terminal.

#include "cli/render/render.h"

namespace dormouse::cli {

// Returns a question with its Markdown rendered: emphasis and code by the terminal's attributes,
// without colours by Markdown's own marks. Lines after the first are indented.
[[nodiscard]] std::string question_text(json::View question, std::size_t indent, Style style);
// Returns the differences between the arguments as indented lines "- target: "A"" and "+ target:
// "B""; empty: none.
[[nodiscard]] std::string changes_text(json::View before, json::View after, std::size_t indent,
                                       Style style);

}  // namespace dormouse::cli
