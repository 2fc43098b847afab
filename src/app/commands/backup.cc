#include "app/commands/programs.h"

#include "app/release.h"
#include "app/start/complain.h"

#include "backup/backup.h"
#include "backup/copy/depot.h"
#include "backup/copy/read_copy.h"
#include "backup/restore.h"
#include "backup/unpack.h"
#include "base/text/counted.h"
#include "base/text/iso_time.h"
#include "cli/client/child.h"
#include "cli/client/failure.h"
#include "cli/client/interrupts.h"
#include "http/resources/operations/doctor/concerns.h"
#include "io/clock.h"
#include "json/json.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

// dormouse backup, restore and verify --backup.
namespace dormouse::app {

namespace {

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

// For `dormouse doctor`, which names old backups. The backup is whole without it.
void note_backup(std::string const& directory, Time now) {
    std::ofstream file(std::filesystem::path(directory) / http::last_backup_name);
    file << to_ms(now) << '\n';
}

Result<backup::Report> run_backup(cli::BackupOptions const& options) {
    auto const sealing = sealing_of(options.key);
    if (!sealing) return std::unexpected(sealing.error());
    Time const now = io::SystemClock().now();
    auto const target = open_target(options, *sealing, now);
    if (!target) return std::unexpected(target.error());
    io::SystemEntropy entropy;
    auto report = backup::make({options.data, release(), now}, **target, *sealing, entropy);
    if (report && options.target != "-") backup::prune(options.target, report->manifest);
    if (report) note_backup(options.data, now);
    return report;
}

// Reads standard input. cancelled: a signal came.
Result<std::size_t> read_input(std::span<char> to, int interrupt_fd) {
    std::size_t size = 0;
    while (size < to.size()) {
        std::array<pollfd, 2> waiting{pollfd{STDIN_FILENO, POLLIN, 0},
                                      pollfd{interrupt_fd, POLLIN, 0}};
        if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) break;
        if (waiting[1].revents != 0) return fail(Code::cancelled, "interrupted");
        if (waiting[0].revents == 0) continue;
        auto const count = ::read(STDIN_FILENO, to.data() + size, to.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            return fail(Code::store_unavailable,
                        "standard input cannot be read: " + std::generic_category().message(errno));
        if (count == 0) return size;
        size += static_cast<std::size_t>(count);
    }
    return size;
}

using Folders = std::vector<std::filesystem::path>;

Result<cli::TemporaryFolder> temporary_folder(Folders const& parents) {
    std::string why;
    for (auto const& parent : parents) {
        auto folder = cli::TemporaryFolder::make(parent.string());
        if (folder) return *std::move(folder);
        why += folder.error().what + "; ";
    }
    return fail(Code::store_unavailable, why + "name one with space for the backup: TMPDIR=DIR");
}

std::filesystem::path folder_of_temporary_files() {
    std::error_code error;
    auto const named = std::filesystem::temp_directory_path(error);
    return error ? "/tmp" : named;
}

// A backup as a directory: the one that is named, or a temporary one that holds the archive which
// standard input was.
class BackupPlace {
public:
    // `parents`: the temporary one is made in the first of them where that is possible.
    [[nodiscard]] static Result<BackupPlace> open(std::string const& named, Folders const& parents,
                                                  cli::Interrupts const& interrupts) {
        if (named != "-") return BackupPlace(named, std::nullopt);
        if (::isatty(STDIN_FILENO) != 0)
            return fail(Code::bad_value, "an archive is not read from a terminal: < dormouse.tar");
        auto folder = temporary_folder(parents);
        if (!folder) return std::unexpected(std::move(folder.error()));
        auto const read = backup::unpack(
            [&](std::span<char> to) { return read_input(to, interrupts.fd()); }, folder->path());
        if (!read) return std::unexpected(read.error());
        std::string path = folder->path();
        return BackupPlace(std::move(path), *std::move(folder));
    }

    [[nodiscard]] std::string const& directory() const { return directory_; }

private:
    BackupPlace(std::string directory, std::optional<cli::TemporaryFolder> folder)
        : directory_(std::move(directory)), folder_(std::move(folder)) {}

