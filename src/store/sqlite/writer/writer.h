#pragma once
// The writing half of the store: one connection, the only one that writes and checkpoints.

#include "port/data_keys.h"
#include "port/store.h"
#include "store/sqlite/changes.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/room.h"
#include "store/sqlite/schema/statements.h"
#include "store/sqlite/writer/scrub.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dormouse::store::sqlite {

struct FeedPlace {
    std::uint64_t head = 0;  // the number of the newest append
    std::uint64_t kept = 0;  // how many are kept
};

// The newest line of the audit.
struct AuditPlace {
    std::uint64_t n = 0;
    Sha256 hash{};
};

class Writer {
public:
    // See SqliteOptions.
    struct Limits {
        std::int64_t rebuilt_max;
        std::chrono::milliseconds overwrite_after;
    };

    // REQUIRES: `connection` is in WAL mode and of the newest version. `next_number`: see
    // next_number(). `directory`: of the file; nullopt: on a simulated disk. `changes`: may be
    // null.
    Writer(Connection connection, std::uint64_t next_number, FeedPlace feed, AuditPlace audit,
           std::optional<std::filesystem::path> directory, std::shared_ptr<Changes> changes,
           Limits limits);
    ~Writer();  // checkpoints, so that one file remains, except after a failed sync
    Writer(Writer const&) = delete;
    Writer& operator=(Writer const&) = delete;

    [[nodiscard]] std::vector<port::AppendResult> commit(std::span<port::Append const> appends);

    [[nodiscard]] Result<void> update_messages(std::span<port::OutboxUpdate const> updates);
    [[nodiscard]] Result<void> drop_delivered(Time until);
    [[nodiscard]] Result<void> drop_given_up(Time until, std::uint32_t limit);
    [[nodiscard]] Result<void> trim_audit(std::uint64_t through, std::string const& line);
    [[nodiscard]] Result<void> keep(port::KeptRow const& row);
    [[nodiscard]] Result<void> drop_kept(std::span<Bits128 const> keys);
    [[nodiscard]] Result<void> drop_old_kept(Time until);
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const& change);
    [[nodiscard]] Result<void> change_devices(port::DeviceChange const& change);
    [[nodiscard]] Result<void> drop_rule(port::RuleDrop const& drop);
    [[nodiscard]] Result<void> put_data_keys(std::span<port::DataKeyRow const> rows);
    [[nodiscard]] Result<void> raise_epoch(Epoch least);

    // Returns true if overwrite_some() has something to do.
    [[nodiscard]] bool has_remains() const;
    // Overwrites some of what redactions and removals have left in the files, for about 10 ms.
    // Returns how long to wait before the next call at least; nullopt: nothing is left to do.
    [[nodiscard]] std::optional<std::chrono::milliseconds> overwrite_some();
    // Returns true if overwrite_some() has work of a redaction, which should not wait.
    [[nodiscard]] bool is_urgent() const { return remains_ != Remains::nowhere && !gentle_; }

    // The next three may be called from another thread.
    [[nodiscard]] bool stopped() const {
        return stopped_;
    }  // a sync failed: nothing is written any more (P10)
    [[nodiscard]] std::uint64_t next_number() const { return next_number_; }
    [[nodiscard]] Room& room() { return room_; }

