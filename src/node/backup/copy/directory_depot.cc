#include "backup/copy/depot.h"
#include "backup/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace dormouse::backup {

namespace {

class DirectoryDepot final : public Depot {
public:
    DirectoryDepot(std::filesystem::path path, io::Fd lock)
        : path_(std::move(path)), lock_(std::move(lock)) {}

    [[nodiscard]] Result<void> put(std::string const& name, std::string_view bytes) override {
        auto const file = path_ / name;
        auto const parent = file.parent_path();
        // Otherwise pieces would get into the empty mount point of a disk that is gone.
        if (parent != path_ && ::access((path_ / "copy.json").c_str(), F_OK) != 0)
            return fail(Code::store_unavailable,
                        (path_ / "copy.json").string() + " is missing: is its disk mounted?");
        auto const made = make_directory(parent);
        if (!made) return std::unexpected(made.error());
        if (*made) {
            if (auto synced = sync_directory(path_); !synced) return synced;
        }
        return replace_file(file, bytes);
    }

    [[nodiscard]] Result<std::string> get(std::string const& name,
                                          std::uint64_t bytes_max) override {
        return read_file(path_ / name, bytes_max);
    }

    // The directory of a generation goes with its last file.
    [[nodiscard]] Result<void> remove(std::string const& name) override {
        auto const file = path_ / name;
        if (::unlink(file.c_str()) != 0 && errno != ENOENT) return refused(file, errno);
        if (file.parent_path() != path_) ::rmdir(file.parent_path().c_str());
        return {};
    }

private:
    std::filesystem::path const path_;
    io::Fd const lock_;
};

// A directory of something else must not become a copy by a typing error.
Result<void> refuse_other_files(std::filesystem::path const& path) {
    std::error_code error;
    bool const ours = std::filesystem::exists(path / "copy.json", error);
    for (auto const& entry : std::filesystem::directory_iterator(path, error)) {
        std::string const name = entry.path().filename().string();
        if (ours || name == "lock" || name == "copy.json.new" || name.starts_with("owner.json"))
            continue;
        return fail(Code::wrong_state, path.string() +
                                           " holds other files than a continuous copy: name a "
                                           "directory that is new, empty, or a copy");
    }
    if (error) return refused(path, error.value());
    return {};
}

Result<io::Fd> lock_copy(std::filesystem::path const& path) {
    auto const file = path / "lock";
    io::Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd.open()) return refused(file, errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno != EWOULDBLOCK) return refused(file, errno);
    return fail(Code::wrong_state, "another server copies to " + path.string() +
                                       ": each needs a directory of its own");
}

}  // namespace

Result<std::unique_ptr<Depot>> open_directory_depot(std::filesystem::path const& path) {
    if (auto made = make_directory(path); !made) return std::unexpected(std::move(made.error()));
    if (auto own = refuse_other_files(path); !own) return std::unexpected(std::move(own.error()));
    auto locked = lock_copy(path);
    if (!locked) return std::unexpected(std::move(locked.error()));
    return std::make_unique<DirectoryDepot>(path, *std::move(locked));
}

std::unique_ptr<Depot> read_directory_depot(std::filesystem::path const& path) {
    return std::make_unique<DirectoryDepot>(path, io::Fd());
}

}  // namespace dormouse::backup
