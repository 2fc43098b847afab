#include "archive/writer.h"

#include "archive/names.h"
#include "archive/piece.h"
#include "backup/files.h"
#include "backup/gzip.h"
#include "base/crypto/sha256.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace dormouse::archive {

namespace {

namespace fs = std::filesystem;

fs::path with_new_end(fs::path path) { return path += new_end; }

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
        fs::path fresh = with_new_end(path);
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
    [[nodiscard]] Result<void> sync() { return backup::sync_file(fd_.get(), fresh_); }
    // REQUIRES: sync().
    [[nodiscard]] Result<void> put() {
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

// An index of which the data is in its place already. Returns whether it was one.
Result<bool> finish_index(fs::path const& directory, std::string const& name) {
    auto const stem = stem_of_new_index(name);
    auto const text = backup::read_file(directory / name, index_bytes_max);
    if (!stem || !text) return false;
    auto const index = read_index(*text);
    if (!index) return false;
    std::error_code error;
    auto const size = fs::file_size(data_path(directory / *stem, *index), error);
    if (error || size != index->bytes) return false;
    fs::path const path = index_path(directory / *stem);
    if (::rename((directory / name).c_str(), path.c_str()) != 0)
        return backup::refused(path, errno);
    if (auto synced = backup::sync_directory(directory); !synced)
        return std::unexpected(std::move(synced.error()));
    return true;
}

// Returns true if the data that the index names is there. Otherwise another version may be the only
// one.
bool is_whole(File const& file) {
    std::error_code error;
    auto const size = fs::file_size(file.path, error);
    return !error && size == file.index.bytes;
}

// Finishes or removes what was being written, and removes former versions of files.
Result<void> remove_leftovers(fs::path const& directory, std::vector<std::string> const& names) {
    auto const remove = [&](std::string const& name) { ::unlink((directory / name).c_str()); };
    for (std::string const& name : names) {
        if (!name.ends_with(new_end)) continue;
        auto const finished = finish_index(directory, name);
        if (!finished) return std::unexpected(finished.error());
        if (!*finished) remove(name);
    }
    auto const all = Archive::open(directory, std::nullopt);
    if (!all && all.error().code == Code::not_found) return {};
    if (!all) return std::unexpected(all.error());
    for (File const& file : all->files()) {
        if (!is_whole(file)) continue;
        auto const stem = file.stem.filename().string();
        auto const data = file.path.filename().string();
        for (auto at = std::ranges::lower_bound(names, stem);
             at != names.end() && at->starts_with(stem); ++at)
            if (*at != data && is_data_of(stem, *at)) remove(*at);
    }
    return {};
}

// Makes an index that is not in its place yet.
Result<Making> make_index(fs::path const& stem, Index const& index) {
    auto file = Making::begin(index_path(stem));
    if (!file) return file;
    if (auto done = file->add(write_index(index)); !done)
        return std::unexpected(std::move(done.error()));
    if (auto done = file->sync(); !done) return std::unexpected(std::move(done.error()));
    return file;
}

Result<bool> is_damaged(File const& file, std::set<SessionId> const& without) {
    for (Entry const& entry : file.index.sessions) {
        if (without.contains(entry.id)) continue;
        auto const lines = Archive::read({&file, &entry});
        if (!lines && lines.error().code == Code::bad_value) return true;
        if (!lines) return std::unexpected(lines.error());
    }
    return false;
}

// One file that is being written, piece by piece.
class Pieces {
public:
    Pieces(Making data, FileKey* key) : data_(std::move(data)), key_(key) {}

    [[nodiscard]] Result<void> add(std::string_view text, std::string_view bound) {
        auto const bytes = backup::gzip(text);
        return data_.add(key_ ? key_->seal(bytes, bound) : bytes);
    }
    [[nodiscard]] Result<Entry> add(Writer::Session session) {
        Entry entry = std::move(session.entry);
        std::string bytes = backup::gzip(session.lines);
        if (auto const back = backup::gunzip(bytes, session_bytes_max);
            !back || *back != session.lines)
            return fail(Code::internal, entry.id.text() + " cannot be compressed");
        if (key_) bytes = key_->seal(bytes, bound_session(entry));
        entry.offset = data_.size();
        entry.bytes = bytes.size();
        entry.digest = digest_text(sha256(bytes));
        if (auto done = data_.add(bytes); !done) return std::unexpected(std::move(done.error()));
        return entry;
    }
    [[nodiscard]] Result<Entry> add(Writer::Damaged session) {
        Entry entry = std::move(session.entry);
        entry.offset = data_.size();
        if (auto done = data_.add(session.bytes); !done)
            return std::unexpected(std::move(done.error()));
        return entry;
    }
    [[nodiscard]] std::uint64_t size() const { return data_.size(); }
    [[nodiscard]] Result<void> sync() { return data_.sync(); }
    [[nodiscard]] Result<void> put() { return data_.put(); }

private:
    Making data_;
    FileKey* key_;  // null: plain
};

}  // namespace

Result<Writer> Writer::open(fs::path const& directory, Encryption encryption) {
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
    if (auto removed = remove_leftovers(directory, *names); !removed)
        return std::unexpected(std::move(removed.error()));
    return Writer(directory, encryption, *std::move(locked));
}

Result<File> Writer::write(std::string const& project, Time month, Origin const& origin,
                           Frame const& frame, Next const& next) {
    File out{.path = {},
             .stem = free_stem(directory_, project, month),
             .index = {.release = origin.release, .at = origin.at, .bytes = 0, .sessions = {}}};
    return compose(std::move(out), frame, next);
}

Result<Writer> Writer::open_to_repair(fs::path const& directory) {
    auto locked = lock(directory);
    if (!locked) return std::unexpected(std::move(locked.error()));
    return Writer(directory, {}, *std::move(locked));
}

Result<void> Writer::put_index(fs::path const& stem, Index const& index) {
    auto file = make_index(stem, index);
    if (!file) return std::unexpected(std::move(file.error()));
    return file->put();
}

Result<File> Writer::rewrite(File const& file, Origin const& origin, Frame const& frame,
                             Change const& change, OnDamage damaged,
                             std::set<SessionId> const& without) {
    if (auto whole = Archive::check_size(file); !whole)
        return std::unexpected(std::move(whole.error()));
    bool const stays = file.key.has_value() == (encryption_.masters != nullptr);
    bool const copies = damaged == OnDamage::copy && stays;
    std::size_t at = 0;
    auto next = [&]() -> Result<std::optional<Piece>> {
        auto const& all = file.index.sessions;
        while (at < all.size() && without.contains(all[at].id)) ++at;
        if (at == all.size()) return std::nullopt;
        Entry const& entry = all[at++];
        auto lines = Archive::read({&file, &entry});
        if (!lines && copies && lines.error().code == Code::bad_value) {
            auto bytes = Archive::read_piece({&file, &entry});
            if (!bytes) return std::unexpected(std::move(bytes.error()));
            return Damaged{entry, *std::move(bytes)};
        }
        if (!lines) return std::unexpected(std::move(lines.error()));
        auto changed = change({entry, *std::move(lines)});
        if (!changed) return std::unexpected(std::move(changed.error()));
        return *std::move(changed);
    };
    File out{.path = {},
             .stem = file.stem,
             .index = {.release = origin.release,
                       .at = origin.at,
                       .bytes = 0,
                       .sessions = {},
                       .version = file.index.version + 1}};
    if (copies && file.key) {
        auto const some = is_damaged(file, without);
        if (!some) return std::unexpected(some.error());
        // With another key, nobody could repair them from a copy of the file.
        if (*some) out.key = file.key;
        if (*some) out.key->continue_at_random(*encryption_.entropy);
    }
    auto written = compose(std::move(out), frame, next);
    if (!written) return written;
    if (::unlink(file.path.c_str()) != 0 && errno != ENOENT)
        return backup::refused(file.path, errno);
    if (auto synced = backup::sync_directory(directory_); !synced)
        return std::unexpected(std::move(synced.error()));
    return written;
}

// The data first: without its index it would be made again (archive/reindex.h).
Result<void> Writer::remove(File const& file) {
    for (fs::path const& path : {file.path, index_path(file.stem)})
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return backup::refused(path, errno);
    return backup::sync_directory(directory_);
}

Result<File> Writer::compose(File file, Frame const& frame, Next const& next) {
    Index& index = file.index;
    if (encryption_.masters) {
        if (!file.key) file.key = FileKey::make(*encryption_.entropy);
        index.key = file.key->wrap(*encryption_.masters, *encryption_.entropy);
    }
    file.path = data_path(file.stem, index);
    auto data = Making::begin(file.path);
    if (!data) return std::unexpected(std::move(data.error()));
    Pieces pieces(*std::move(data), file.key ? &*file.key : nullptr);
    if (auto done = pieces.add(frame.head + "\n", bound_first); !done)
        return std::unexpected(std::move(done.error()));
    for (;;) {
        auto session = next();
        if (!session) return std::unexpected(std::move(session.error()));
        if (!*session) break;
        auto entry = std::visit([&](auto& one) { return pieces.add(std::move(one)); }, **session);
        if (!entry) return std::unexpected(std::move(entry.error()));
        index.sessions.push_back(*std::move(entry));
    }
    if (auto done = pieces.add(frame.end(index.sessions) + "\n", bound_last); !done)
        return std::unexpected(std::move(done.error()));
    index.bytes = pieces.size();
    if (auto done = pieces.sync(); !done) return std::unexpected(std::move(done.error()));
    if (file.key) index.titles = seal_titles(index, *file.key);
    // Both are durable before the first gets its name: after a crash open() finishes the second.
    auto index_file = make_index(file.stem, index);
    if (!index_file) return std::unexpected(std::move(index_file.error()));
    if (auto done = pieces.put(); !done) return std::unexpected(std::move(done.error()));
    if (auto done = index_file->put(); !done) return std::unexpected(std::move(done.error()));
    return file;
}

Result<bool> Writer::rewrap(File const& file) {
    if (auto readable = check_key(file); !readable)
        return std::unexpected(std::move(readable.error()));
    if (file.index.key->master == encryption_.masters->first().id) return false;
    Index index = file.index;
    index.key = file.key->wrap(*encryption_.masters, *encryption_.entropy);
    auto index_file = make_index(file.stem, index);
    if (!index_file) return std::unexpected(std::move(index_file.error()));
    if (auto done = index_file->put(); !done) return std::unexpected(std::move(done.error()));
    return true;
}

}  // namespace dormouse::archive
