#pragma once
// Commands that work on a data directory or a configuration directly. A returned int is the exit
// status of the process.

#include "cli/commands/cli.h"
#include "http/resources/pages/web_page.h"

namespace dormouse::app {

// `web_files`: the files of the web page.
[[nodiscard]] int serve(cli::ServeOptions const& options, http::WebFiles web_files);
[[nodiscard]] int verify(cli::VerifyOptions const& options);
// Verifies a backup (options.backup).
[[nodiscard]] int verify_backup(cli::VerifyOptions const& options);
[[nodiscard]] int backup(cli::BackupOptions const& options);
[[nodiscard]] int restore(cli::RestoreOptions const& options);
[[nodiscard]] int export_sessions(cli::ExportOptions const& options);
[[nodiscard]] int import_sessions(cli::ImportOptions const& options);
// Verifies an archive (options.archive).
[[nodiscard]] int verify_archive(cli::VerifyOptions const& options);
[[nodiscard]] int export_archived(cli::ExportOptions const& options);
[[nodiscard]] cli::ArchivePrograms archive_programs();
[[nodiscard]] int compact(cli::CompactOptions const& options);
[[nodiscard]] int upgrade(cli::UpgradeOptions const& options);
[[nodiscard]] int rekey(cli::RekeyOptions const& options);
[[nodiscard]] int config(cli::ConfigOptions const& options);
[[nodiscard]] int listen(cli::ListenOptions const& options);
[[nodiscard]] std::expected<cli::SignedDelivery, cli::Mistakes> sign_sample(
    cli::SampleOptions const& options);

}  // namespace dormouse::app
