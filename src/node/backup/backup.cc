#include "backup/backup.h"

#include "backup/files.h"
#include "base/text/text.h"
#include "store/sqlite/snapshot.h"

#include <algorithm>
#include <array>
#include <future>
#include <set>
#include <tuple>
#include <utility>

namespace dormouse::backup {

namespace {

// Key files that belong to the database. They are written once, when they are created.
constexpr std::array<char const*, 3> keys{"token", "callback.key", "push.key"};
constexpr std::uint64_t key_max = std::uint64_t{1} << 20;

constexpr std::size_t batch_bytes = 16 * chunk_bytes;

// Cuts one file into chunks, and stores those that are not stored yet. While the caller reads the
// next batch, a thread names and stores the chunks of the one before: in a backup that finds
// nothing new the two take about the same time.
class Chunker {
public:
    Chunker(std::string name, Target& target, Sealing const& sealing, port::Entropy& entropy,
            Report& report)
        : target_(target), sealing_(sealing), entropy_(entropy), report_(report) {
        file_.name = std::move(name);
        batch_.reserve(batch_bytes);
        before_.reserve(batch_bytes);
    }
    // The thread uses its members.
    ~Chunker() { std::ignore = wait(); }
    Chunker(Chunker const&) = delete;
    Chunker& operator=(Chunker const&) = delete;

    [[nodiscard]] Result<void> add(std::string_view bytes) {
        while (!bytes.empty()) {
            auto const part = bytes.substr(0, batch_bytes - batch_.size());
            batch_ += part;
            bytes.remove_prefix(part.size());
            if (batch_.size() < batch_bytes) continue;
            if (auto stored = store_batch(); !stored) return stored;
        }
        return {};
    }

    [[nodiscard]] Result<void> finish() {
        if (auto stored = store_batch(); !stored) return stored;
        if (auto stored = wait(); !stored) return stored;
        report_.bytes += file_.bytes;
        report_.chunks += file_.chunks.size();
        report_.manifest.files.push_back(std::move(file_));
        return {};
    }

private:
    [[nodiscard]] Result<void> store_batch() {
        if (auto stored = wait(); !stored) return stored;
        batch_.swap(before_);
        batch_.clear();
        file_.bytes += before_.size();
        stored_ = std::async(std::launch::async, [this] { return store_chunks(before_); });
        return {};
    }

    // Waits until nothing uses `before_`.
    [[nodiscard]] Result<void> wait() { return stored_.valid() ? stored_.get() : Result<void>(); }

    [[nodiscard]] Result<void> store_chunks(std::string_view rest) {
        while (!rest.empty()) {
            if (auto stored = store(rest.substr(0, chunk_bytes)); !stored) return stored;
            rest.remove_prefix(std::min(chunk_bytes, rest.size()));
        }
        return {};
    }

    [[nodiscard]] Result<void> store(std::string_view content) {
        Sha256 const name = sealing_.name_of(content);
        file_.chunks.push_back(name);
        if (target_.has(name)) return {};
        std::string const stored = sealing_.seal(content, hex(name), entropy_);
        ++report_.written;
        report_.bytes_new += stored.size();
        return target_.put(name, stored);
    }

    FileEntry file_;
    std::string batch_;   // is filled
    std::string before_;  // is stored
    std::future<Result<void>> stored_;
    Target& target_;
    Sealing const& sealing_;
    port::Entropy& entropy_;
    Report& report_;
};

Result<void> copy_database(store::sqlite::Snapshot& snapshot, Chunker& to) {
    for (;;) {
        auto const page = snapshot.next();
        if (!page) return std::unexpected(page.error());
        if (!*page) return to.finish();
        if (auto added = to.add(**page); !added) return added;
    }
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
    Chunker database("dormouse.db", target, sealing, entropy, out);
    if (auto copied = copy_database(**snapshot, database); !copied)
        return std::unexpected(std::move(copied.error()));
    for (char const* const name : keys) {
        auto const bytes = read_file(source.directory / name, key_max);
        if (!bytes && bytes.error().code == Code::not_found) continue;
        if (!bytes) return std::unexpected(bytes.error());
        Chunker file(name, target, sealing, entropy, out);
        if (auto added = file.add(*bytes); !added) return std::unexpected(added.error());
        if (auto done = file.finish(); !done) return std::unexpected(done.error());
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
