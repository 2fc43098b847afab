#include "store/sqlite/connection.h"

#include "base/check.h"

#include <sqlite3.h>

namespace dormouse::store::sqlite {
namespace {

Code code_of(int rc) {
    if (rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC) return Code::fail_stop;
    switch (rc & 0xff) {
        case SQLITE_FULL: return Code::store_full;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_ERROR:
        case SQLITE_MISUSE:
        case SQLITE_RANGE: return Code::internal;
        case SQLITE_CONSTRAINT: return Code::conflict;
        case SQLITE_TOOBIG: return Code::too_large;
        default: return Code::store_unavailable;
    }
}

}  // namespace

Error error_of(sqlite3* database, int rc) {
    // Without the folder: clients get this text, and must not learn where the data is stored.
    char const* const file = database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
    std::string detail =
        file == nullptr ? "database" : std::filesystem::path(file).filename().string();
    detail += std::string(": ") + sqlite3_errstr(rc);
    if (database != nullptr && sqlite3_errmsg(database) != std::string_view(sqlite3_errstr(rc)))
        detail += std::string(": ") + sqlite3_errmsg(database);
    detail += " (" + std::to_string(rc) + ")";
    return Error{code_of(rc), std::move(detail)};
}

Query::~Query() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

void Query::note(int rc) {
    if (rc != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = rc;
}

Query& Query::bind(std::int64_t number) {
    note(sqlite3_bind_int64(statement_, ++parameter_, number));
    return *this;
}

Query& Query::bind(std::optional<std::int64_t> number) {
    if (number) return bind(*number);
    note(sqlite3_bind_null(statement_, ++parameter_));
    return *this;
}

Query& Query::bind(std::string_view text) {
    // A null pointer would bind NULL.
    char const* const data = text.data() == nullptr ? "" : text.data();
    note(sqlite3_bind_text64(statement_, ++parameter_, data, text.size(), SQLITE_STATIC,
                             SQLITE_UTF8));
    return *this;
}

Query& Query::bind_bytes(std::string_view bytes) {
    char const* const data = bytes.data() == nullptr ? "" : bytes.data();
    note(sqlite3_bind_blob64(statement_, ++parameter_, data, bytes.size(), SQLITE_STATIC));
    return *this;
}

Result<bool> Query::next() {
    int const rc = bind_error_ != SQLITE_OK ? bind_error_ : sqlite3_step(statement_);
    if (rc == SQLITE_ROW) return true;
    if (rc == SQLITE_DONE) return false;
    return std::unexpected(error_of(sqlite3_db_handle(statement_), rc));
}

Result<void> Query::run() {
    for (;;) {
        auto const row = next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
    }
}

std::int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::optional<std::int64_t> Query::maybe_integer(int column) const {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
    return integer(column);
}

std::string_view Query::text(int column) const {
    // The blob accessor converts nothing, so the bytes are as stored.
    auto const* const data = static_cast<char const*>(sqlite3_column_blob(statement_, column));
    if (data == nullptr) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void Connection::Close::operator()(sqlite3* database) const {
    CHECK(sqlite3_close(database) == SQLITE_OK);
}

void Connection::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Result<Connection> Connection::open(std::filesystem::path const& file, Options const& options) {
    Connection connection;
    sqlite3* raw = nullptr;
    // NOMUTEX: the callers use one thread at a time. EXRESCODE: code_of() distinguishes a failed
    // sync from other errors.
    int const flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    char const* const vfs = options.vfs.empty() ? nullptr : options.vfs.c_str();
    int const rc = sqlite3_open_v2(file.c_str(), &raw, flags, vfs);
    connection.database_.reset(raw);
    if (rc != SQLITE_OK) return std::unexpected(error_of(raw, rc));
    sqlite3_busy_timeout(raw, options.busy_timeout_ms);
    // Closing must not write: the store checkpoints itself, unless it has failed.
    sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    // Otherwise SQLite plans a statement again whenever its values change, because with other
    // values a partial index could become of use. Ours name the conditions of their indexes.
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
    auto const set = connection.run(
        "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;"
        "PRAGMA cache_size=-" +
        std::to_string(options.cache_kib));
    if (!set) return std::unexpected(set.error());
    return connection;
}

Result<void> Connection::run(std::string const& sql) {
    int const rc = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(error_of(handle(), rc));
    return {};
}

Result<std::int64_t> Connection::integer(std::string const& sql) {
    return first<std::int64_t>(sql, [](Query const& row) { return row.integer(0); });
}

Result<std::string> Connection::text(std::string const& sql) {
    return first<std::string>(sql, [](Query const& row) { return std::string(row.text(0)); });
}

Result<std::vector<std::string>> Connection::texts(std::string const& sql) {
    auto const statement = compile(sql);
    if (!statement) return std::unexpected(statement.error());
    Query query(statement->get());
    std::vector<std::string> out;
    while (true) {
        auto const row = query.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) return out;
        out.emplace_back(query.text(0));
    }
}

template <class T, class Get> Result<T> Connection::first(std::string const& sql, Get get) {
    auto const statement = compile(sql);
    if (!statement) return std::unexpected(statement.error());
    Query query(statement->get());
    auto const row = query.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return T{};
    T value = get(query);
    if (auto const rest = query.run(); !rest) return std::unexpected(rest.error());
    return value;
}

Result<void> Connection::prepare(std::span<char const* const> statements) {
    for (char const* const sql : statements) {
        auto statement = compile(sql);
        if (!statement) return std::unexpected(statement.error());
        statements_.push_back(std::move(*statement));
    }
    return {};
}

int Connection::plans_again() const {
    int times = 0;
    for (auto const& statement : statements_)
        times += sqlite3_stmt_status(statement.get(), SQLITE_STMTSTATUS_REPREPARE, 0);
    return times;
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(handle()) == 0; }

Result<Connection::Statement> Connection::compile(std::string_view sql) {
    sqlite3_stmt* raw = nullptr;
    int const rc = sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(error_of(handle(), rc));
    return Statement(raw);
}

}  // namespace dormouse::store::sqlite
