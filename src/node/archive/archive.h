#pragma once
// A directory of completed sessions. Each file holds those of one project and month as an export
// that is compressed, and perhaps encrypted, session by session; the index beside it says where
// each one is. A file is there as a whole, with its index, or not at all. All functions block; an
// error names the file.

#include "archive/file_key.h"
#include "archive/index_file.h"
#include "store/sealed/master_keys.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::archive {

inline constexpr std::uint64_t session_bytes_max = std::uint64_t{2} << 30;  // uncompressed

struct File {
    std::filesystem::path path;  // of the sessions
    std::filesystem::path stem;
    Index index;
    std::optional<FileKey> key = {};   // of an encrypted file that can be read
    std::optional<Error> locked = {};  // why an encrypted file cannot be read; it has no titles
};

// The place of a session in the archive.
struct Place {
    File const* file = nullptr;
    Entry const* entry = nullptr;
};

// Returns an error if the file cannot be read with the keys that were given.
[[nodiscard]] Result<void> check_key(File const& file);

// The files of a directory that can be used, and findings about the rest, for people.
struct Survey {
    std::vector<File> files;
    std::vector<std::string> findings;
};
// Reads all indexes, and finds files without the other one of the pair. Errors: those of
// Archive::open() that concern the directory.
[[nodiscard]] Result<Survey> survey(std::filesystem::path const& directory,
                                    std::optional<store::MasterKeys> const& keys);

class Archive {
public:
    // Reads all indexes. `keys`: for encrypted files; nullopt: none. Errors: not_found, and those
    // of an index. A key that is missing is an error of what needs it.
    [[nodiscard]] static Result<Archive> open(std::filesystem::path const& directory,
                                              std::optional<store::MasterKeys> const& keys);

    [[nodiscard]] std::vector<File> const& files() const { return files_; }
    // The session of this id, or of its unique beginning; the newest of several states. Errors:
    // not_found, bad_value (the beginning of several).
    [[nodiscard]] Result<Place> find(std::string const& name) const;
    // Its lines, as in an export. Errors: bad_value: the file was truncated or changed; wrong_state
    // (the key is missing).
    [[nodiscard]] static Result<std::string> read(Place const& place);
    // Its bytes, as they are in the file. Errors: bad_value: the file was truncated.
    [[nodiscard]] static Result<std::string> read_piece(Place const& place);
    // Checks the file as a whole, in addition to its sessions: its size.
    [[nodiscard]] static Result<void> check_size(File const& file);

private:
    std::vector<File> files_;  // by name
};

}  // namespace dormouse::archive