    std::string directory_;
    std::optional<cli::TemporaryFolder> folder_;
};

int not_done(Command const& command, Error const& error) {
    int const status = complain(command, error);
    return error.code == Code::cancelled ? cli::status::interrupted : status;
}

// While it exists, the signals that end a command end it between two chunks, so that nothing is
// left behind.
class Stopping {
public:
    [[nodiscard]] cli::Interrupts const& interrupts() const { return interrupts_; }
    [[nodiscard]] backup::Stopped stopped() const {
        return [this] { return interrupts_.sleep(Duration(0)); };
    }

private:
    cli::Interrupts interrupts_{cli::Interrupts::Also::term_and_hangup};
};

// The same for work that waits for a server: the flag is set when a signal comes.
class StopFlag {
public:
    explicit StopFlag(Stopping const& stopping)
        : watcher_([this, &stopping](std::stop_token const& ended) {
              while (!ended.stop_requested() && !stop_)
                  stop_ = stopping.interrupts().sleep(watch_interval);
          }) {}
    [[nodiscard]] std::atomic<bool> const* flag() const { return &stop_; }
    [[nodiscard]] backup::Stopped stopped() const {
        return [this] { return stop_.load(); };
    }
    // What failed because of the signal is no failure.
    [[nodiscard]] Error reason(Error error) const {
        return stop_ ? Error{Code::cancelled, "interrupted"} : std::move(error);
    }

private:
    static constexpr Duration watch_interval{50};

