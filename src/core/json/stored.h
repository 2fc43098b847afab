#pragma once
// JSON that was stored, or produced by trusted code: exceptions from the check of json.h.

#include "json/json.h"

namespace dormouse::json {

// Returns true if `text` has the form of one JSON value, so that a View can read it. Weaker than
// check(): keys may repeat, numbers and depth are not limited (a record has more levels than its
// content), bytes need not be UTF-8. Older releases stored such values.
[[nodiscard]] bool is_json(std::string_view text);

// The value as check() accepts it, with U+FFFD for each ill-formed sequence. Errors: those of
// check().
[[nodiscard]] Result<Json> repaired(Json const& value);

}  // namespace dormouse::json
