#pragma once
// A data directory that a restore writes. All functions block.

#include <dormouse/error.h>
#include <dormouse/time.h>

#include "io/fd.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace dormouse::backup {

// The origin of a restored directory, which records it until a person releases it.
struct RestoredFrom {
    Time time = {};
    std::string release;
    std::uint64_t feed = 0;
};

// Removes the files of a restore again unless finish() succeeds.
class Restoring {
public:
    explicit Restoring(std::filesystem::path to) : to_(std::move(to)) {}
    ~Restoring();
    Restoring(Restoring const&) = delete;
    Restoring& operator=(Restoring const&) = delete;

    // If two restores start at once, one begins. Errors: wrong_state unless the directory is empty
    // or does not exist.
    [[nodiscard]] Result<void> begin(RestoredFrom const& from, Time now);
    // A new file. It is durable after finish(), or sync_file().
    [[nodiscard]] Result<io::Fd> make(std::string const& name);
    [[nodiscard]] std::filesystem::path path(std::string const& name) const { return to_ / name; }
    // Everything is durable, and the directory holds (store/sqlite/hold.h).
    [[nodiscard]] Result<void> finish();

private:
    std::filesystem::path const to_;
    std::vector<std::filesystem::path> made_;
    std::error_code ignored_;
};

}  // namespace dormouse::backup
