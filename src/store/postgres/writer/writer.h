#pragma once
// The writing half of the store: one connection, and this process's row in `writers`.

#include "port/data_keys.h"
#include "port/database.h"
#include "port/rewriter.h"
#include "port/store.h"
#include "store/postgres/session.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dormouse::store::postgres {

struct WriterOptions {
    std::uint64_t feed_kept = 0;
    Connection::Wait call_wait{};
    Connection::Wait reconnect_wait{};
    bool sole = false;  // this process alone uses the schema (owner.h)
};

// This process's row in `writers`.
struct Registration {
    Epoch epoch = 0;
    std::int64_t slot = 0;
    std::int64_t batch = 0;   // the number of the newest call
    std::string incarnation;  // 16 random bytes
};

// The columns of a process in `nodes` that it sets itself.
struct NodeName {
    std::string name;
    std::string version;  // the release
    std::string masters;  // ids of its master keys (node_keys_10); empty: none, or later
};

// `sole`: removes the rows of all other processes in the same transaction.
[[nodiscard]] Answer<Registration> register_node(Connection& connection, Catalogue const& catalogue,
                                                 NodeName const& node, bool sole);

class Writer {
public:
    Writer(Session session, Catalogue catalogue, Registration registration, WriterOptions options)
        : session_(std::move(session)),
          catalogue_(std::move(catalogue)),
          me_(std::move(registration)),
          options_(options) {}
    ~Writer();  // frees the row
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

    // Registers again, after another process took the row. Returns the new epoch.
    [[nodiscard]] Result<Epoch> join(NodeName const& node);
    // Returns the first of 256 session numbers that no process has used.
    [[nodiscard]] Result<std::uint64_t> take_block();
    // See port::SharedStore.
    [[nodiscard]] Result<std::string> agree(std::string const& name, std::string const& proposed);
    [[nodiscard]] Result<bool> is_set(std::string const& name);
    [[nodiscard]] Result<std::vector<port::SharedValue>> values(std::string const& prefix);
    [[nodiscard]] Result<bool> exchange(port::SharedValue const& next);
    [[nodiscard]] Result<void> drop_setting(std::string const& name);
    // Stores the ids of the master keys of the process `node`.
    [[nodiscard]] Result<void> announce_keys(Epoch node, std::string const& masters);
    // Stores the rows. Each later connection restores missing ones before it writes anything else.
    [[nodiscard]] Result<void> put_data_keys(std::span<port::DataKeyRow const> rows);
    // See PostgresStore.
    [[nodiscard]] Result<std::uint64_t> rewrite(port::Rewriter& rewriter);
    [[nodiscard]] Result<bool> drop_old_versions();
    // Returns true if the schema was in another database at the last call of settle()
    // (identity.cc).
    [[nodiscard]] Result<bool> is_copy();
    [[nodiscard]] Result<void> settle();
    [[nodiscard]] Result<std::vector<port::OutboxKey>> claim(std::span<port::OutboxKey const> keys,
                                                             Time now, Time until);
    [[nodiscard]] Result<std::vector<port::OutboxKey>> renew(
        std::span<port::OutboxClaim const> claims, Time until);

    // May be called from another thread.
    [[nodiscard]] bool fenced() const { return fenced_; }
    // May be called from another thread.
    [[nodiscard]] port::LostCommits lost_commits() const {
        return {lost_.committed, lost_.not_committed, lost_.unknown};
    }
    // The low 8 bits of the feed numbers that it takes. May be called from another thread.
    [[nodiscard]] std::int64_t slot() const { return slot_; }

private:
    using Statuses = std::vector<std::int64_t>;
    using Results = std::vector<port::AppendResult>;

    // The parameters that all functions begin with.
    [[nodiscard]] Parameters fenced_parameters();
    // Makes a call exactly once, however often the connection is lost. REQUIRES: its parameters
    // begin with fenced_parameters().
    [[nodiscard]] Answer<Statuses> once(Call const& call);
    // Returns the result of the call that was sent last; nullopt: it was not made and will not be.
    [[nodiscard]] Answer<std::optional<Statuses>> resolve();
    [[nodiscard]] Answer<Connection*> reconnect();
    // On each new connection, before any call: it may lead to a promoted standby, which lacks the
    // newest writes.
    [[nodiscard]] Answer<void> replace_lost(Connection& connection);
    [[nodiscard]] Failure fence();
    // A call that may be made again if its answer was lost. Returns the rows of the last one.
    [[nodiscard]] Result<Rows> repeatable(std::span<Call const> calls);
    // A call without appends. Returns its status.
    [[nodiscard]] Result<std::int64_t> change(Call const& call);

    void write_restored(std::span<port::Append const> appends, std::size_t i, Results& results);
    void write_copy(std::span<port::Append const> appends, std::size_t i, Results& results);
    void take_statuses(std::span<port::Append const> appends, std::vector<std::size_t> const& round,
                       Answer<Statuses> const& statuses, Results& results);
    void write_round(std::span<port::Append const> appends, std::vector<std::size_t> const& round,
                     Results& results);
    [[nodiscard]] Parameters encode(std::span<port::Append const> appends,
                                    std::vector<std::size_t> const& round);
    void drop_aliases();
    [[nodiscard]] RowArray array(std::string_view type) const;

    Session session_;
    Catalogue catalogue_;
    Registration me_;
    WriterOptions options_;
    std::uint64_t looked_ = 0;  // the connection of replace_lost(), as Session::made() counts
    // Put by this process. Contents that it has encrypted may be written at any time.
    std::map<std::string, port::DataKeyRow> data_keys_;
    // Sessions that were deleted or redacted, of which rows of aliases may be left.
    std::vector<std::int64_t> unnamed_;
    Epoch joined_ = 0;  // since join(): appends of earlier epochs are refused
    std::atomic<bool> fenced_ = false;
    std::atomic<std::int64_t> slot_ = me_.slot;
    struct {
        std::atomic<std::uint64_t> committed, not_committed, unknown;
    } lost_ = {};
};

}  // namespace dormouse::store::postgres
