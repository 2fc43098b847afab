#pragma once
// JSON that was stored, or that code of others made: what is not the checked door of json.h.

#include "json/json.h"

namespace dormouse::json {

// Whether `text` has the form of one JSON value, so that a View of it shows what was written. Less
// than check() asks: keys may repeat, numbers and depth are not limited (a record has more levels
// than what it holds), bytes need not be UTF-8. Older releases stored such values.
[[nodiscard]] bool is_json(std::string_view text);

// The value as check() takes it, after U+FFFD has taken the place of each ill-formed sequence.
// Errors: those of check().
[[nodiscard]] Result<Json> repaired(Json const& value);

}  // namespace dormouse::json
