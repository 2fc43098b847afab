// dormouse export, and dormouse import of an export.
#include "app/commands/programs.h"

#include "app/commands/views.h"
#include "app/parts/user.h"
#include "app/release.h"
#include "app/start/complain.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "io/clock.h"
#include "io/fd.h"
#include "json/json.h"
#include "runner/transfer/export.h"
#include "runner/transfer/import.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/hold.h"
#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace dormouse::app {

namespace {

using StorePtr = std::shared_ptr<port::Store>;

constexpr std::size_t beginning_bytes_max = std::size_t{256} << 20;

Error not_written(int error) {
    return {error == ENOSPC ? Code::store_full : Code::store_unavailable,
            "cannot write to standard output: " + std::generic_category().message(error)};
}

Result<void> print_line(std::string line) {
    line += '\n';
    if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size()) return {};
    return std::unexpected(not_written(errno));
}

// The store that an import writes, and its limits.
struct Target {
    StorePtr store;
    runner::ImportGuard guard;
};

Result<void> started_anyway() { return {}; }

std::string why_it_holds() {
    json::Writer why;
    return why.begin_object()
        .member("imported", to_ms(io::SystemClock().now()))
        .end_object()
        .take();
}

Result<Target> open_database(cli::ImportOptions const& options) {
    if (auto right = check_database_flag(*options.store); !right)
        return std::unexpected(std::move(right.error()));
    store::PostgresOptions how;
    how.sole = true;
    how.relaxed = true;  // a server reports it at its start
    how.node = "import";
    how.version = release();
    auto opened = store::PostgresStore::open(*options.store, how);
    if (!opened) return std::unexpected(std::move(opened.error()));
    auto* const store = opened->get();
    auto readable = decrypted(std::move(opened), options.key_env);
    if (!readable) return std::unexpected(std::move(readable.error()));
    Target out{std::move(readable->store), {}};
    out.guard.hold = [store] { return store->hold(why_it_holds()); };
    if (options.start) out.guard.hold = started_anyway;
    out.guard.outlive = [](Epoch) {
        return Result<void>(fail(Code::wrong_state,
                                 "a tool or a model worked for it when it was exported: export it "
                                 "again when it waits or rests"));
    };
    return out;
}

// `writes`: a session may be imported. Else a directory that does not exist is not made.
Result<Target> open_directory(cli::ImportOptions const& options, bool writes) {
    bool const there = std::filesystem::exists(std::filesystem::path(options.data) / "dormouse.db");
    if (!writes && !there) return Target{std::make_shared<store::MemoryStore>(), {}};
    auto opened = store::SqliteStore::open(options.data);
    if (!opened) return std::unexpected(std::move(opened.error()));
    auto* const store = opened->get();
    auto readable = decrypted(std::move(opened), options.key_env);
    if (!readable) return std::unexpected(std::move(readable.error()));
    Target out{std::move(readable->store), {}};
    out.guard.outlive = [store](Epoch epoch) { return store->raise_epoch(epoch); };
    out.guard.hold = [place = options.data]() -> Result<void> {
        if (store::sqlite::is_held(place)) return {};
        return store::sqlite::write_hold(place, why_it_holds() + "\n");
    };
    if (options.start) out.guard.hold = started_anyway;
    return out;
}

// Reads lines without ever holding more than one of the largest size.
class Lines {
public:
    explicit Lines(int fd) : fd_(fd) {}

    Result<std::optional<runner::TransferLine>> next() {
        runner::TransferLine out;
        for (bool any = false;; any = true) {
            if (at_ == size_) {
                if (auto filled = fill(); !filled)
                    return std::unexpected(std::move(filled.error()));
                if (size_ == 0 && !any) return std::nullopt;
                if (size_ == 0) return out;
            }
            std::string_view const rest(buffer_.data() + at_, size_ - at_);
            auto const end = rest.find('\n');
            auto const piece = rest.substr(0, end);
            if (out.text.size() + piece.size() > runner::transfer_line_bytes_max)
                out = {.text = {}, .too_long = true};
            if (!out.too_long) out.text.append(piece);
            at_ += piece.size();
            if (end == std::string_view::npos) continue;
            ++at_;
            return out;
        }
    }

private:
    Result<void> fill() {
        at_ = 0;
        ssize_t read = -1;
        do {
            read = ::read(fd_, buffer_.data(), buffer_.size());
        } while (read < 0 && errno == EINTR);
        size_ = static_cast<std::size_t>(std::max<ssize_t>(read, 0));
        if (read >= 0) return {};
        return fail(Code::store_unavailable,
                    "the file cannot be read: " + std::generic_category().message(errno));
    }

    int fd_;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 20);
    std::size_t at_ = 0;
    std::size_t size_ = 0;
};

// The same of a text in memory.
class TextLines {
public:
    explicit TextLines(std::string_view text) : rest_(text) {}

    Result<std::optional<runner::TransferLine>> next() {
        if (rest_.empty()) return std::nullopt;
        auto const end = std::min(rest_.find('\n'), rest_.size());
        std::string_view const line = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (line.size() > runner::transfer_line_bytes_max)
            return runner::TransferLine{.text = {}, .too_long = true};
        return runner::TransferLine{.text = std::string(line)};
    }

private:
    std::string_view rest_;
};

// The lines of an export up to the end of its first session. They are read before the store is
// opened, so that an export that is cut off earlier leaves no data directory.
struct Beginning {
    std::deque<runner::TransferLine> lines;
    bool has_session = false;  // or the lines are too long to wait for its end
};

