#pragma once
// Sessions of an archive, read.

#include "archive/archive.h"
#include "cli/commands/cli.h"
#include "runner/transfer/live.h"

#include <dormouse/error.h>

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::app {

// The session of these lines, checked as an import does.
[[nodiscard]] Result<runner::Arrival> read_archived(std::string_view lines);

[[nodiscard]] Result<archive::Archive> open_archive(cli::ArchivePlace const& from);
// Opens it to change its files: what a killed process left is finished or removed first, so that
// the files are those that are there afterwards.
[[nodiscard]] Result<archive::Archive> open_to_change(cli::ArchivePlace const& from);

[[nodiscard]] std::expected<cli::ArchivedSession, std::string> show_archived(
    cli::ArchivePlace const& from, std::string const& name);
[[nodiscard]] std::expected<std::string, std::string> export_one(cli::ArchivePlace const& from,
                                                                 std::string const& name);
[[nodiscard]] std::expected<std::vector<std::string>, std::string> list_archived(
    cli::ArchivePlace const& from, std::string const& project);

}  // namespace dormouse::app
