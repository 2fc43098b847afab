#pragma once
// The destination of a backup: a directory, which is kept from one backup to the next, or a tar
// archive on a descriptor. All functions block.

#include <dormouse/error.h>

#include "backup/manifest.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::backup {

class Target {
public:
    virtual ~Target() = default;
    // Returns true if the former backup or this one has stored the chunk.
    [[nodiscard]] virtual bool has(Sha256 const& chunk) const = 0;
    [[nodiscard]] virtual Result<void> put(Sha256 const& chunk, std::string_view stored) = 0;
    // Makes the backup durable. Before that, the former one remains.
    [[nodiscard]] virtual Result<void> finish(std::string_view manifest) = 0;
};

// A directory that is empty, new, or holds a backup. It is locked meanwhile: wrong_state if another
// backup writes there. After an error the chunks that were written are removed.
[[nodiscard]] Result<std::unique_ptr<Target>> open_directory(std::filesystem::path const& path,
                                                             Sealing const& sealing);
// `fd` outlives it.
[[nodiscard]] std::unique_ptr<Target> open_archive(int fd, Time time);

}  // namespace dormouse::backup
