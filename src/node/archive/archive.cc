#include "archive/archive.h"

#include "archive/names.h"
#include "archive/piece.h"
#include "backup/files.h"
#include "backup/gzip.h"
#include "base/crypto/sha256.h"
#include "base/text/counted.h"
#include "io/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace dormouse::archive {

namespace {

namespace fs = std::filesystem;

Error of_file(fs::path const& path, Error error) {
    error.detail = path.string() + ": " + error.detail;
    return error;
}

// Without the key the file is listed, but not read.
Result<void> open_key(File& file, std::optional<store::MasterKeys> const& keys) {
    if (!file.index.key) return {};
    auto key = FileKey::unwrap(*file.index.key, keys ? &*keys : nullptr);
    if (!key && key.error().code == Code::wrong_state) {
        file.locked = of_file(file.path, std::move(key.error()));
        return {};
    }
    if (!key) return std::unexpected(std::move(key.error()));
    file.key = *key;
    return open_titles(file.index, *key);
}

Result<File> open_file(fs::path const& stem, std::optional<store::MasterKeys> const& keys) {
    auto const path = index_path(stem);
    auto const text = backup::read_file(path, index_bytes_max);
    if (!text) return std::unexpected(text.error());
    auto index = read_index(*text);
    if (!index) return std::unexpected(of_file(path, std::move(index.error())));
    fs::path data = data_path(stem, *index);
    File out{std::move(data), stem, *std::move(index)};
    if (auto opened = open_key(out, keys); !opened)
        return std::unexpected(of_file(path, std::move(opened.error())));
    return out;
}

Result<std::string> read_bytes(fs::path const& path, std::uint64_t offset, std::uint64_t bytes) {
    io::Fd const fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.open()) return backup::refused(path, errno);
    std::string out(bytes, '\0');
    for (std::uint64_t at = 0; at < bytes;) {
        auto const got =
            ::pread(fd.get(), out.data() + at, bytes - at, static_cast<off_t>(offset + at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return backup::refused(path, errno);
        if (got == 0) return fail(Code::bad_value, path.string() + ": it is truncated");
        at += static_cast<std::uint64_t>(got);
    }
    return out;
}

Error no_archive(fs::path const& directory) {
    return {Code::not_found, directory.string() + ": holds no archive"};
}

// Data whose index is neither there nor being written.
std::vector<std::string> without_index(std::vector<std::string> const& names) {
    std::vector<std::string> stems;
    for (std::string const& name : names)
        for (auto const& stem : {stem_of_index(name), stem_of_new_index(name)})
            if (stem) stems.push_back(*stem);
    std::vector<std::string> out;
    for (std::string const& name : names) {
        bool const known = std::ranges::any_of(
            stems, [&](std::string const& stem) { return is_data_of(stem, name); });
        if (is_data(name) && !known) out.push_back(name);
    }
    return out;
}

}  // namespace

Result<Survey> survey(fs::path const& directory, std::optional<store::MasterKeys> const& keys) {
    auto const names = names_in(directory);
    if (!names) return std::unexpected(names.error());
    Survey out;
    for (std::string const& name : *names) {
        auto const stem = stem_of_index(name);
        if (!stem) continue;
        auto file = open_file(directory / *stem, keys);
        if (!file)
            out.findings.push_back(file.error().detail);
        else if (!fs::exists(file->path))
            out.findings.push_back(file->path.string() + ": it is missing; its index has " +
                                   counted(file->index.sessions.size(), "session"));
        else
            out.files.push_back(*std::move(file));
    }
    for (std::string const& name : without_index(*names))
        out.findings.push_back((directory / name).string() +
                               ": its index is missing, so its sessions are not found: dormouse "
                               "verify --archive DIR --rebuild makes it again");
    if (out.files.empty() && out.findings.empty()) return std::unexpected(no_archive(directory));
    return out;
}

Result<void> check_key(File const& file) {
    if (file.locked) return std::unexpected(*file.locked);
    return {};
}

Result<Archive> Archive::open(fs::path const& directory,
                              std::optional<store::MasterKeys> const& keys) {
    auto const names = names_in(directory);
    if (!names) return std::unexpected(names.error());
    Archive out;
    for (std::string const& name : *names) {
        auto const stem = stem_of_index(name);
        if (!stem) continue;
        auto file = open_file(directory / *stem, keys);
        if (!file) return std::unexpected(std::move(file.error()));
        out.files_.push_back(*std::move(file));
    }
    if (out.files_.empty()) return std::unexpected(no_archive(directory));
    return out;
}

namespace {

// States with as many events: that of the file that was written later.
bool is_newer(Place const& one, Place const& other) {
    auto const order = [](Place const& place) {
        return std::pair(place.entry->head, place.file->index.at);
    };
    return order(one) >= order(other);
}

}  // namespace

Result<Place> Archive::find(std::string const& name) const {
    Place found;
    for (File const& file : files_) {
        for (Entry const& entry : file.index.sessions) {
            if (!entry.id.text().starts_with(name)) continue;
            if (found.entry && found.entry->id != entry.id)
                return fail(Code::bad_value, name + " is the beginning of several sessions");
            if (!found.entry || is_newer({&file, &entry}, found)) found = {&file, &entry};
        }
    }
    if (!found.entry || name.size() <= std::string_view("ses_").size())
        return fail(Code::not_found, "session " + name + " is not in the archive");
    return found;
}

Result<std::string> Archive::read(Place const& place) {
    auto const& [file, entry] = place;
    if (auto readable = check_key(*file); !readable)
        return std::unexpected(std::move(readable.error()));
    auto bytes = read_bytes(file->path, entry->offset, entry->bytes);
    if (!bytes) return bytes;
    auto const wrong = [&](std::string const& why) {
        return fail(Code::bad_value, file->path.string() + ": " + entry->id.text() + ": " + why);
    };
    if (digest_text(sha256(*bytes)) != entry->digest) return wrong("its bytes were changed");
    if (file->key) {
        auto opened = file->key->open(*bytes, bound_session(*entry));
        if (!opened) return wrong("it does not open: it was changed, or is another session");
        bytes = *std::move(opened);
    }
    auto lines = backup::gunzip(*bytes, session_bytes_max);
    if (!lines) return wrong(lines.error().detail);
    return lines;
}

Result<std::string> Archive::read_piece(Place const& place) {
    return read_bytes(place.file->path, place.entry->offset, place.entry->bytes);
}

Result<void> Archive::check_size(File const& file) {
    std::error_code error;
    auto const size = fs::file_size(file.path, error);
    if (error) return fail(Code::not_found, file.path.string() + ": " + error.message());
    if (size == file.index.bytes) return {};
    return fail(Code::bad_value, file.path.string() + ": it has " + std::to_string(size) +
                                     " bytes instead of " + std::to_string(file.index.bytes));
}

}  // namespace dormouse::archive
