#pragma once
// The directory that a store lives in, and the promise that one process at a time uses it (P12).

#include <dormouse/error.h>

#include <filesystem>
#include <string>

namespace dormouse::store::sqlite {

// Holds an OS lock on DIR/lock, which names the holder's process, and one on DIR/dormouse.db, for
// the case that somebody removes the former. The locks go with the process, however it ends; the
// files stay. REQUIRES: it outlives every connection to the database.
class DataDirectory {
public:
    // Makes the directory (for its owner only) and an empty DIR/dormouse.db where there is none.
    // Errors: wrong_state when another opener holds it, store_unavailable when the system refuses.
    [[nodiscard]] static Result<DataDirectory> acquire(std::filesystem::path const& path);

    DataDirectory(DataDirectory&& other) noexcept;
    DataDirectory& operator=(DataDirectory&&) = delete;
    ~DataDirectory();

private:
    explicit DataDirectory(int lock) : lock_(lock) {}

    [[nodiscard]] Result<void> lock_database(std::filesystem::path const& path);

    int lock_;  // file descriptors, -1: moved from
    int database_ = -1;
};

}  // namespace dormouse::store::sqlite
