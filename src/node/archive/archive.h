#pragma once
// A directory of completed sessions. Each file holds those of one project and month as an export
// that is compressed session by session; the index beside it says where each one is. A file is
// there as a whole, with its index, or not at all, and is never changed. All functions block; an
// error names the file.

#include "archive/index_file.h"
#include "io/fd.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::archive {

inline constexpr std::uint64_t session_bytes_max = std::uint64_t{2} << 30;  // uncompressed

struct File {
    std::filesystem::path path;  // of the sessions
    Index index;
};

// Where a session is.
struct Place {
    File const* file = nullptr;
    Entry const* entry = nullptr;
};

class Archive {
public:
    // Reads all indexes. Errors: not_found, and those of an index.
    [[nodiscard]] static Result<Archive> open(std::filesystem::path const& directory);

    [[nodiscard]] std::vector<File> const& files() const { return files_; }
    // The session of this id, or of its unique beginning; the newest of several states. Errors:
    // not_found, bad_value (the beginning of several).
    [[nodiscard]] Result<Place> find(std::string const& name) const;
    // Its lines, as in an export. Errors: bad_value: the file was truncated or changed.
    [[nodiscard]] static Result<std::string> read(Place const& place);
    // What is wrong with the file as a whole, in addition to its sessions: its size.
    [[nodiscard]] static Result<void> check_size(File const& file);

private:
    std::vector<File> files_;  // by name
};

// Writes files. While it lives, nobody else writes to the directory.
class Writer {
public:
    // Makes the directory, and removes what a crash left. Errors: wrong_state (somebody writes to
    // it, or it is a directory of something else); store_unavailable.
    [[nodiscard]] static Result<Writer> open(std::filesystem::path const& directory);

    // The lines of one session; `entry` without its place in the file.
    struct Session {
        Entry entry;
        std::string lines;
    };
    // Writes one file of these sessions, durably, and returns it. `next` is called until it returns
    // nullopt. `head`: the first line, `end`: the last one, of the sessions that were given.
    // REQUIRES: they are of one project and month, at least one.
    using Next = std::function<Result<std::optional<Session>>()>;
    struct Frame {
        std::string head;
        std::function<std::string(std::vector<Entry> const&)> end;
    };
    [[nodiscard]] Result<File> write(std::string const& project, Time month, std::string release,
                                     Time at, Frame const& frame, Next const& next);

private:
    Writer(std::filesystem::path directory, io::Fd lock)
        : directory_(std::move(directory)), lock_(std::move(lock)) {}

    std::filesystem::path directory_;
    io::Fd lock_;
};

}  // namespace dormouse::archive
