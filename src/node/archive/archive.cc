#include "archive/archive.h"

#include "backup/files.h"
#include "backup/gzip.h"
#include "base/sha256.h"
#include "base/url.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

namespace dormouse::archive {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t index_bytes_max = std::uint64_t{1} << 30;
constexpr std::string_view data_end = ".jsonl.gz";
constexpr std::string_view index_end = ".index.json";
constexpr std::string_view new_end = ".new";

Error of_file(fs::path const& path, Error error) {
    error.detail = path.string() + ": " + error.detail;
    return error;
}

fs::path with_end(fs::path path, std::string_view end) { return path += end; }

// The names in the directory, in order. Errors: not_found.
Result<std::vector<std::string>> names_in(fs::path const& directory) {
    std::error_code error;
    std::vector<std::string> out;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
        out.push_back(at->path().filename().string());
    if (error == std::errc::no_such_file_or_directory)
        return fail(Code::not_found, directory.string() + ": there is no such directory");
    if (error) return fail(Code::store_unavailable, directory.string() + ": " + error.message());
    std::ranges::sort(out);
    return out;
}

Result<File> open_file(fs::path const& directory, std::string_view name) {
    fs::path const stem = directory / name.substr(0, name.size() - index_end.size());
    fs::path const path = with_end(stem, index_end);
    auto const text = backup::read_file(path, index_bytes_max);
    if (!text) return std::unexpected(text.error());
    auto index = read_index(*text);
    if (!index) return std::unexpected(of_file(path, std::move(index.error())));
    return File{with_end(stem, data_end), *std::move(index)};
}

Result<std::string> read_bytes(fs::path const& path, std::uint64_t offset, std::uint64_t bytes) {
    io::Fd const fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.open()) return backup::refused(path, errno);
    std::string out(bytes, '\0');
    for (std::uint64_t at = 0; at < bytes;) {
        auto const got =
            ::pread(fd.get(), out.data() + at, bytes - at, static_cast<off_t>(offset + at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return backup::refused(path, errno);
        if (got == 0) return fail(Code::bad_value, path.string() + ": it is truncated");
        at += static_cast<std::uint64_t>(got);
    }
    return out;
}

std::string month_text(Time at) {
    std::chrono::year_month_day const day(std::chrono::floor<std::chrono::days>(at));
    auto const month = std::to_string(static_cast<unsigned>(day.month()));
    return std::to_string(static_cast<int>(day.year())) + (month.size() < 2 ? "-0" : "-") + month;
}

Result<io::Fd> lock(fs::path const& directory) {
    fs::path const path = directory / "lock";
    io::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd.open()) return backup::refused(path, errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno != EWOULDBLOCK) return backup::refused(path, errno);
    return fail(Code::wrong_state,
                "another archive writes to " + directory.string() + ": wait for its end");
}

// A file that is being written, removed unless it was finished.
class Making {
public:
    static Result<Making> begin(fs::path path) {
        fs::path fresh = with_end(path, new_end);
        auto fd = backup::create_file(fresh, false);
        if (!fd) return std::unexpected(fd.error());
        return Making(*std::move(fd), std::move(path), std::move(fresh));
    }
    Making(Making&& other) noexcept
        : fd_(std::move(other.fd_)),
          path_(std::move(other.path_)),
          fresh_(std::exchange(other.fresh_, {})),
          size_(other.size_) {}
    Making& operator=(Making&&) = delete;
    ~Making() {
        if (!fresh_.empty()) ::unlink(fresh_.c_str());
    }

    [[nodiscard]] Result<void> add(std::string_view bytes) {
        size_ += bytes.size();
        return backup::write_all(fd_.get(), bytes, fresh_);
    }
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] Result<void> finish() {
        if (auto synced = backup::sync_file(fd_.get(), fresh_); !synced) return synced;
        if (::rename(fresh_.c_str(), path_.c_str()) != 0) return backup::refused(path_, errno);
        fresh_.clear();
        return backup::sync_directory(path_.parent_path());
    }

private:
    Making(io::Fd fd, fs::path path, fs::path fresh)
        : fd_(std::move(fd)), path_(std::move(path)), fresh_(std::move(fresh)) {}

    io::Fd fd_;
    fs::path path_;
    fs::path fresh_;  // empty: it is in its place
    std::uint64_t size_ = 0;
};

// The first name of the month that no file has.
fs::path free_stem(fs::path const& directory, std::string const& project, Time month) {
    std::string const name = percent_encode(project) + "-" + month_text(month) + ".";
    for (int i = 1;; ++i) {
        fs::path stem = directory / (name + std::to_string(i));
        if (!fs::exists(with_end(stem, data_end)) && !fs::exists(with_end(stem, index_end)))
            return stem;
    }
}

}  // namespace

