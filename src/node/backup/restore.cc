#include "backup/restore.h"

#include "backup/files.h"
#include "base/sha256_stream.h"
#include "base/text/text.h"
#include "json/json.h"
#include "store/sqlite/hold.h"
#include "store/sqlite/snapshot.h"

#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

namespace dormouse::backup {

namespace {

constexpr std::size_t findings_max = 20;
constexpr std::uint64_t sealed_extra = 28;  // nonce and tag

// The content of one chunk; internal: missing or damaged.
Result<std::string> chunk(std::filesystem::path const& directory, Sha256 const& name,
                          Sealing const& sealing) {
    auto const path = directory / chunk_path(name);
    auto const damaged = [&](std::string_view how) {
        return fail(Code::internal, chunk_path(name) + " is " + std::string(how));
    };
    auto const stored = read_file(path, chunk_bytes + sealed_extra);
    if (!stored && stored.error().code == Code::not_found) return damaged("missing");
    if (!stored && stored.error().code == Code::too_large) return damaged("damaged");
    if (!stored) return std::unexpected(stored.error());
    auto content = sealing.open(*stored, hex(name));
    if (!content || sealing.name_of(*content) != name) return damaged("damaged");
    return *std::move(content);
}

// Gives `use` the content of each chunk. internal: the file is not as the manifest says.
Result<void> read_chunks(std::filesystem::path const& directory, FileEntry const& file,
                         Sealing const& sealing,
                         std::function<Result<void>(std::string_view)> const& use) {
    Sha256Stream whole;
    std::uint64_t bytes = 0;
    for (Sha256 const& name : file.chunks) {
        auto const content = chunk(directory, name, sealing);
        if (!content) return std::unexpected(content.error());
        whole.add(*content);
        bytes += content->size();
        if (auto used = use(*content); !used) return used;
    }
    if (bytes == file.bytes && whole.finish() == file.digest) return {};
    return fail(Code::internal, file.name + " does not have the digest of the manifest");
}

// What a restore has made, and removes again unless it is kept.
class Made {
public:
    ~Made() {
        for (auto path = paths_.rbegin(); path != paths_.rend(); ++path)
            std::filesystem::remove(*path, ignored_);
    }
    Made() = default;
    Made(Made const&) = delete;
    Made& operator=(Made const&) = delete;
    void add(std::filesystem::path path) { paths_.push_back(std::move(path)); }
    void keep() { paths_.clear(); }

private:
    std::vector<std::filesystem::path> paths_;
    std::error_code ignored_;
};

std::unexpected<Error> not_empty(std::filesystem::path const& to) {
    return fail(Code::wrong_state,
                to.string() + " is not empty: restore into a new directory, or an empty one");
}

// Of two restores at once, one makes this file, and the other finds it.
Result<void> claim(std::filesystem::path const& to, Manifest const& manifest, Time now,
                   Made& made) {
    std::error_code error;
    auto const fresh = make_directory(to);
    if (!fresh) return std::unexpected(fresh.error());
    if (*fresh) made.add(to);
    if (!std::filesystem::is_empty(to, error) || error) return not_empty(to);
    auto const file = to / store::sqlite::restoring_name;
    auto const fd = create_file(file, true);
    if (!fd && fd.error().code == Code::conflict) return not_empty(to);
    if (!fd) return std::unexpected(fd.error());
    made.add(file);
    json::Writer text;
    text.begin_object().member("restored", to_ms(now)).member("backup", to_ms(manifest.time));
    text.member("release", manifest.release).member("feed", manifest.feed).end_object();
    if (auto written = write_all(fd->get(), text.take() + "\n", file); !written) return written;
    return sync_file(fd->get(), file);
}

Result<void> write_entry(std::filesystem::path const& directory, FileEntry const& entry,
                         Sealing const& sealing, std::filesystem::path const& file, Made& made) {
    auto const fd = create_file(file, true);
    if (!fd) return std::unexpected(fd.error());
    made.add(file);
    auto const copied = read_chunks(directory, entry, sealing, [&](std::string_view bytes) {
        return write_all(fd->get(), bytes, file);
    });
    return copied ? sync_file(fd->get(), file) : copied;
}

}  // namespace

Result<Manifest> open_backup(std::filesystem::path const& directory, Sealing const& sealing) {
    auto const text = read_file(directory / "manifest.json", manifest_bytes_max);
    if (!text && text.error().code == Code::not_found)
        return fail(Code::not_found,
                    text.error().detail + ": the backup was cut off, or this is no backup");
    if (!text) return std::unexpected(text.error());
    auto manifest = read_manifest(*text, sealing);
    if (manifest && manifest->store_format > store::sqlite::newest_format())
        return fail(Code::newer_format, "the backup was made by the newer release " +
                                            manifest->release + ": use that one");
    return manifest;
}

Result<std::vector<std::string>> check(std::filesystem::path const& directory,
                                       Manifest const& manifest, Sealing const& sealing) {
    std::vector<std::string> out;
    for (FileEntry const& file : manifest.files) {
        auto const read =
            read_chunks(directory, file, sealing, [](std::string_view) { return Result<void>(); });
        if (!read && read.error().code != Code::internal) return std::unexpected(read.error());
        if (!read) out.push_back(file.name + ": " + read.error().detail);
        if (out.size() == findings_max) break;
    }
    return out;
}

Result<void> restore(std::filesystem::path const& directory, Manifest const& manifest,
                     Sealing const& sealing, std::filesystem::path const& to, Time now) {
    Made made;
    if (auto claimed = claim(to, manifest, now, made); !claimed) return claimed;
    for (FileEntry const& file : manifest.files) {
        auto written = write_entry(directory, file, sealing, to / file.name, made);
        if (!written) return written;
    }
    if (auto synced = sync_directory(to); !synced) return synced;
    auto const from = to / store::sqlite::restoring_name;
    if (::rename(from.c_str(), (to / store::sqlite::held_name).c_str()) != 0)
        return refused(from, errno);
    made.keep();
    return sync_directory(to);
}

}  // namespace dormouse::backup
