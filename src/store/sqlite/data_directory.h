#pragma once
// The directory of a store, and the guarantee that only one process at a time uses it (P12).

#include <dormouse/error.h>

#include <filesystem>
#include <string>

namespace dormouse::store::sqlite {

// A new or removed name is durable once its directory has been synced.
[[nodiscard]] Result<void> sync_directory(std::filesystem::path const& path);

// Holds an OS lock on DIR/lock, which contains the id of the holding process, and one on
// DIR/dormouse.db, in case somebody removes DIR/lock. The OS releases the locks when the process
// ends; the files stay. REQUIRES: it outlives every connection to the database.
class DataDirectory {
public:
    // Creates the directory (readable only by its owner) and an empty DIR/dormouse.db if they do
    // not exist. Errors: wrong_state if another process holds it or a restore did not finish,
    // store_unavailable if the system refuses.
    [[nodiscard]] static Result<DataDirectory> acquire(std::filesystem::path const& path);

    DataDirectory(DataDirectory&& other) noexcept;
    DataDirectory& operator=(DataDirectory&&) = delete;
    ~DataDirectory();

private:
    explicit DataDirectory(int lock) : lock_(lock) {}

    [[nodiscard]] Result<void> lock_database(std::filesystem::path const& path);

    int lock_;  // file descriptors; -1: moved from
    int database_ = -1;
};

}  // namespace dormouse::store::sqlite
