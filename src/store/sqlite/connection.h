#pragma once
// RAII for SQLite's C interface: a connection with its prepared statements, and a running
// statement. Only one thread at a time uses a connection and its queries.

#include <dormouse/error.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace dormouse::store::sqlite {

// Returns what SQLite's result code `rc` means to a caller of the store:
//   store_full         the disk is full
//   fail_stop          a sync failed
//   internal           the file is damaged
//   conflict           a constraint (the row exists already)
//   too_large          a value is beyond SQLite's limit
//   store_unavailable  everything else (busy, no memory, an I/O error)
// The detail names the file, without its folder.
[[nodiscard]] Error error_of(sqlite3* database, int rc);

// A prepared statement in use: bind the parameters in order, step, read. Reset by the destructor.
// Bound values must outlive it.
class Query {
public:
    explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
    ~Query();
    Query(Query const&) = delete;
    Query& operator=(Query const&) = delete;

    Query& bind(std::int64_t number);
    Query& bind(std::string_view text);
    Query& bind(std::optional<std::int64_t> number);  // nullopt: NULL
    Query& bind_bytes(std::string_view bytes);

    // Returns true if there is a row to read, false at the end.
    [[nodiscard]] Result<bool> next();
    [[nodiscard]] Result<void> run();  // runs it to its end

    // Return columns of the row; text and bytes are valid until next().
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const;  // nullopt: NULL
    [[nodiscard]] std::string_view text(
        int column) const;  // returns text or bytes as they are stored

private:
    void note(int rc);

    sqlite3_stmt* statement_;
    int parameter_ = 0;
    int bind_error_ = 0;
};

class Connection {
public:
    struct Options {
        int cache_kib = 0;
        int busy_timeout_ms = 0;
        std::string vfs;  // empty: the system default
    };

    [[nodiscard]] static Result<Connection> open(std::filesystem::path const& file,
                                                 Options const& options);

    // Runs statements without parameters and ignores their rows.
    [[nodiscard]] Result<void> run(std::string const& sql);
    // Run the statement to its end and return the first column of the first row; 0 or empty if
    // there is no row.
    [[nodiscard]] Result<std::int64_t> integer(std::string const& sql);
    [[nodiscard]] Result<std::string> text(std::string const& sql);
    // Returns the first column of every row.
    [[nodiscard]] Result<std::vector<std::string>> texts(std::string const& sql);
    // Prepares `statements` for query().
    [[nodiscard]] Result<void> prepare(std::span<char const* const> statements);
    // Returns the prepared statement number `index`. Only one Query of each statement at a time.
    [[nodiscard]] Query query(std::size_t index) { return Query(statements_.at(index).get()); }
    [[nodiscard]] bool in_transaction() const;
    // Returns how often SQLite has planned prepared statements again when they ran.
    [[nodiscard]] int plans_again() const;
    [[nodiscard]] sqlite3* handle() const { return database_.get(); }

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

    [[nodiscard]] Result<Statement> compile(std::string_view sql);
    template <class T, class Get> [[nodiscard]] Result<T> first(std::string const& sql, Get get);

    std::unique_ptr<sqlite3, Close> database_;
    std::vector<Statement> statements_;  // declared after database_, so that it is destroyed first
};

}  // namespace dormouse::store::sqlite
