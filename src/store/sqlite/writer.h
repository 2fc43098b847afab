#pragma once
// The writing half of the store: one connection, which alone writes and alone checkpoints.

#include "port/store.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/statements.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace dormouse::store::sqlite {

struct FeedPlace {
    std::uint64_t head = 0;  // the number of the newest append
    std::uint64_t kept = 0;  // so many are kept
};

// The newest line of the audit.
struct AuditPlace {
    std::uint64_t n = 0;
    Sha256 hash{};
};

class Writer {
public:
    // REQUIRES: `connection` is in WAL mode and at the newest version. `next_number`: see
    // next_number().
    Writer(Connection connection, std::uint64_t next_number, FeedPlace feed, AuditPlace audit);
    ~Writer();  // checkpoints, so that one file remains; not after a failed sync
    Writer(Writer const&) = delete;
    Writer& operator=(Writer const&) = delete;

    [[nodiscard]] std::vector<Result<void>> commit(std::span<port::Append const> appends);

    [[nodiscard]] Result<void> update_posts(std::span<port::PostUpdate const> updates);
    [[nodiscard]] Result<void> drop_delivered(Time until);
    [[nodiscard]] Result<void> drop_given_up(Time until, std::uint32_t limit);
    [[nodiscard]] Result<void> trim_audit(std::uint64_t through, std::string const& line);
    [[nodiscard]] Result<void> keep(port::KeptRow const& row);
    [[nodiscard]] Result<void> drop_kept(std::span<Bits128 const> keys);
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const& change);

    // These two may be called from another thread.
    [[nodiscard]] bool stopped() const {
        return stopped_;
    }  // a sync failed: never written again (P10)
    [[nodiscard]] std::uint64_t next_number() const { return next_number_; }

private:
    // How far a failed append reaches.
    enum class Reach : std::uint8_t {
        append,  // it alone, and it has written nothing
        undo,    // it alone, once what it wrote is undone
        batch,   // everything: disk full, I/O error, damage
    };
    struct Failure {
        Reach reach;
        Error error;
    };
    class Undo;
    using Step = std::expected<void, Failure>;
    using Results = std::vector<Result<void>>;
    struct Known {  // what an append needs to know of its session
        std::int64_t number;
        std::int64_t project;
    };

    [[nodiscard]] std::expected<Results, Failure> attempt(std::span<port::Append const> appends,
                                                          bool apart);
    [[nodiscard]] Step apply(port::Append const& append);
    [[nodiscard]] Step apply_apart(port::Append const& append);
    [[nodiscard]] std::expected<Known, Failure> check(port::Append const& append);
    [[nodiscard]] std::expected<Known, Failure> check_head(port::Append const& append);
    [[nodiscard]] Result<void> write(port::Append const& append, Known known);
    [[nodiscard]] Result<void> write_session(port::Append const& append, Known& known);
    [[nodiscard]] Result<void> write_frame(port::Append const& append);
    [[nodiscard]] Result<void> write_pending(port::PendingRow const& row, Known known);
    [[nodiscard]] Result<void> write_keys(port::Append const& append);
    [[nodiscard]] Result<void> write_snapshot(port::Append const& append);
    [[nodiscard]] Result<void> write_base(port::Append const& append, std::int64_t number);
    [[nodiscard]] Result<void> write_artifacts(port::Append const& append);
    [[nodiscard]] Result<void> write_secrets(port::Append const& append, Known known);
    [[nodiscard]] Result<void> write_delivered(port::Append const& append);
    [[nodiscard]] Result<void> write_kept(port::KeptRow const& row);
    // A transaction that belongs to no session.
    [[nodiscard]] Result<void> transact(std::function<Result<void>()> const& work);
    [[nodiscard]] Result<void> write_feed(port::Append const& append, Known known);
    [[nodiscard]] Result<void> write_posts(port::Append const& append);
    [[nodiscard]] Result<void> write_update(port::PostUpdate const& update);
    [[nodiscard]] Result<void> trim_feed();
    [[nodiscard]] Result<void> write_audit(std::string const& line);
    [[nodiscard]] Result<void> write_tokens(port::TokenChange const& change);
    [[nodiscard]] Result<void> erase(std::int64_t number);
    [[nodiscard]] Result<std::int64_t> intern(std::string_view name);

    [[nodiscard]] Query query(Write name) {
        return connection_.query(static_cast<std::size_t>(name));
    }
    [[nodiscard]] Result<void> run(Write name) { return query(name).run(); }
    [[nodiscard]] Result<void> end_transaction();
    void roll_back(Failure const& failure);
    void count_sessions(std::span<port::Append const> appends, Results const& results);
    static int on_commit(void* self, sqlite3* database, char const* schema, int pages);

    Connection connection_;
    std::atomic<bool> stopped_ = false;
    std::atomic<std::uint64_t> next_number_;
    FeedPlace feed_;             // as committed
    std::uint64_t feeding_ = 0;  // the newest number in the transaction that is open
    AuditPlace audit_;           // as committed
    AuditPlace auditing_;        // in the transaction that is open
};

}  // namespace dormouse::store::sqlite
