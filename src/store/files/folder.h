#pragma once
// A folder whose files are replaced atomically and durably. Names are those of the caller and are
// never paths; links are not followed. All functions block; an error names the file and what the
// system said: store_full or store_unavailable.

#include <dormouse/error.h>

#include "io/fd.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::store::files {

class Folder {
public:
    // Opens the folder, which is made if it is missing.
    [[nodiscard]] static Result<Folder> open(std::string const& path);
    [[nodiscard]] Result<Folder> inner(std::string const& name) const;

    // Writes each file under a temporary name, syncs it and renames it; then syncs the folder.
    using File = std::pair<std::string, std::string_view>;  // name and content
    [[nodiscard]] Result<void> replace(std::vector<File> const& files) const;
    // nullopt: no regular file has the name, or it has more than `bytes_max`.
    [[nodiscard]] Result<std::optional<std::string>> read(std::string const& name,
                                                          std::size_t bytes_max) const;
    // Removes a file or an empty folder, if it exists.
    [[nodiscard]] Result<void> remove(std::string const& name) const;
    [[nodiscard]] Result<void> sync() const;

    struct Entry {
        std::string name;
        bool folder = false;
    };
    // The regular files and folders in it; links and others are left out.
    [[nodiscard]] Result<std::vector<Entry>> entries() const;

private:
    Folder(io::Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
    [[nodiscard]] std::unexpected<Error> refused(std::string const& name, int error) const;
    [[nodiscard]] Result<io::Fd> stage(File const& file) const;
    [[nodiscard]] Result<void> rename(std::string const& name) const;
    [[nodiscard]] Result<void> replace_some(std::vector<File> const& files, std::size_t first,
                                            std::size_t last) const;

    io::Fd fd_;
    std::string path_;
};

// The name under which replace() writes the file first.
[[nodiscard]] std::string temporary_name(std::string const& name);

}  // namespace dormouse::store::files
