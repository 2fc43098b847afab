#pragma once
// A temporary directory for one test, and direct SQL access to the store's file.

#include "store/sqlite/connection.h"

#include <gtest/gtest.h>

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace dormouse::store {

class TestDirectory {
public:
    TestDirectory() {
        // In memory if possible, because these tests do not depend on syncs.
        std::filesystem::path const memory = "/dev/shm";
        bool const there = access(memory.c_str(), W_OK | X_OK) == 0;
        auto const parent = there ? memory : std::filesystem::temp_directory_path();
        auto name = (parent / "dormouse-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) std::abort();
        path_ = name;
    }
    ~TestDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TestDirectory(TestDirectory const&) = delete;
    TestDirectory& operator=(TestDirectory const&) = delete;

    [[nodiscard]] std::filesystem::path const& path() const { return path_; }
    [[nodiscard]] std::filesystem::path file() const { return path_ / "dormouse.db"; }

    // Opens the file as another program would.
    [[nodiscard]] sqlite::Connection connect() const {
        return sqlite::Connection::open(file(),
                                        {.cache_kib = 100, .busy_timeout_ms = 1000, .vfs = {}})
            .value();
    }
    void run(std::string const& sql) const {
        auto const done = connect().run(sql);
        ASSERT_TRUE(done) << done.error().detail;
    }
    [[nodiscard]] std::string text(std::string const& sql) const {
        return connect().text(sql).value();
    }
    // Returns true if one of the files has the text.
    [[nodiscard]] bool holds(std::string const& text) const {
        for (auto const& entry : std::filesystem::directory_iterator(path_)) {
            std::ifstream file(entry.path(), std::ios::binary);
            std::string const bytes((std::istreambuf_iterator<char>(file)), {});
            if (bytes.contains(text)) return true;
        }
        return false;
    }

private:
    std::filesystem::path path_;
};

}  // namespace dormouse::store
