#pragma once
// Lets a person choose what a command is about when its id was omitted.

#include "cli/commands/commands.h"

#include <string>

namespace dormouse::cli {

// Fails with usage where nobody can be asked, and with interrupted if nothing was chosen.
[[nodiscard]] Outcome<std::string> pick_call(Context const& context, Client& client,
                                             Offered offered);
[[nodiscard]] Outcome<std::string> pick_session(Context const& context, Client& client);
// Offers the newest sessions that `retry` can continue.
[[nodiscard]] Outcome<std::string> pick_failed_session(Context const& context, Client& client);
// Offers the newest messages of the session.
[[nodiscard]] Outcome<std::string> pick_message(Context const& context, Client& client,
                                                std::string const& session);
// Offers the artifacts that the newest messages of the session name.
[[nodiscard]] Outcome<std::string> pick_artifact(Context const& context, Client& client,
                                                 std::string const& session);
// Asks a question for yes or no; no by default.
[[nodiscard]] bool confirmed(Context const& context, std::string const& question);

}  // namespace dormouse::cli
