#pragma once
// RAII for libpq's C interface: a connection, its calls and their rows. Only one thread at a time
// uses a connection. All values are sent and received in binary format.

#include "store/postgres/address.h"
#include "store/postgres/parameters.h"

#include <dormouse/error.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct pg_conn;
struct pg_result;

namespace dormouse::store::postgres {

inline constexpr std::chrono::seconds look_wait{10};  // for a question at start

// Why a call failed.
struct Failure {
    Error error;
    std::string state = {};       // the SQLSTATE, 5 characters; empty: not from the server
    std::string constraint = {};  // the violated constraint
    // The connection was lost: the server may have run the call, or may run it still.
    bool lost = false;
};

template <class T> using Answer = std::expected<T, Failure>;

// The rows of one call.
class Rows {
public:
    explicit Rows(pg_result* result) : result_(result) {}

    [[nodiscard]] int size() const;
    [[nodiscard]] bool is_null(int row, int column) const;
    [[nodiscard]] std::int64_t integer(int row, int column) const;  // NULL reads as 0
    [[nodiscard]] std::optional<std::int64_t> maybe_integer(int row, int column) const;
    // Text or bytes; valid as long as this object.
    [[nodiscard]] std::string_view text(int row, int column) const;

private:
    struct Clear {
        void operator()(pg_result* result) const;
    };
    std::unique_ptr<pg_result, Clear> result_;
};

// A statement and its parameters. `sql` must have static storage: it names the prepared statement.
struct Call {
    char const* sql;
    Parameters parameters = {};
};

class Connection {
public:
    using Wait = std::chrono::milliseconds;

    // Connects, and looks at nothing. `name` is shown by pg_stat_activity.
    [[nodiscard]] static Answer<Connection> open(Address const& address, std::string const& name,
                                                 Wait wait);
    Connection(Connection&&) = default;
    Connection& operator=(Connection&&) = default;

    // Sends all calls in one message and waits for all answers: one round trip and one transaction.
    // After `wait` without all answers the connection is closed. A call that fails undoes the calls
    // before it.
    [[nodiscard]] Answer<std::vector<Rows>> run(std::span<Call const> calls, Wait wait);
    [[nodiscard]] Answer<Rows> run(Call const& call, Wait wait);
    // Runs statements without parameters, separated by semicolons, as one transaction.
    [[nodiscard]] Answer<void> script(std::string const& sql, Wait wait);

    // Waits until the server notifies (LISTEN), at most for `wait`, or until `wake` can be read.
    // Returns the payloads that have come, oldest first.
    [[nodiscard]] Answer<std::vector<std::string>> notified(Wait wait, int wake);

    [[nodiscard]] bool is_open() const { return connection_ != nullptr; }
    void close() { connection_.reset(); }
    // Returns true if the server sent a warning since the last call began.
    [[nodiscard]] bool warned() const { return *warned_; }

private:
    struct Finish {
        void operator()(pg_conn* connection) const;
    };
    using Clock = std::chrono::steady_clock;
    using Results = std::vector<Rows>;
    enum class Progress : std::uint8_t { ready, failed, late };

    Connection() = default;
    [[nodiscard]] Answer<void> start(Address const& address, std::string const& name,
                                     Clock::time_point until);
    [[nodiscard]] bool send(Call const& call, std::vector<char const*>& preparing);
    [[nodiscard]] Progress flush(Clock::time_point until);
    [[nodiscard]] Progress receive(Clock::time_point until);
    [[nodiscard]] Answer<Results> collect(std::vector<char const*> const& preparing,
                                          Clock::time_point until);
    [[nodiscard]] Failure lose(Progress why);
    [[nodiscard]] std::string message() const;

    std::unique_ptr<pg_conn, Finish> connection_;
    std::map<char const*, std::string> prepared_;  // the name of each statement, by its text
    std::uint64_t names_ = 0;                      // how many statements were named
    // Not a member: libpq keeps the address.
    std::unique_ptr<bool> warned_ = std::make_unique<bool>(false);
};

// Returns what a failure with this SQLSTATE means to a caller of the store:
//   store_full         the disk is full
//   internal           the database is damaged, or a statement is wrong
//   conflict           a constraint (the row exists already)
//   too_large          a value is beyond PostgreSQL's limit
//   bad_value          text that PostgreSQL cannot store
//   store_unavailable  everything that may pass by itself
[[nodiscard]] Code code_of(std::string_view state);
// Returns true if the same call may succeed when it is repeated at once.
[[nodiscard]] bool is_passing(std::string_view state);

}  // namespace dormouse::store::postgres