    std::atomic<bool> stop_ = false;
    std::jthread watcher_;  // last member: it uses the others
};

// On the same file system, because there the space is for what is restored.
std::filesystem::path beside(std::string const& directory) {
    return (std::filesystem::absolute(directory) / "x")
        .lexically_normal()
        .parent_path()
        .parent_path();
}

struct Checked {
    backup::Sealing sealing;
    backup::Manifest manifest;
    std::vector<std::string> findings;
};

Result<Checked> check(std::string const& directory, std::string const& key,
                      Stopping const& stopping) {
    auto sealing = sealing_of(key);
    if (!sealing) return std::unexpected(std::move(sealing.error()));
    auto manifest = backup::open_backup(directory, *sealing);
    if (!manifest) return std::unexpected(std::move(manifest.error()));
    auto findings = backup::check(directory, *manifest, *sealing, stopping.stopped());
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
    std::puts((counted(checked.manifest.files.size(), "file") + ", " +
               counted(checked.findings.size(), "finding"))
                  .c_str());
}

// A continuous copy: the directory or bucket that an option names, and its encryption.
struct OpenedCopy {
    std::unique_ptr<backup::Depot> depot;
    backup::Sealing sealing;
};

bool names_copy(std::string const& place) {
    return backup::is_object_store(place) || backup::is_copy(place);
}

Result<OpenedCopy> open_copy(std::string const& place, std::string const& key,
                             StopFlag const& stop) {
    auto sealing = sealing_of(key);
    if (!sealing) return std::unexpected(std::move(sealing.error()));
    if (!backup::is_object_store(place))
        return OpenedCopy{backup::read_directory_depot(place), *std::move(sealing)};
    auto depot =
        backup::open_object_store({.place = place}, stop.flag(), std::chrono::milliseconds(0));
    if (!depot) return std::unexpected(std::move(depot.error()));
    return OpenedCopy{*std::move(depot), *std::move(sealing)};
}

Result<std::optional<Time>> time_of(std::string const& text) {
    if (text.empty()) return std::nullopt;
    auto const at = parse_iso_time(text);
    if (at) return at;
    return fail(Code::bad_value, "--at must be a time such as 2026-11-22T08:00:00Z");
}

void print_copy(backup::CopyState const& state, bool json) {
    if (!json) {
        std::printf("the copy's state of %s, up to change %llu of the feed, from %llu pieces\n",
                    iso_time(state.time).c_str(), static_cast<unsigned long long>(state.feed),
                    static_cast<unsigned long long>(state.pieces));
        return;
    }
    json::Writer out;
    out.begin_object().member("ok", true).member("time", to_ms(state.time));
    out.member("feed", state.feed).member("release", state.release);
    out.member("generation", state.generation).member("pieces", state.pieces);
    std::puts(out.end_object().take().c_str());
}

void print_restored(std::string const& data) {
    std::printf("%s is restored and holds: dormouse serve --data %s, then dormouse release\n",
                data.c_str(), data.c_str());
}

int restore_copy(cli::RestoreOptions const& options) {
    auto const at = time_of(options.at);
    if (!at) return complain({"restore", options.json}, at.error());
    Stopping const stopping;
    StopFlag const stop(stopping);
    auto const copy = open_copy(options.backup, options.key, stop);
    if (!copy) return complain({"restore", options.json}, copy.error());
    auto const state = backup::check_copy(*copy->depot, copy->sealing, *at, stop.stopped());
    if (!state && state.error().code == Code::internal)
        return complain({"restore", options.json},
                        Error{Code::internal, "nothing was written, because the copy is damaged: " +
                                                  state.error().detail});
    if (!state) return not_done({"restore", options.json}, stop.reason(state.error()));
    auto const done = backup::restore_copy(*copy->depot, copy->sealing, *state, options.data,
                                           io::SystemClock().now(), stop.stopped());
    if (!done) return not_done({"restore", options.json}, stop.reason(done.error()));
    print_copy(*state, options.json);
    if (!options.json) print_restored(options.data);
    return 0;
}

int verify_copy(cli::VerifyOptions const& options) {
    Stopping const stopping;
    StopFlag const stop(stopping);
    auto const copy = open_copy(options.backup, options.key, stop);
    if (!copy) return complain({"verify", options.json}, copy.error());
    auto const state =
        backup::check_copy(*copy->depot, copy->sealing, std::nullopt, stop.stopped());
    if (!state) return not_done({"verify", options.json}, stop.reason(state.error()));
    print_copy(*state, options.json);
    return 0;
}

}  // namespace

int backup(cli::BackupOptions const& options) {
    auto const report = run_backup(options);
    if (!report) return complain({"backup", options.json}, report.error());
    print(options, *report);
    return 0;
}

int verify_backup(cli::VerifyOptions const& options) {
    if (names_copy(options.backup)) return verify_copy(options);
    Stopping const stopping;
    auto const place =
        BackupPlace::open(options.backup, {folder_of_temporary_files()}, stopping.interrupts());
    if (!place) return not_done({"verify", options.json}, place.error());
    auto const checked = check(place->directory(), options.key, stopping);
    if (!checked) return not_done({"verify", options.json}, checked.error());
    options.json ? print_json(*checked) : print_text(*checked);
    return checked->findings.empty() ? 0 : 1;
}

int restore(cli::RestoreOptions const& options) {
    if (names_copy(options.backup)) return restore_copy(options);
    if (!options.at.empty())
        return complain(
            {"restore", options.json},
            Error{Code::bad_value, "--at needs a continuous copy: a backup holds one state"});
    Stopping const stopping;
    auto const place = BackupPlace::open(
        options.backup, {beside(options.data), folder_of_temporary_files()}, stopping.interrupts());
    if (!place) return not_done({"restore", options.json}, place.error());
    auto const checked = check(place->directory(), options.key, stopping);
    if (!checked) return not_done({"restore", options.json}, checked.error());
    if (!checked->findings.empty())
        return complain({"restore", options.json}, Error{Code::internal,
                                                         "nothing was written, because the backup "
                                                         "is damaged: " +
                                                             checked->findings.front()});
    auto const done = backup::restore(place->directory(), checked->manifest, checked->sealing,
                                      options.data, io::SystemClock().now(), stopping.stopped());
    if (!done) return not_done({"restore", options.json}, done.error());
    if (options.json) {
        print_json(*checked);
        return 0;
    }
    print_restored(options.data);
    return 0;
}

}  // namespace dormouse::app
