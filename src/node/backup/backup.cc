#include "backup/backup.h"

#include "backup/files.h"
#include "base/text/text.h"
#include "store/sqlite/snapshot.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::backup {

namespace {

// Key files that belong to the database. They are written once, when they are created.
constexpr std::array<char const*, 3> keys{"token", "callback.key", "push.key"};
constexpr std::uint64_t key_max = std::uint64_t{1} << 20;

constexpr std::size_t batch_bytes = 16 * chunk_bytes;

// Fills `to`; only at the end of the file, with less. Returns the bytes.
using ReadFile = std::function<Result<std::size_t>(std::span<char>)>;

// Cuts one file into chunks, and stores those that are not stored yet. Two threads take batches of
// the file: one at a time reads, while the other names the chunks of the batch that it has read. In
// a backup that finds nothing new this is nearly all of the work.
class Chunker {
public:
    Chunker(std::string name, ReadFile read, Target& target, Sealing const& sealing,
            port::Entropy& entropy)
        : read_(std::move(read)), sealing_(sealing), target_(target), entropy_(entropy) {
        file_.name = std::move(name);
    }

    [[nodiscard]] Result<void> run(Report& report) {
        auto other = std::async(std::launch::async, [this] { work(); });
        work();
        other.get();
        if (error_) return std::unexpected(*std::move(error_));
        report.bytes += file_.bytes;
        report.chunks += file_.chunks.size();
        report.written += written_;
        report.bytes_new += bytes_new_;
        report.manifest.files.push_back(std::move(file_));
        return {};
    }

private:
    struct Batch {
        std::size_t first = 0;  // the number of its first chunk
        std::string_view content;

        [[nodiscard]] std::size_t chunks() const {
            return (content.size() + chunk_bytes - 1) / chunk_bytes;
        }
        [[nodiscard]] std::string_view chunk(std::size_t n) const {
            return content.substr(n * chunk_bytes, chunk_bytes);
        }
    };

    void work() {
        std::string space(batch_bytes, '\0');
        while (auto const batch = next_batch(space)) {
            std::vector<Sha256> names(batch->chunks());
            for (std::size_t n = 0; n < names.size(); ++n)
                names[n] = sealing_.name_of(batch->chunk(n));
            store(*batch, names);
        }
    }

    // nullopt: the end of the file, or an error.
    [[nodiscard]] std::optional<Batch> next_batch(std::span<char> space) {
        std::scoped_lock const lock(reading_);
        if (ended_) return std::nullopt;
        auto const bytes = read_(space);
        if (!bytes) {
            std::scoped_lock const storing(storing_);
            stop(bytes.error());
            return std::nullopt;
        }
        if (*bytes < space.size()) ended_ = true;
        Batch const out{file_.bytes / chunk_bytes, {space.data(), *bytes}};
        file_.bytes += *bytes;
        return out;
    }

    void store(Batch const& batch, std::vector<Sha256> const& names) {
        std::scoped_lock const lock(storing_);
        auto& all = file_.chunks;
        all.resize(std::max(all.size(), batch.first + names.size()));
        std::ranges::copy(names, all.begin() + static_cast<std::ptrdiff_t>(batch.first));
        for (std::size_t n = 0; n < names.size(); ++n)
            if (auto stored = store(names[n], batch.chunk(n)); !stored) return stop(stored.error());
    }

    // REQUIRES: storing_ is locked.
    [[nodiscard]] Result<void> store(Sha256 const& name, std::string_view content) {
        if (target_.has(name)) return {};
        std::string const stored = sealing_.seal(content, hex(name), entropy_);
        ++written_;
        bytes_new_ += stored.size();
        return target_.put(name, stored);
    }

    // REQUIRES: storing_ is locked.
    void stop(Error const& error) {
        if (!error_) error_ = error;
        ended_ = true;
    }

    ReadFile const read_;
    Sealing const& sealing_;
    std::atomic<bool> ended_ = false;  // nothing more is read

    std::mutex reading_;
    FileEntry file_;  // under `reading_`, its chunks under `storing_`

    std::mutex storing_;
    // Under `storing_`.
    Target& target_;
    port::Entropy& entropy_;
    std::uint64_t written_ = 0;
    std::uint64_t bytes_new_ = 0;
    std::optional<Error> error_;
};

ReadFile reader_of(std::string_view bytes) {
    return [bytes](std::span<char> to) mutable -> Result<std::size_t> {
        std::size_t const count = std::min(to.size(), bytes.size());
        std::copy_n(bytes.begin(), count, to.begin());
        bytes.remove_prefix(count);
        return count;
    };
}

}  // namespace

Result<Report> make(Source const& source, Target& target, Sealing const& sealing,
                    port::Entropy& entropy) {
    auto const snapshot = store::sqlite::Snapshot::open(source.directory);
    if (!snapshot) return std::unexpected(snapshot.error());
    Report out{.manifest = {.release = source.release,
                            .time = source.now,
                            .store_format = (*snapshot)->format(),
                            .epoch = (*snapshot)->epoch(),
                            .feed = (*snapshot)->feed()}};
    Chunker database(
        "dormouse.db", [&](std::span<char> to) { return (*snapshot)->read(to); }, target, sealing,
        entropy);
    if (auto copied = database.run(out); !copied) return std::unexpected(std::move(copied.error()));
    for (char const* const name : keys) {
        auto const bytes = read_file(source.directory / name, key_max);
        if (!bytes && bytes.error().code == Code::not_found) continue;
        if (!bytes) return std::unexpected(bytes.error());
        Chunker file(name, reader_of(*bytes), target, sealing, entropy);
        if (auto done = file.run(out); !done) return std::unexpected(std::move(done.error()));
    }
    auto const finished = target.finish(manifest_text(out.manifest, sealing, entropy));
    if (!finished) return std::unexpected(finished.error());
    return out;
}

// Files that cannot be removed only take space; the next backup tries again.
void prune(std::filesystem::path const& directory, Manifest const& manifest) {
    std::set<std::string> named;
    for (FileEntry const& file : manifest.files)
        for (Sha256 const& chunk : file.chunks) named.insert(hex(chunk));
    std::error_code error;
    std::filesystem::recursive_directory_iterator entry(directory / "chunks", error);
    for (; !error && entry != std::filesystem::recursive_directory_iterator();
         entry.increment(error)) {
        std::error_code ignored;
        if (!entry->is_regular_file(ignored) || named.contains(entry->path().filename())) continue;
        std::filesystem::remove(entry->path(), ignored);
    }
}

}  // namespace dormouse::backup
