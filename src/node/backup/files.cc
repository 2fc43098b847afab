#include "backup/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace dormouse::backup {

std::unexpected<Error> refused(std::filesystem::path const& path, int error) {
    bool const full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return fail(full ? Code::store_full : Code::store_unavailable,
                path.string() + ": " + std::generic_category().message(error));
}

Result<io::Fd> create_file(std::filesystem::path const& path, bool exclusive) {
    int const kind = exclusive ? O_EXCL : O_TRUNC;
    io::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | kind, 0600));
    if (fd.open()) return fd;
    if (errno == EEXIST) return fail(Code::conflict, path.string() + " exists already");
    return refused(path, errno);
}

Result<void> write_all(int fd, std::string_view bytes, std::filesystem::path const& path) {
    if (!io::write_whole(fd, bytes)) return refused(path, errno);
    return {};
}

Result<void> sync_file(int fd, std::filesystem::path const& path) {
    if (::fsync(fd) != 0) return refused(path, errno);
    return {};
}

Result<io::Fd> write_file(std::filesystem::path const& path, std::string_view bytes) {
    auto fd = create_file(path, false);
    if (!fd) return fd;
    if (auto written = write_all(fd->get(), bytes, path); !written) {
        ::unlink(path.c_str());
        return std::unexpected(std::move(written.error()));
    }
    return fd;
}

Result<void> replace_file(std::filesystem::path const& path, std::string_view bytes) {
    auto const fresh = path.string() + ".new";
    auto const fd = write_file(fresh, bytes);
    if (!fd) return std::unexpected(fd.error());
    if (auto synced = sync_file(fd->get(), fresh); !synced) return synced;
    if (::rename(fresh.c_str(), path.c_str()) != 0) return refused(path, errno);
    return sync_directory(path.parent_path());
}

Result<std::string> read_file(std::filesystem::path const& path, std::uint64_t bytes_max) {
    io::Fd const fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.open() && errno == ENOENT) return fail(Code::not_found, path.string() + " not found");
    struct stat found{};
    if (!fd.open() || ::fstat(fd.get(), &found) != 0) return refused(path, errno);
    if (static_cast<std::uint64_t>(found.st_size) > bytes_max)
        return fail(Code::too_large, path.string() + " has " + std::to_string(found.st_size) +
                                         " bytes, at most " + std::to_string(bytes_max) +
                                         " are expected");
    std::string out(static_cast<std::size_t>(found.st_size), '\0');
    std::size_t size = 0;
    while (size < out.size()) {
        auto const count = ::read(fd.get(), out.data() + size, out.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return refused(path, errno);
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    out.resize(size);
    return out;
}

Result<void> sync_tree(std::filesystem::path const& directory) {
    io::Fd const fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.open() || ::syncfs(fd.get()) != 0) return refused(directory, errno);
    return {};
}

Result<void> sync_directory(std::filesystem::path const& directory) {
    io::Fd const fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.open() || ::fsync(fd.get()) != 0) return refused(directory, errno);
    return {};
}

Result<bool> make_directory(std::filesystem::path const& path) {
    if (::mkdir(path.c_str(), 0700) == 0) return true;
    if (errno == EEXIST && std::filesystem::is_directory(path)) return false;
    if (errno == EEXIST) return fail(Code::conflict, path.string() + " is not a directory");
    return refused(path, errno);
}

}  // namespace dormouse::backup