Result<Archive> Archive::open(fs::path const& directory) {
    auto const names = names_in(directory);
    if (!names) return std::unexpected(names.error());
    Archive out;
    for (std::string const& name : *names) {
        if (!name.ends_with(index_end)) continue;
        auto file = open_file(directory, name);
        if (!file) return std::unexpected(std::move(file.error()));
        out.files_.push_back(*std::move(file));
    }
    if (out.files_.empty())
        return fail(Code::not_found, directory.string() + ": it is no archive, or an empty one");
    return out;
}

Result<Place> Archive::find(std::string const& name) const {
    Place found;
    for (File const& file : files_) {
        for (Entry const& entry : file.index.sessions) {
            if (!entry.id.text().starts_with(name)) continue;
            if (found.entry && found.entry->id != entry.id)
                return fail(Code::bad_value, name + " is the beginning of several sessions");
            if (!found.entry || found.entry->head <= entry.head) found = {&file, &entry};
        }
    }
    if (!found.entry || name.size() <= std::string_view("ses_").size())
        return fail(Code::not_found, "session " + name + " is not in the archive");
    return found;
}

Result<std::string> Archive::read(Place const& place) {
    auto const& [file, entry] = place;
    auto const bytes = read_bytes(file->path, entry->offset, entry->bytes);
    if (!bytes) return bytes;
    auto const wrong = [&](std::string const& why) {
        return fail(Code::bad_value, file->path.string() + ": " + entry->id.text() + ": " + why);
    };
    if (digest_text(sha256(*bytes)) != entry->digest) return wrong("its bytes were changed");
    auto lines = backup::gunzip(*bytes, session_bytes_max);
    if (!lines) return wrong(lines.error().detail);
    return lines;
}

Result<void> Archive::check_size(File const& file) {
    std::error_code error;
    auto const size = fs::file_size(file.path, error);
    if (error) return fail(Code::not_found, file.path.string() + ": " + error.message());
    if (size == file.index.bytes) return {};
    return fail(Code::bad_value, file.path.string() + ": it has " + std::to_string(size) +
                                     " bytes instead of " + std::to_string(file.index.bytes));
}

Result<Writer> Writer::open(fs::path const& directory) {
    if (auto made = backup::make_directory(directory); !made)
        return std::unexpected(std::move(made.error()));
    auto const names = names_in(directory);
    if (!names) return std::unexpected(names.error());
    bool const own = names->empty() || std::ranges::find(*names, "lock") != names->end();
    if (!own)
        return fail(Code::wrong_state, directory.string() +
                                           " holds other files than an archive: name a directory "
                                           "that is new, empty, or an archive");
    auto locked = lock(directory);
    if (!locked) return std::unexpected(std::move(locked.error()));
    for (std::string const& name : *names)
        if (name.ends_with(new_end)) ::unlink((directory / name).c_str());
    return Writer(directory, *std::move(locked));
}

Result<File> Writer::write(std::string const& project, Time month, std::string release, Time at,
                           Frame const& frame, Next const& next) {
    fs::path const stem = free_stem(directory_, project, month);
    auto data = Making::begin(with_end(stem, data_end));
    if (!data) return std::unexpected(std::move(data.error()));
    File out{with_end(stem, data_end), {std::move(release), at, 0, {}}};
    if (auto done = data->add(backup::gzip(frame.head + "\n")); !done)
        return std::unexpected(std::move(done.error()));
    for (;;) {
        auto session = next();
        if (!session) return std::unexpected(std::move(session.error()));
        if (!*session) break;
        Entry entry = std::move((*session)->entry);
        std::string const bytes = backup::gzip((*session)->lines);
        if (auto const back = backup::gunzip(bytes, session_bytes_max);
            !back || *back != (*session)->lines)
            return fail(Code::internal, entry.id.text() + " cannot be compressed");
        entry.offset = data->size();
        entry.bytes = bytes.size();
        entry.digest = digest_text(sha256(bytes));
        if (auto done = data->add(bytes); !done) return std::unexpected(std::move(done.error()));
        out.index.sessions.push_back(std::move(entry));
    }
    if (auto done = data->add(backup::gzip(frame.end(out.index.sessions) + "\n")); !done)
        return std::unexpected(std::move(done.error()));
    out.index.bytes = data->size();
    if (auto done = data->finish(); !done) return std::unexpected(std::move(done.error()));
    auto index = Making::begin(with_end(stem, index_end));
    if (!index) return std::unexpected(std::move(index.error()));
    auto done = index->add(write_index(out.index));
    if (done) done = index->finish();
    if (!done) return std::unexpected(std::move(done.error()));
    return out;
}

}  // namespace dormouse::archive
