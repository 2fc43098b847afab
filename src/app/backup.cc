#include "app/programs.h"

#include "backup/backup.h"
#include "backup/restore.h"
#include "io/clock.h"
#include "json/json.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// dormouse backup, restore and verify --backup.
namespace dormouse::app {

namespace {

int complain(std::string_view command, Error const& error) {
    std::fprintf(stderr, "dormouse %.*s: %s\n", static_cast<int>(command.size()), command.data(),
                 error.detail.c_str());
    return info(error.code).exit == 0 ? 1 : info(error.code).exit;
}

Result<backup::Sealing> sealing_of(std::string const& key) {
    return key.empty() ? Result<backup::Sealing>() : backup::Sealing::load(key);
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t mib = std::uint64_t{1} << 20;
    if (bytes < mib) return std::to_string((bytes + 1'023) / 1'024) + " KiB";
    return std::to_string((bytes + mib - 1) / mib) + " MiB";
}

Result<std::unique_ptr<backup::Target>> open_target(cli::BackupOptions const& options,
                                                    backup::Sealing const& sealing, Time now) {
    if (options.target != "-") return backup::open_directory(options.target, sealing);
    if (::isatty(STDOUT_FILENO) != 0)
        return fail(Code::bad_value,
                    "an archive is not written to a terminal: dormouse backup - "
                    "> dormouse.tar");
    return backup::open_archive(STDOUT_FILENO, now);
}

std::string report_json(backup::Report const& report) {
    json::Writer out;
    out.begin_object().member("time", to_ms(report.manifest.time));
    out.member("epoch", report.manifest.epoch).member("feed", report.manifest.feed);
    out.member("bytes", report.bytes).member("chunks", report.chunks);
    out.member("written", report.written).member("bytesWritten", report.bytes_new);
    return out.end_object().take();
}

// With an archive on standard output, the report goes to standard error.
void print(cli::BackupOptions const& options, backup::Report const& report) {
    FILE* const to = options.target == "-" ? stderr : stdout;
    if (options.json) {
        std::fprintf(to, "%s\n", report_json(report).c_str());
        return;
    }
    std::fprintf(
        to, "%s up to change %llu of the feed; written: %llu of %llu chunks, %s\n",
        size_text(report.bytes).c_str(), static_cast<unsigned long long>(report.manifest.feed),
        static_cast<unsigned long long>(report.written),
        static_cast<unsigned long long>(report.chunks), size_text(report.bytes_new).c_str());
}

Result<backup::Report> run_backup(cli::BackupOptions const& options) {
    auto const sealing = sealing_of(options.key);
    if (!sealing) return std::unexpected(sealing.error());
    Time const now = io::SystemClock().now();
    auto const target = open_target(options, *sealing, now);
    if (!target) return std::unexpected(target.error());
    io::SystemEntropy entropy;
    auto report = backup::make({options.data, DORMOUSE_RELEASE, now}, **target, *sealing, entropy);
    if (report && options.target != "-") backup::prune(options.target, report->manifest);
    return report;
}

struct Checked {
    backup::Sealing sealing;
    backup::Manifest manifest;
    std::vector<std::string> findings;
};

Result<Checked> check(std::string const& directory, std::string const& key) {
    auto sealing = sealing_of(key);
    if (!sealing) return std::unexpected(std::move(sealing.error()));
    auto manifest = backup::open_backup(directory, *sealing);
    if (!manifest) return std::unexpected(std::move(manifest.error()));
    auto findings = backup::check(directory, *manifest, *sealing);
    if (!findings) return std::unexpected(std::move(findings.error()));
    return Checked{*std::move(sealing), *std::move(manifest), *std::move(findings)};
}

void print_json(Checked const& checked) {
    json::Writer out;
    out.begin_object().member("ok", checked.findings.empty());
    out.member("time", to_ms(checked.manifest.time)).member("feed", checked.manifest.feed);
    out.member("release", checked.manifest.release).key("findings").begin_array();
    for (std::string const& finding : checked.findings) out.value(finding);
    std::puts(out.end_array().end_object().take().c_str());
}

void print_text(Checked const& checked) {
    for (std::string const& finding : checked.findings) std::puts(finding.c_str());
    std::printf("%zu files, %zu findings\n", checked.manifest.files.size(),
                checked.findings.size());
}

}  // namespace

int backup(cli::BackupOptions const& options) {
    auto const report = run_backup(options);
    if (!report) return complain("backup", report.error());
    print(options, *report);
    return 0;
}

int verify_backup(cli::VerifyOptions const& options) {
    auto const checked = check(options.backup, options.key);
    if (!checked) return complain("verify", checked.error());
    options.json ? print_json(*checked) : print_text(*checked);
    return checked->findings.empty() ? 0 : 1;
}

int restore(cli::RestoreOptions const& options) {
    auto const checked = check(options.backup, options.key);
    if (!checked) return complain("restore", checked.error());
    if (!checked->findings.empty())
        return complain("restore", Error{Code::internal,
                                         "nothing was written, because the backup "
                                         "is damaged: " +
                                             checked->findings.front()});
    auto const done = backup::restore(options.backup, checked->manifest, checked->sealing,
                                      options.data, io::SystemClock().now());
    if (!done) return complain("restore", done.error());
    if (options.json) {
        print_json(*checked);
        return 0;
    }
    std::printf("%s is restored and holds: dormouse serve --data %s, then dormouse release\n",
                options.data.c_str(), options.data.c_str());
    return 0;
}

}  // namespace dormouse::app
