#pragma once
// Standing rules as the texts of their rows, and which arguments they match.

#include "session/standing.h"

#include <string>
#include <string_view>

namespace dormouse::wire {

[[nodiscard]] std::string write_rule(session::StandingRule const& rule);
// Errors: internal (the text is not that of a rule).
[[nodiscard]] Result<session::StandingRule> read_rule(std::string_view text);

// Returns true if these arguments match those of the rule: all members if it names none; else they
// have the same names, and the named members are equal. Values are compared in canonical form: 1
// and 1.0 are equal, texts are compared byte for byte, and nothing is normalised.
[[nodiscard]] bool matches(session::StandingRule const& rule, Json const& input,
                           Sha256 const& input_digest);

// Returns why a rule cannot name these members of the arguments; empty: it can.
[[nodiscard]] std::string unmatched(std::vector<std::string> const& names, Json const& input);

}  // namespace dormouse::wire
