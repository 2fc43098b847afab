#pragma once
// Tracks the changed pages of a database and reads them in one state, for a continuous copy.
//
// Every change passes SQLite's log. Its frames name the changed pages, and its shared header
// (documented as the WAL-index header) counts the commits and says where the frames end. note()
// reads the frames that are new. If the frames do not account for every commit, also of other
// programs, then every page counts as changed: so a page can be copied too often, never too rarely.

#include <dormouse/error.h>

#include "store/sqlite/connection.h"
#include "store/sqlite/page_set.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dormouse::store::sqlite {

// Changed pages as one state of the database has them.
struct Cut {
    std::size_t format = 0;  // of the database
    std::uint64_t epoch = 0;
    std::uint64_t feed = 0;
    std::uint32_t page_bytes = 0;
    std::uint32_t page_count = 0;  // of the database
    std::vector<std::uint32_t> pages = {};
    std::string content = {};  // of these pages
    // No other page has changed: the pages of this cut and of those before it are this state.
    bool complete = false;
};

class Changes {
public:
    Changes() = default;
    ~Changes();
    Changes(Changes const&) = delete;
    Changes& operator=(Changes const&) = delete;

    // REQUIRES: the store of the directory is open until close(). Every page counts as changed.
    // Errors: as those of Connection::open().
    [[nodiscard]] Result<void> open(std::filesystem::path const& directory);
    void close();
    // Any thread. Takes note of what has changed; the writer must call it before a checkpoint.
    // Nothing before open().
    void note();

    // The others are called by one thread, between open() and close().
    void change_all();
    // Returns the pages that have changed, which then no longer count as changed.
    [[nodiscard]] PageSet take();
    // Takes up to `pages_max` of the changed pages. They no longer count as changed, unless they
    // change again. The database is read for as long as this takes.
    [[nodiscard]] Result<Cut> cut(std::size_t pages_max);

private:
    // The part of the WAL-index header that is used.
    struct Head {
        std::uint32_t commits = 0;
        std::uint32_t frames = 0;
        std::array<std::uint8_t, 8> salt = {};
    };

    [[nodiscard]] Result<void> map_log(std::filesystem::path const& directory);
    [[nodiscard]] bool read_head(Head& to) const;
    // REQUIRES: mutex_ is locked.
    void note_new();
    [[nodiscard]] bool read_frames(Head const& head, std::uint32_t from);
    [[nodiscard]] Result<PageSet> begin_cut();
    [[nodiscard]] Result<void> read_state(Cut& out);
    [[nodiscard]] Result<void> read_pages(Cut& out);

    std::mutex mutex_;
    // Protected by mutex_.
    PageSet changed_;
    Head noted_;
    void const volatile* index_ = nullptr;  // null: not open
    int log_ = -1;
    std::uint32_t page_bytes_ = 0;

    std::unique_ptr<Connection> connection_;  // of the thread that cuts
    std::uint32_t next_page_ = 1;             // where the next cut continues
};

}  // namespace dormouse::store::sqlite