Result<Beginning> read_beginning(runner::TransferSource const& next) {
    constexpr std::string_view first_line = R"({"type":"export")";
    constexpr std::string_view last_of_session = R"({"type":"session_end")";
    Beginning out;
    for (std::size_t bytes = 0; !out.has_session;) {
        auto line = next();
        if (!line) return std::unexpected(std::move(line.error()));
        if (!*line) break;
        std::string const& text = (*line)->text;
        if (out.lines.empty() && !text.starts_with(first_line)) {
            out.lines.push_back(**std::move(line));
            break;  // the import refuses it
        }
        bytes += text.size();
        out.has_session = text.starts_with(last_of_session) || bytes > beginning_bytes_max;
        out.lines.push_back(**std::move(line));
    }
    if (out.lines.empty()) return fail(Code::bad_value, "the export is empty");
    return out;
}

void print(cli::ImportOptions const& options, runner::ImportedSession const& session) {
    bool const known = session.was.number() > 0;
    if (options.json) {
        json::Writer out;
        out.begin_object();
        out.member("was", known ? std::optional(session.was.text()) : std::nullopt);
        out.member("id", known ? std::optional(session.now.text()) : std::nullopt);
        out.member("before", session.before).member("holds", session.holds);
        out.key("error");
        session.error.empty() ? out.null() : out.value(session.error);
        std::puts(out.end_object().take().c_str());
        return;
    }
    std::string const was = known ? session.was.text() + ": " : "";
    if (!session.error.empty()) {
        std::fprintf(stderr, "not imported: %s%s\n", was.c_str(),
                     escape_for_terminal(session.error).c_str());
        return;
    }
    std::printf("%s%s%s%s\n", session.was.text().c_str(),
                session.was == session.now ? "" : ("  " + session.now.text()).c_str(),
                session.before ? "  there already" : "",
                session.holds ? "  has something to do" : "");
}

int conclude(cli::ImportOptions const& options, runner::ImportReport const& report) {
    std::fprintf(stderr, "%s %s, there already %llu, refused %llu\n",
                 options.dry_run ? "would import" : "imported",
                 counted(report.imported, "session").c_str(),
                 static_cast<unsigned long long>(report.before),
                 static_cast<unsigned long long>(report.refused));
    if (report.cut_off) std::fprintf(stderr, "the file was cut off: its last line is missing\n");
    if (report.holding > 0 && !options.start && !options.dry_run) {
        std::string const what = options.store ? "the database" : options.data;
        std::string const how = options.store ? "--store URL" : "--data " + options.data;
        std::fprintf(stderr,
                     "%llu %s work to do, so %s holds: dormouse serve %s, then dormouse "
                     "release\n",
                     static_cast<unsigned long long>(report.holding),
                     report.holding == 1 ? "has" : "have", what.c_str(), how.c_str());
    }
    return report.refused > 0 || report.cut_off ? 1 : 0;
}

}  // namespace

int export_sessions(cli::ExportOptions const& options) {
    if (!options.archive.empty()) return export_archived(options);
    auto const view = open_view(options.data, options.store, options.key_env);
    if (!view) return complain({"export", options.json}, view.error());
    runner::ExportChoice const choice{options.project, options.sessions, release(),
                                      io::SystemClock().now()};
    auto const report = runner::export_sessions(*view->store, choice, print_line);
    if (!report) return complain({"export", options.json}, report.error());
    if (std::fflush(stdout) != 0) return complain({"export", options.json}, not_written(errno));
    for (std::string const& one : report->left_out)
        std::fprintf(stderr, "left out: %s\n", escape_for_terminal(one).c_str());
    std::fprintf(stderr, "exported %s, %s\n", counted(report->sessions, "session").c_str(),
                 counted(report->events, "event").c_str());
    return report->left_out.empty() ? 0 : 1;
}

int import_sessions(cli::ImportOptions const& options) {
    bool const read_file = options.file != "-" && !options.text;
    io::Fd const opened(read_file ? ::open(options.file.c_str(), O_RDONLY | O_CLOEXEC) : -1);
    if (read_file && opened.get() < 0)
        return complain(
            {"import", options.json},
            {Code::not_found, options.file + ": " + std::generic_category().message(errno)});
    Lines lines(read_file ? opened.get() : STDIN_FILENO);
    TextLines text(options.text ? std::string_view(*options.text) : std::string_view());
    runner::TransferSource const next_line = [&] {
        return options.text ? text.next() : lines.next();
    };
    auto begin = read_beginning(next_line);
    if (!begin) return complain({"import", options.json}, begin.error());
    bool const writes = begin->has_session && !options.dry_run;
    auto target = options.store ? open_database(options) : open_directory(options, writes);
    if (!target) return complain({"import", options.json}, target.error());
    runner::TransferSource const next = [&]() -> Result<std::optional<runner::TransferLine>> {
        if (begin->lines.empty()) return next_line();
        auto line = std::move(begin->lines.front());
        begin->lines.pop_front();
        return line;
    };
    using enum runner::Deleted;
    runner::ImportOptions const how{.new_ids = options.new_ids,
                                    .dry_run = options.dry_run,
                                    .by = user_name(),
                                    .at = io::SystemClock().now(),
                                    .deleted = options.restore_deleted ? restored : refused};
    auto const report = runner::import_sessions(
        *target->store, next, how, target->guard,
        [&](runner::ImportedSession const& session) { print(options, session); });
    if (!report) return complain({"import", options.json}, report.error());
    return conclude(options, *report);
}

}  // namespace dormouse::app
