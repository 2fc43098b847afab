#pragma once
// What a person is asked, and what was changed of the arguments. Pure; safe for a terminal.

#include "cli/render/render.h"

namespace dormouse::cli {

// A question with its Markdown made readable; the lines after the first are indented.
[[nodiscard]] std::string question_text(json::View question, std::size_t indent, Style style);
// The places at which the arguments differ, each as the lines "- target: "A"" and "+ target: "B"",
// indented; empty: none.
[[nodiscard]] std::string changes_text(json::View before, json::View after, std::size_t indent,
                                       Style style);

}  // namespace dormouse::cli
