#include "backup/files.h"
#include "backup/target.h"
#include "base/text/text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

namespace dormouse::backup {

namespace {

class DirectoryTarget final : public Target {
public:
    DirectoryTarget(std::filesystem::path path, io::Fd lock, std::set<Sha256> known)
        : path_(std::move(path)), lock_(std::move(lock)), known_(std::move(known)) {}
    ~DirectoryTarget() override {
        if (finished_) return;
        for (Sha256 const& chunk : written_) ::unlink((path_ / chunk_path(chunk)).c_str());
    }
    DirectoryTarget(DirectoryTarget const&) = delete;
    DirectoryTarget& operator=(DirectoryTarget const&) = delete;

    [[nodiscard]] bool has(Sha256 const& chunk) const override {
        return known_.contains(chunk) || written_.contains(chunk);
    }

    [[nodiscard]] Result<void> put(Sha256 const& chunk, std::string_view stored) override {
        auto const file = path_ / chunk_path(chunk);
        if (auto made = make_directory(file.parent_path()); !made)
            return std::unexpected(std::move(made.error()));
        auto const fd = write_file(file, stored);
        if (!fd) return std::unexpected(fd.error());
        written_.insert(chunk);
        return {};
    }

    [[nodiscard]] Result<void> finish(std::string_view manifest) override {
        if (auto synced = sync_tree(path_); !synced) return synced;
        if (auto replaced = replace_file(path_ / "manifest.json", manifest); !replaced)
            return replaced;
        finished_ = true;
        return {};
    }

private:
    std::filesystem::path const path_;
    io::Fd const lock_;
    std::set<Sha256> const known_;  // stored before; the former manifest names them
    std::set<Sha256> written_;
    bool finished_ = false;
};

Result<io::Fd> lock(std::filesystem::path const& path) {
    auto const file = path / "lock";
    io::Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd.open()) return refused(file, errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno != EWOULDBLOCK) return refused(file, errno);
    return fail(Code::wrong_state, "another backup or restore uses " + path.string());
}

// The names of the chunks that are stored. A folder that cannot be read has none; to write there
// says why.
std::unordered_set<std::string> stored_names(std::filesystem::path const& chunks) {
    using Entries = std::filesystem::directory_iterator;
    std::unordered_set<std::string> out;
    std::error_code error;
    for (Entries folder(chunks, error); !error && folder != Entries(); folder.increment(error)) {
        std::string const start = folder->path().filename();
        std::error_code failed;
        for (Entries entry(folder->path(), failed); !failed && entry != Entries();
             entry.increment(failed)) {
            std::string name = entry->path().filename();
            std::error_code ignored;
            if (start.size() == 2 && name.starts_with(start) && entry->is_regular_file(ignored))
                out.insert(std::move(name));
        }
    }
    return out;
}

// The chunks that the former manifest names and that are still there. One that no manifest names
// may be of a backup that a crash ended: it is written again.
Result<std::set<Sha256>> known_chunks(std::filesystem::path const& path, Sealing const& sealing) {
    std::set<Sha256> out;
    auto const text = read_file(path / "manifest.json", manifest_bytes_max);
    if (!text && text.error().code == Code::not_found) return out;
    if (!text) return std::unexpected(text.error());
    auto const manifest = read_manifest(*text, sealing);
    if (!manifest) return std::unexpected(manifest.error());
    auto const stored = stored_names(path / "chunks");
    for (FileEntry const& file : manifest->files)
        for (Sha256 const& chunk : file.chunks)
            if (stored.contains(hex(chunk))) out.insert(chunk);
    return out;
}

// A directory of something else must not become a backup by a typing error.
Result<void> refuse_foreign(std::filesystem::path const& path) {
    for (auto const& entry : std::filesystem::directory_iterator(path)) {
        std::string const name = entry.path().filename().string();
        if (name == "chunks" || name.starts_with("manifest.json") || name == "lock") continue;
        return fail(Code::wrong_state, path.string() +
                                           " holds other files than a backup: name a directory "
                                           "that is new, empty, or a backup");
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Target>> open_directory(std::filesystem::path const& path,
                                               Sealing const& sealing) {
    if (auto made = make_directory(path); !made) return std::unexpected(std::move(made.error()));
    if (auto own = refuse_foreign(path); !own) return std::unexpected(std::move(own.error()));
    auto locked = lock(path);
    if (!locked) return std::unexpected(std::move(locked.error()));
    auto known = known_chunks(path, sealing);
    if (!known) return std::unexpected(std::move(known.error()));
    if (auto made = make_directory(path / "chunks"); !made)
        return std::unexpected(std::move(made.error()));
    return std::make_unique<DirectoryTarget>(path, *std::move(locked), *std::move(known));
}

}  // namespace dormouse::backup
