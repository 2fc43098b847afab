#pragma once
// What the library's operations take, checked before anything is made of it: texts are UTF-8,
// values are JSON, and a session's project, title and labels are such as HTTP takes. What passes
// here is admitted again with its command (wire/admit.h). Any thread.

#include <dormouse/runtime.h>

#include "session/command.h"

namespace dormouse::runtime {

// An outcome on its way in.
struct Offered {
    session::Submission what;
    std::string by;
    std::string delivery_id = {};
    std::string tool = {};             // whose call it must be; empty: any
    std::optional<Sha256> shown = {};  // the digest of what the person saw
};

// Errors: bad_value, too_large; the detail names the field.
[[nodiscard]] Result<void> check(NewSession const& asked);
[[nodiscard]] Result<void> check(WaitingFilter const& filter);
[[nodiscard]] Result<void> check_prompt(std::string_view text);
[[nodiscard]] Result<void> check_utf8(std::string_view name, std::string_view text);

// The submission of an outcome. From a text that is not UTF-8 or a value that is not JSON nothing
// is worked out: entering() refuses it.
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
// It takes time by the bytes of the outcome: the thread of whoever brings it does this.
[[nodiscard]] Entering entering(PendingId const& pending, Offered offered);

}  // namespace dormouse::runtime
