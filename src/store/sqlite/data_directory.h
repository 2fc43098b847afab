#pragma once
// The directory that a store lives in, and the promise that one process at a time uses it (P12).

#include <dormouse/error.h>

#include <filesystem>
#include <string>

namespace dormouse::store::sqlite {

// Holds an OS lock on DIR/lock, which names the holder's process. The lock goes with the process,
// however it ends; the file stays.
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

    int lock_;  // file descriptor, -1: moved from
};

}  // namespace dormouse::store::sqlite
