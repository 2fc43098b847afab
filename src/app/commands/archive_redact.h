#pragma once
// Redaction of sessions that are in an archive.

#include "cli/commands/cli.h"

#include <expected>
#include <string>
#include <vector>

namespace dormouse::app {

// Removes it from every file that holds the session, and returns the answers of the API, in the
// order of the requests. A file is written again as a whole; an error leaves those that were not
// written yet as they are.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> redact_archived(
    cli::ArchiveRedaction const& options);

}  // namespace dormouse::app
