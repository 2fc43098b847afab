#include "backup/copy/read_copy.h"

#include "backup/files.h"
#include "backup/restoring.h"
#include "base/text/iso_time.h"
#include "base/text/text.h"
#include "store/sqlite/snapshot.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

namespace dormouse::backup {

namespace {

Result<std::string> read_object(Depot& depot, Sealing const& sealing, std::string const& name) {
    auto const stored = depot.get(name, piece_bytes_max);
    if (!stored && stored.error().code == Code::not_found)
        return fail(Code::internal, name + " is missing");
    if (!stored) return std::unexpected(stored.error());
    auto text = sealing.open(*stored, name);
    if (!text) return fail(Code::internal, name + " is damaged");
    return *std::move(text);
}

Result<CopyIndex> read_index(Depot& depot, Sealing const& sealing) {
    auto const text = depot.get(copy_index_name, copy_index_max);
    if (!text && text.error().code == Code::not_found)
        return fail(Code::not_found, "copy.json not found: this is no continuous copy");
    if (!text) return std::unexpected(text.error());
    return read_copy_index(*text, sealing);
}

// Reads pieces in their order and compares each with the one before.
class Chain {
public:
    Chain(Depot& depot, Sealing const& sealing, std::string generation, Stopped const& stopped)
        : depot_(depot), sealing_(sealing), generation_(std::move(generation)), stopped_(stopped) {}

    [[nodiscard]] Result<Piece> next() {
        if (stopped_ && stopped_()) return fail(Code::cancelled, "interrupted");
        auto const name = piece_name(generation_, newest_.sequence + 1);
        auto const bytes = read_object(depot_, sealing_, name);
        if (!bytes) return std::unexpected(bytes.error());
        auto piece = read_piece(*bytes, name);
        if (!piece) return piece;
        if (piece->generation != generation_ || piece->sequence != newest_.sequence + 1 ||
            piece->previous != newest_.digest)
            return fail(Code::internal, name + " does not continue the piece before it");
        if (piece->cut.format > store::sqlite::newest_format())
            return fail(Code::newer_format, name + " was written by the newer release " +
                                                piece->release + ": use that one");
        newest_ = {piece->sequence, sha256(*bytes)};
        return piece;
    }
    [[nodiscard]] Newest const& newest() const { return newest_; }

private:
    Depot& depot_;
    Sealing const& sealing_;
    std::string const generation_;
    Stopped const& stopped_;
    Newest newest_;
};

// Reads the pieces up to `newest`. A server that writes meanwhile adds pieces after it.
Result<CopyState> check_generation(Depot& depot, Sealing const& sealing, std::string const& id,
                                   std::optional<Time> at, Stopped const& stopped) {
    auto const name = newest_name(id);
    auto const text = read_object(depot, sealing, name);
    if (!text) return std::unexpected(text.error());
    auto const newest = read_newest(*text, name);
    if (!newest) return std::unexpected(newest.error());
    Chain chain(depot, sealing, id, stopped);
    CopyState out{.generation = id};
    while (chain.newest().sequence < newest->sequence) {
        auto const piece = chain.next();
        if (!piece) return std::unexpected(piece.error());
        if (at && piece->time > *at) break;
        if (piece->cut.complete)
            out = {id,
                   piece->sequence,
                   piece->time,
                   piece->release,
                   piece->cut.feed,
                   std::uint64_t{piece->cut.page_count} * piece->cut.page_bytes};
    }
    if (chain.newest().sequence == newest->sequence && chain.newest().digest != newest->digest)
        return fail(Code::internal, name + " does not have the digest of the newest piece");
    if (out.pieces > 0) return out;
    return fail(Code::internal, "generation " + id + " holds no state by that time");
}

Result<void> write_at(int fd, std::string_view bytes, std::uint64_t at,
                      std::filesystem::path const& path) {
    while (!bytes.empty()) {
        auto const count = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return refused(path, errno);
        bytes.remove_prefix(static_cast<std::size_t>(count));
        at += static_cast<std::uint64_t>(count);
    }
    return {};
}

// Neighbours are written together.
Result<void> write_pages(int fd, store::sqlite::Cut const& cut, std::filesystem::path const& path) {
    std::string_view const content = cut.content;
    for (std::size_t i = 0; i < cut.pages.size();) {
        std::size_t end = i + 1;
        while (end < cut.pages.size() && cut.pages[end] == cut.pages[end - 1] + 1) ++end;
        auto const part = content.substr(i * cut.page_bytes, (end - i) * cut.page_bytes);
        std::uint64_t const at = std::uint64_t{cut.pages[i] - 1} * cut.page_bytes;
        if (auto written = write_at(fd, part, at, path); !written) return written;
        i = end;
    }
    return {};
}

Result<void> write_database(Depot& depot, Sealing const& sealing, CopyState const& state,
                            Stopped const& stopped, Restoring& to,
                            std::map<std::string, std::string>& files) {
    auto const fd = to.make("dormouse.db");
    if (!fd) return std::unexpected(fd.error());
    auto const path = to.path("dormouse.db");
    Chain chain(depot, sealing, state.generation, stopped);
    while (chain.newest().sequence < state.pieces) {
        auto piece = chain.next();
        if (!piece) return std::unexpected(std::move(piece.error()));
        auto written = write_pages(fd->get(), piece->cut, path);
        // One sync of all at the end could not be stopped.
        if (written) written = sync_file(fd->get(), path);
        if (!written) return written;
        for (KeyFile& file : piece->files) files[file.name] = std::move(file.content);
    }
    if (::ftruncate(fd->get(), static_cast<off_t>(state.bytes)) != 0) return refused(path, errno);
    return sync_file(fd->get(), path);
}

}  // namespace

bool is_copy(std::filesystem::path const& directory) {
    std::error_code error;
    return std::filesystem::exists(directory / copy_index_name, error);
}

Result<CopyState> check_copy(Depot& depot, Sealing const& sealing, std::optional<Time> at,
                             Stopped const& stopped) {
    auto const index = read_index(depot, sealing);
    if (!index) return std::unexpected(index.error());
    Generation const* best = nullptr;
    std::optional<Time> first;
    for (Generation const& one : index->generations) {
        if (!one.complete || one.leaving) continue;
        if (!first || *one.complete < *first) first = one.complete;
        if (at && *one.complete > *at) continue;
        if (!best || *one.complete >= *best->complete) best = &one;
    }
    if (best) return check_generation(depot, sealing, best->id, at, stopped);
    if (!first) return fail(Code::not_found, "the copy holds no complete state yet");
    return fail(Code::not_found,
                "the copy holds no state of that time: its first one is of " + iso_time(*first));
}

Result<void> restore_copy(Depot& depot, Sealing const& sealing, CopyState const& state,
                          std::filesystem::path const& to, Time now, Stopped const& stopped) {
    Restoring restoring(to);
    if (auto begun = restoring.begin({state.time, state.release, state.feed}, now); !begun)
        return begun;
    std::map<std::string, std::string> files;
    if (auto done = write_database(depot, sealing, state, stopped, restoring, files); !done)
        return done;
    for (auto const& [name, content] : files) {
        auto const fd = restoring.make(name);
        if (!fd) return std::unexpected(fd.error());
        auto written = write_all(fd->get(), content, restoring.path(name));
        if (written) written = sync_file(fd->get(), restoring.path(name));
        if (!written) return written;
    }
    if (stopped && stopped()) return fail(Code::cancelled, "interrupted");
    return restoring.finish();
}

}  // namespace dormouse::backup
