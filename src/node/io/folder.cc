#include "io/folder.h"

#include "io/fd.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dormouse::io {

namespace {

std::unexpected<Error> cannot(std::string const& what, std::string const& path, int why) {
    std::string const named = what + " " + path + ": ";
    if (why == EXDEV || why == ELOOP)
        return fail(Code::bad_value, named + "it leads out of the session's folder");
    if (why == ENOENT || why == ENOTDIR) return fail(Code::not_found, named + "not found");
    if (why == EISDIR || why == ENXIO) return fail(Code::bad_value, named + "it is not a file");
    if (why == ENOSYS)
        return fail(Code::internal, named + "this kernel has no openat2 (Linux 5.6)");
    return fail(Code::internal, named + std::strerror(why));
}

int open_at(int folder, std::string const& path, open_how& how) {
    long fd = -1;
    do {
        fd = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
    } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    return static_cast<int>(fd);
}

// Sets the rights of this thread only; glibc's functions would set those of all threads. With the
// file system user the kernel drops the capabilities that bypass file modes.
bool take_rights(FileRights const& rights) {
    if (::syscall(SYS_setgroups, rights.groups.size(), rights.groups.data()) != 0) return false;
    ::syscall(SYS_setfsgid, rights.gid);
    ::syscall(SYS_setfsuid, rights.uid);
    // They return the previous id and never an error.
    return static_cast<gid_t>(::syscall(SYS_setfsgid, -1)) == rights.gid &&
           static_cast<uid_t>(::syscall(SYS_setfsuid, -1)) == rights.uid;
}

Result<Fd> open_beneath(std::string const& folder, std::string const& path, int flags) {
    std::string const what = (flags & O_ACCMODE) == O_RDONLY ? "cannot read" : "cannot write";
    open_how way{};
    way.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    way.resolve = RESOLVE_NO_SYMLINKS;
    Fd const top(open_at(AT_FDCWD, folder, way));
    if (top.get() < 0) return cannot(what, path, errno);
    open_how how{};
    // O_NONBLOCK: opening a pipe would block.
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    how.mode = (flags & O_CREAT) != 0 ? 0666 : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    Fd file(open_at(top.get(), path, how));
    if (file.get() < 0) return cannot(what, path, errno);
    struct stat found{};
    if (::fstat(file.get(), &found) != 0) return cannot(what, path, errno);
    if (!S_ISREG(found.st_mode)) return cannot(what, path, EISDIR);
    return file;
}

Result<std::string> read_beneath(std::string const& folder, std::string const& path,
                                 std::size_t most) {
    auto const file = open_beneath(folder, path, O_RDONLY);
    if (!file) return std::unexpected(file.error());
    std::string out;
    for (;;) {
        constexpr std::size_t piece = std::size_t{64} << 10;
        std::size_t const had = out.size();
        out.resize(had + piece);
        ssize_t const got = ::read(file->get(), out.data() + had, piece);
        out.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got < 0 && errno != EINTR) return cannot("cannot read", path, errno);
        if (out.size() > most)
            return fail(Code::too_large, "cannot read " + path + ": it has more than " +
                                             std::to_string(most) + " bytes");
        if (got == 0) return out;
    }
}

Result<void> write_beneath(std::string const& folder, std::string const& path,
                           std::string_view content) {
    auto const file = open_beneath(folder, path, O_WRONLY | O_CREAT);
    if (!file) return std::unexpected(file.error());
    if (::ftruncate(file->get(), 0) != 0) return cannot("cannot write", path, errno);
    if (!write_whole(file->get(), content)) return cannot("cannot write", path, errno);
    return {};
}

}  // namespace

FolderHost::FolderHost(port::Loop& loop, std::optional<FileRights> rights) : loop_(loop) {
    if (!rights) return;
    port::Fn<void()> first = [this, rights = *std::move(rights)] {
        may_work_ = take_rights(rights);
    };
    (void)worker_.run(first);
}

template <class T>
void FolderHost::run(port::Fn<Result<T>()> work, port::Fn<void(Result<T>)> done) {
    if (waiting_ >= waiting_max) {
        loop_.post([done = std::move(done)]() mutable {
            done(fail(Code::queue_full, "Too many file requests are open."));
        });
        return;
    }
    ++waiting_;
    auto answer = scope_.guard([this, done = std::move(done)](Result<T> outcome) mutable {
        --waiting_;
        done(std::move(outcome));
    });
    port::Fn<void()> job = [this, work = std::move(work), answer = std::move(answer)]() mutable {
        Result<T> outcome =
            may_work_ ? work() : fail(Code::internal, "the rights of run_as could not be taken");
        loop_.post([result = std::move(outcome), answer = std::move(answer)]() mutable {
            answer(std::move(result));
        });
    };
    (void)worker_.run(job);
}

void FolderHost::read(std::string folder, std::string path, std::size_t bytes_max,
                      port::Fn<void(Result<std::string>)> done) {
    run<std::string>([folder = std::move(folder), path = std::move(path),
                      bytes_max] { return read_beneath(folder, path, bytes_max); },
                     std::move(done));
}

void FolderHost::write(std::string folder, std::string path, std::string content,
                       port::Fn<void(Result<void>)> done) {
    run<void>([folder = std::move(folder), path = std::move(path),
               content = std::move(content)] { return write_beneath(folder, path, content); },
              std::move(done));
}

}  // namespace dormouse::io
