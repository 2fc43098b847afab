#include "store/sqlite/data_directory.h"

#include "store/sqlite/hold.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace dormouse::store::sqlite {
namespace {

std::unexpected<Error> refused(std::filesystem::path const& path, int error) {
    return fail(Code::store_unavailable,
                path.string() + ": " + std::generic_category().message(error));
}

Result<void> make_directory(std::filesystem::path const& path) {
    if (std::filesystem::is_directory(path)) return {};
    auto const parent = std::filesystem::absolute(path).parent_path();
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) return refused(parent, error.value());
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return refused(path, errno);
    return sync_directory(parent);
}

// Creates the file readable only by its owner; SQLite's files next to it get the same mode.
Result<void> make_file(std::filesystem::path const& directory) {
    auto const file = directory / "dormouse.db";
    int const fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return refused(file, errno);
    close(fd);
    return sync_directory(directory);
}

std::string holder_of(int fd) {
    std::array<char, 32> text{};
    auto const size = pread(fd, text.data(), text.size(), 0);
    std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    pid.erase(pid.find_last_not_of('\n') + 1);
    return pid.empty() ? "another process" : "pid " + pid;
}

Result<void> write_holder(int fd, std::filesystem::path const& path) {
    auto const pid = std::to_string(getpid()) + "\n";
    if (ftruncate(fd, 0) != 0 ||
        pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
        return refused(path, errno);
    return {};
}

}  // namespace

Result<void> sync_directory(std::filesystem::path const& path) {
    int const fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return refused(path, errno);
    int const error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    if (error != 0) return refused(path, error);
    return {};
}

Result<DataDirectory> DataDirectory::acquire(std::filesystem::path const& path) {
    if (auto const made = make_directory(path); !made) return std::unexpected(made.error());
    auto const file = path / "lock";
    int const fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return refused(file, errno);
    DataDirectory directory(fd);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return refused(file, errno);
        return fail(Code::wrong_state, path.string() + " is in use by " + holder_of(fd) +
                                           ": stop that process, or choose another directory");
    }
    std::error_code error;
    if (std::filesystem::exists(path / restoring_name, error))
        return fail(Code::wrong_state, "a restore into " + path.string() +
                                           " did not finish: delete the directory and restore "
                                           "again");
    if (auto const written = write_holder(fd, file); !written)
        return std::unexpected(written.error());
    if (auto const made = make_file(path); !made) return std::unexpected(made.error());
    if (auto const locked = directory.lock_database(path); !locked)
        return std::unexpected(locked.error());
    return directory;
}

// Somebody may have removed the lock file of a running process. This lock does not affect SQLite's
// locks, which are of another kind.
Result<void> DataDirectory::lock_database(std::filesystem::path const& path) {
    auto const file = path / "dormouse.db";
    database_ = open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (database_ < 0) return refused(file, errno);
    if (flock(database_, LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK) return refused(file, errno);
    return fail(Code::wrong_state, path.string() +
                                       " is in use by another process, whose lock file was "
                                       "removed: stop that process, or choose another directory");
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : lock_(std::exchange(other.lock_, -1)), database_(std::exchange(other.database_, -1)) {}

DataDirectory::~DataDirectory() {
    if (database_ >= 0) close(database_);
    if (lock_ >= 0) close(lock_);
}

}  // namespace dormouse::store::sqlite
