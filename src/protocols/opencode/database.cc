// Reads opencode.db from a copy of the file and its write-ahead log, so that a running opencode is
// not disturbed and nothing is changed.

#include "opencode/source.h"

#include <sqlite3.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace dormouse::opencode {
namespace {

namespace fs = std::filesystem;

class Copy {
public:
    explicit Copy(std::string const& file) {
        std::string name = (fs::temp_directory_path(error_) / "dormouse-import-XXXXXX").string();
        if (error_ || !::mkdtemp(name.data())) return;
        folder_ = name;
        fs::copy_file(file, this->file(), error_);
        std::error_code none;
        if (!error_ && fs::exists(file + "-wal", none))
            fs::copy_file(file + "-wal", this->file() + "-wal", error_);
    }
    Copy(Copy const&) = delete;
    Copy& operator=(Copy const&) = delete;
    ~Copy() {
        std::error_code none;
        if (!folder_.empty()) fs::remove_all(folder_, none);
    }

    [[nodiscard]] bool made() const { return !folder_.empty() && !error_; }
    [[nodiscard]] std::string file() const { return folder_ + "/opencode.db"; }

private:
    std::string folder_;  // 0700
    std::error_code error_;
};

struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;

// One query, row by row.
class Rows {
public:
    Rows(sqlite3* database, char const* sql, std::string const& bound = {}) {
        sqlite3_stmt* statement = nullptr;
        result_ = sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
        statement_.reset(statement);
        if (statement && sqlite3_bind_parameter_count(statement) > 0) {
            sqlite3_bind_text(statement, 1, bound.data(), static_cast<int>(bound.size()),
                              SQLITE_TRANSIENT);
        }
    }
    [[nodiscard]] bool next() {
        if (!statement_) return false;
        result_ = sqlite3_step(statement_.get());
        return result_ == SQLITE_ROW;
    }
    [[nodiscard]] bool failed() const { return result_ != SQLITE_DONE && result_ != SQLITE_ROW; }
    [[nodiscard]] std::string text(int column) const {
        auto const* const bytes = sqlite3_column_blob(statement_.get(), column);
        auto const size = sqlite3_column_bytes(statement_.get(), column);
        return bytes ? std::string(static_cast<char const*>(bytes), static_cast<std::size_t>(size))
                     : std::string();
    }
    [[nodiscard]] std::int64_t number(int column) const {
        return sqlite3_column_int64(statement_.get(), column);
    }

private:
    std::unique_ptr<sqlite3_stmt, Close> statement_;
    int result_ = SQLITE_ERROR;
};

Json data_of(std::string const& what, std::string const& text, Found const& found) {
    auto const value = json::check(text);
    if (value && json::View(*value).kind() == json::Kind::object) return *value;
    found.unreadable(what + ": " + (value ? "it is not an object" : value.error().detail));
    return {};
}

void read_messages(sqlite3* database, Session& session, Found const& found) {
    Rows rows(database, "SELECT id, time_created, data FROM message WHERE session_id = ?1",
              session.id);
    while (rows.next()) {
        Message message{.id = rows.text(0), .created = rows.number(1), .data = {}};
        message.data = data_of("message " + message.id, rows.text(2), found);
        if (message.data.is_null()) continue;
        Rows parts(database,
                   "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY time_created, id",
                   message.id);
        while (parts.next()) {
            auto part = data_of("part " + parts.text(0), parts.text(1), found);
            if (!part.is_null()) message.parts.push_back({parts.text(0), std::move(part)});
        }
        if (parts.failed()) found.unreadable("parts of message " + message.id);
        session.messages.push_back(std::move(message));
    }
    if (rows.failed()) found.unreadable("messages of session " + session.id);
    sort_messages(session);
}

}  // namespace

Result<void> read_database(std::string const& file, Found const& found) {
    Copy const copy(file);
    if (!copy.made()) return fail(Code::internal, "cannot copy " + file + " to read it");
    sqlite3* opened = nullptr;
    int const result =
        sqlite3_open_v2(copy.file().c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    Database const database(opened);
    if (result != SQLITE_OK) return fail(Code::bad_value, file + ": cannot be opened");
    Rows rows(database.get(),
              "SELECT id, title, directory, time_created FROM session ORDER BY time_created, id");
    while (rows.next()) {
        Session session{.id = rows.text(0),
                        .title = rows.text(1),
                        .directory = rows.text(2),
                        .created = rows.number(3)};
        read_messages(database.get(), session, found);
        found.session(std::move(session));
    }
    if (!rows.failed()) return {};
    return fail(Code::bad_value,
                file + ": " + sqlite3_errmsg(database.get()) + " (not an opencode database?)");
}

}  // namespace dormouse::opencode