private:
    // The scope of a failed append.
    enum class Reach : std::uint8_t {
        append,  // only itself; it has written nothing
        undo,    // only itself, after its writes are undone
        batch,   // all appends: disk full, I/O error, damage
    };
    struct Failure {
        Reach reach;
        port::AppendError error;
    };
    class Undo;
    using Step = std::expected<port::Stamp, Failure>;
    using Results = std::vector<port::AppendResult>;
    struct Known {  // what an append must know about its session
        std::int64_t number;
        std::int64_t project;
        bool was_deleted = false;  // and comes back
    };

    [[nodiscard]] std::expected<Results, Failure> attempt(std::span<port::Append const> appends,
                                                          bool apart);
    [[nodiscard]] Step apply(port::Append const& append);
    [[nodiscard]] Step apply_apart(port::Append const& append);
    [[nodiscard]] std::expected<Known, Failure> check(port::Append const& append);
    [[nodiscard]] std::expected<Known, Failure> check_head(port::Append const& append);
    [[nodiscard]] Result<void> write(port::Append const& append, Known known, port::Stamp stamp);
    [[nodiscard]] Result<void> write_session(port::Append const& append, Known& known);
    [[nodiscard]] Result<void> write_frame(port::Append const& append, port::Stamp stamp);
    // Returns where the session's journal ends. If another session has the same number, the stamp
    // differs.
    [[nodiscard]] Result<port::NewestFrame> newest_of(SessionId session);
    [[nodiscard]] Result<bool> is_newest(port::Append const& append);
    [[nodiscard]] Result<void> write_pending(port::PendingRow const& row, Known known);
    [[nodiscard]] Result<void> write_keys(port::Append const& append);
    [[nodiscard]] Result<void> write_snapshot(port::Append const& append);
    [[nodiscard]] Result<void> write_base(port::Append const& append, std::int64_t number);
    [[nodiscard]] Result<void> write_artifacts(port::Append const& append);
    [[nodiscard]] Result<void> write_rewrite(port::Append const& append);
    [[nodiscard]] Result<void> rewrite_frame(SessionId session, port::Frame const& frame);
    // Where contents that a Rewrite removed remain in the files. in_log: in the log only; in_pages:
    // anywhere, until overwrite_some() has overwritten them; in_file: anywhere, until this commit
    // or open ends, which rebuilds the file or leaves them in_pages.
    enum class Remains : std::uint8_t { nowhere, in_log, in_pages, in_file };

    // Removes from the files what the database no longer has. Does nothing if nothing is due.
    void overwrite();
    [[nodiscard]] Remains rebuild();
    [[nodiscard]] std::chrono::milliseconds overwrite_pages();
    // Called after contents were deleted, in the same transaction. See writer_removals.cc.
    [[nodiscard]] Result<void> note_removal();
    [[nodiscard]] Result<void> note_removal_if_changed();
    [[nodiscard]] Result<void> note_removal_of_deleted(SessionId session);
    [[nodiscard]] std::chrono::milliseconds until_pass() const;
    void begin_pass();
    void end_pass();
    void finish_pass();
    void nothing_remains();
    void overwrite_log();
    void overwrite_log_now();
    // Before each checkpoint: then the log may begin again, and its pages would be missed.
    void note_changes();
    [[nodiscard]] Result<void> write_sent(Write what, port::OutboxKey const& key,
                                          port::SentRow const& row);
    [[nodiscard]] Result<void> write_secrets(port::Append const& append, Known known);
    [[nodiscard]] Result<bool> knows_delivery(Bits128 const& key);
    [[nodiscard]] Result<bool> knows_delivery(port::Append const& append);
    [[nodiscard]] Result<void> write_delivered(port::Append const& append);
    [[nodiscard]] Result<void> write_kept(port::KeptRow const& row);
    // Runs `work` in a transaction without an append.
    [[nodiscard]] Result<void> transact(std::function<Result<void>()> const& work);
    [[nodiscard]] Result<void> write_feed(port::Append const& append, Known known);
    [[nodiscard]] Result<void> write_messages(port::Append const& append);
    [[nodiscard]] Result<void> write_update(port::OutboxUpdate const& update);
    [[nodiscard]] Result<void> trim_feed();
    [[nodiscard]] Result<bool> is_deleted(SessionId session);
    [[nodiscard]] std::expected<Known, Failure> check_deleted(port::Append const& append);
    [[nodiscard]] Result<void> forget_deleted(SessionId session);
    [[nodiscard]] Result<void> write_audit(std::string const& line);
    [[nodiscard]] Result<void> write_rules(port::Append const& append);
    [[nodiscard]] Result<void> write_day_sums(port::Append const& append);
    [[nodiscard]] Result<void> write_tokens(port::TokenChange const& change);
    [[nodiscard]] Result<void> write_devices(port::DeviceChange const& change);
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

    std::shared_ptr<Changes> const changes_;  // null: nobody follows what changes
    Connection connection_;
    Room room_;
    std::optional<std::filesystem::path> const directory_;
    Limits const limits_;
    Remains remains_ = Remains::nowhere;
    std::unique_ptr<Scrub> scrub_;  // while contents remain in pages
    using Moment = std::chrono::steady_clock::time_point;
    std::optional<Moment> removed_;  // the first removal that no pass has covered
    bool gentle_ = false;            // the pass is for removals only
    Moment pass_begun_;
    Moment::duration last_pass_{0};
    std::atomic<bool> stopped_ = false;
    std::atomic<std::uint64_t> next_number_;
    FeedPlace feed_;             // as committed
    std::uint64_t feeding_ = 0;  // the newest number in the open transaction
    AuditPlace audit_;           // as committed
    AuditPlace auditing_;        // in the open transaction
};

}  // namespace dormouse::store::sqlite
