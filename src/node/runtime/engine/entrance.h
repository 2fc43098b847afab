#pragma once
// Checks the arguments of the library's operations: texts are UTF-8, values are JSON, and a
// session's project, title and labels are those that HTTP accepts. The commands made of them are
// checked again (wire/admit.h). Any thread.

#include <dormouse/runtime.h>

#include "session/command.h"

namespace dormouse::runtime {

// An outcome offered for a call.
struct Offered {
    session::Submission what;
    std::string by;
    std::string delivery_id = {};
    std::string tool = {};             // the call must be one of this tool; empty: any
    std::optional<Sha256> shown = {};  // the digest of the input that the person saw
};

// Errors: bad_value, too_large; the detail names the field.
[[nodiscard]] Result<void> check(NewSession const& session);
[[nodiscard]] Result<void> check(WaitingFilter const& filter);
[[nodiscard]] Result<void> check_prompt(std::string_view text);
[[nodiscard]] Result<void> check_utf8(std::string_view name, std::string_view text);

// Make the submission of an outcome. For a text that is not UTF-8 or a value that is not JSON no
// digest is computed; entering() refuses it.
[[nodiscard]] session::Submission result_of(Json output);
[[nodiscard]] session::Submission error_of(std::string text);
[[nodiscard]] session::Submission decision_of(bool approved, std::string reason, Json arguments,
                                              Json content);

// The command, or why it is refused: bad_value.
struct Entering {
    PendingId pending;
    Result<session::Submit> command;
    std::string by;
    std::string tool = {};  // as in Offered
};
// Takes time proportional to the size of the outcome, so the caller's thread does it.
[[nodiscard]] Entering entering(PendingId const& pending, Offered offered);

}  // namespace dormouse::runtime
