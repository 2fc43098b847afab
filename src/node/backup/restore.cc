#include "backup/restore.h"

#include "backup/files.h"
#include "backup/restoring.h"
#include "base/crypto/sha256_stream.h"
#include "base/text/text.h"
#include "store/sqlite/snapshot.h"

#include <functional>
#include <optional>
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

// Gives `use` the content of each chunk. internal: the file differs from the manifest.
Result<void> read_chunks(std::filesystem::path const& directory, FileEntry const& file,
                         Sealing const& sealing, Stopped const& stopped,
                         std::function<Result<void>(std::string_view)> const& use) {
    std::optional<Sha256Stream> whole;  // only where there is something to compare it with
    if (file.digest) whole.emplace();
    std::uint64_t bytes = 0;
    for (Sha256 const& name : file.chunks) {
        if (stopped && stopped()) return fail(Code::cancelled, "interrupted");
        auto const content = chunk(directory, name, sealing);
        if (!content) return std::unexpected(content.error());
        if (whole) whole->add(*content);
        bytes += content->size();
        if (auto used = use(*content); !used) return used;
    }
    if (bytes == file.bytes && (!whole || whole->finish() == *file.digest)) return {};
    return fail(Code::internal, file.name + " differs from the manifest");
}

Result<void> write_entry(std::filesystem::path const& directory, FileEntry const& entry,
                         Sealing const& sealing, Stopped const& stopped, Restoring& to) {
    auto const fd = to.make(entry.name);
    if (!fd) return std::unexpected(fd.error());
    auto const file = to.path(entry.name);
    auto const copied =
        read_chunks(directory, entry, sealing, stopped,
                    [&](std::string_view bytes) { return write_all(fd->get(), bytes, file); });
    return copied ? sync_file(fd->get(), file) : copied;
}

}  // namespace

Result<Manifest> open_backup(std::filesystem::path const& directory, Sealing const& sealing) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(directory, ignored))
        return fail(Code::bad_value,
                    directory.string() +
                        " is a file; the archive of a backup is read from standard input: name - "
                        "and redirect the file, < " +
                        directory.string());
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
                                       Manifest const& manifest, Sealing const& sealing,
                                       Stopped const& stopped) {
    std::vector<std::string> out;
    for (FileEntry const& file : manifest.files) {
        auto const read = read_chunks(directory, file, sealing, stopped,
                                      [](std::string_view) { return Result<void>(); });
        if (!read && read.error().code != Code::internal) return std::unexpected(read.error());
        if (!read) out.push_back(file.name + ": " + read.error().detail);
        if (out.size() == findings_max) break;
    }
    return out;
}

Result<void> restore(std::filesystem::path const& directory, Manifest const& manifest,
                     Sealing const& sealing, std::filesystem::path const& to, Time now,
                     Stopped const& stopped) {
    Restoring restoring(to);
    if (auto begun = restoring.begin({manifest.time, manifest.release, manifest.feed}, now); !begun)
        return begun;
    for (FileEntry const& file : manifest.files) {
        auto written = write_entry(directory, file, sealing, stopped, restoring);
        if (!written) return written;
    }
    return restoring.finish();
}

}  // namespace dormouse::backup
