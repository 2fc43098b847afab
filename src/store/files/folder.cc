#include "store/files/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace dormouse::store::files {

namespace {

constexpr std::size_t open_at_once = 64;

int open_folder(int at, char const* name, int more) {
    return ::openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more);
}

}  // namespace

std::string temporary_name(std::string const& name) { return "." + name + ".new"; }

std::unexpected<Error> Folder::refused(std::string const& name, int error) const {
    std::string const what = path_ + (name.empty() ? "" : "/" + name) + ": ";
    if (error == ENOSPC || error == EDQUOT)
        return fail(Code::store_full, what + std::strerror(error));
    if (error == ELOOP || error == ENOTDIR || error == EISDIR || error == ENOTEMPTY)
        return fail(Code::store_unavailable, what + "something else has this name; remove it");
    return fail(Code::store_unavailable, what + std::strerror(error));
}

Result<Folder> Folder::open(std::string const& path) {
    Folder out(io::Fd(open_folder(AT_FDCWD, path.c_str(), 0)), path);
    if (!out.fd_.open()) return out.refused({}, errno);
    return out;
}

Result<Folder> Folder::inner(std::string const& name) const {
    if (::mkdirat(fd_.get(), name.c_str(), 0700) == 0) {
        if (auto synced = sync(); !synced) return std::unexpected(synced.error());
    } else if (errno != EEXIST) {
        return refused(name, errno);
    }
    Folder out(io::Fd(open_folder(fd_.get(), name.c_str(), O_NOFOLLOW)), path_ + "/" + name);
    if (!out.fd_.open()) return refused(name, errno);
    return out;
}

Result<void> Folder::replace(std::vector<File> const& files) const {
    for (std::size_t first = 0; first < files.size(); first += open_at_once) {
        auto done = replace_some(files, first, std::min(first + open_at_once, files.size()));
        if (!done) return done;
    }
    return files.empty() ? Result<void>() : sync();
}

// All are written before the first is synced: the file system then writes them together.
Result<void> Folder::replace_some(std::vector<File> const& files, std::size_t first,
                                  std::size_t last) const {
    std::vector<io::Fd> staged;
    for (std::size_t i = first; i < last; ++i) {
        auto file = stage(files[i]);
        if (!file) return std::unexpected(file.error());
        staged.push_back(*std::move(file));
    }
    for (std::size_t i = first; i < last; ++i)
        if (::fsync(staged[i - first].get()) != 0) return refused(files[i].first, errno);
    for (std::size_t i = first; i < last; ++i)
        if (auto renamed = rename(files[i].first); !renamed) return renamed;
    return {};
}

// O_EXCL: an existing file of this name, such as a link, is removed and never written to.
Result<io::Fd> Folder::stage(File const& file) const {
    std::string const name = temporary_name(file.first);
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    io::Fd fd(::openat(fd_.get(), name.c_str(), flags, 0600));
    if (!fd.open() && errno == EEXIST) {
        if (auto removed = remove(name); !removed) return std::unexpected(removed.error());
        fd = io::Fd(::openat(fd_.get(), name.c_str(), flags, 0600));
    }
    if (!fd.open()) return refused(name, errno);
    if (!io::write_whole(fd.get(), file.second)) {
        int const why = errno;
        (void)::unlinkat(fd_.get(), name.c_str(), 0);  // it may be what fills the disk
        return refused(file.first, why);
    }
    return fd;
}

Result<void> Folder::rename(std::string const& name) const {
    std::string const from = temporary_name(name);
    auto const put = [&] {
        return ::renameat(fd_.get(), from.c_str(), fd_.get(), name.c_str()) == 0;
    };
    if (put()) return {};
    if (errno != EISDIR) return refused(name, errno);
    if (auto removed = remove(name); !removed) return removed;
    return put() ? Result<void>() : refused(name, errno);
}

Result<std::optional<std::string>> Folder::read(std::string const& name,
                                                std::size_t bytes_max) const {
    // O_NONBLOCK: opening a pipe would block.
    io::Fd const fd(
        ::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat found{};
    if (!fd.open() && (errno == ENOENT || errno == ELOOP || errno == ENXIO)) return std::nullopt;
    if (!fd.open() || ::fstat(fd.get(), &found) != 0) return refused(name, errno);
    if (!S_ISREG(found.st_mode)) return std::nullopt;
    if (static_cast<std::uint64_t>(found.st_size) > bytes_max) return std::nullopt;
    std::string out(static_cast<std::size_t>(found.st_size), '\0');
    std::size_t have = 0;
    while (have < out.size()) {
        ssize_t const got = ::read(fd.get(), out.data() + have, out.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return refused(name, errno);
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    out.resize(have);
    return out;
}

Result<void> Folder::remove(std::string const& name) const {
    if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno == EISDIR || errno == EPERM) {
        if (::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) == 0) return {};
    }
    return refused(name, errno);
}

Result<void> Folder::sync() const {
    return ::fsync(fd_.get()) == 0 ? Result<void>() : refused({}, errno);
}

Result<std::vector<Folder::Entry>> Folder::entries() const {
    int const copy = open_folder(fd_.get(), ".", 0);
    if (copy < 0) return refused({}, errno);
    std::unique_ptr<DIR, int (*)(DIR*)> const list(::fdopendir(copy), ::closedir);
    if (!list) return refused({}, errno);
    std::vector<Entry> out;
    while (dirent const* const one = ::readdir(list.get())) {  // NOLINT(concurrency-mt-unsafe)
        std::string name = one->d_name;
        if (name == "." || name == "..") continue;
        unsigned char type = one->d_type;
        struct stat found{};
        if (type == DT_UNKNOWN &&
            ::fstatat(fd_.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0)
            type = static_cast<unsigned char>(IFTODT(found.st_mode));
        if (type == DT_REG || type == DT_DIR) out.push_back({std::move(name), type == DT_DIR});
    }
    return out;
}

}  // namespace dormouse::store::files
