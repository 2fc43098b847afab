#pragma once
// The store on PostgreSQL, which several processes may use at the same time.
//
// One connection writes (Writer), up to four others read (Readers): as many threads may read at the
// same time, also during a commit. A batch is one transaction, one round trip and one call
// of a function that the migration created. The tables are in tables.cc, the functions in
// append_function.cc and writer_functions.cc, the queries in statements.cc.

#include "port/audit_ends.h"
#include "port/data_keys.h"
#include "port/database.h"
#include "port/divided_store.h"
#include "port/many_loads.h"
#include "port/rewriter.h"
#include "port/shared_store.h"
#include "store/postgres/node_keys.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::store {

namespace postgres {
class Heartbeat;
class Readers;
class Speaker;
class Writer;
}  // namespace postgres

struct PostgresOptions {
    std::uint64_t feed_kept = 1'000'000;  // how many appends of the feed are kept
    // Accept a server that loses acknowledged results when it crashes. For tests.
    bool relaxed = false;
    // Use the schema alone: a second process is refused at open. False: several processes at once.
    bool sole = false;
    port::Signal signal = port::Signal::notify;  // between several processes
    std::string node = "node";                   // names this process in the table `nodes`
    bool sole_name = false;                      // no other process that works may have that name
    std::string version = {};                    // the release
    // The time of this machine, to compare with the server's; nullopt: do not compare.
    std::optional<Time> now = {};
    // Maximum time of a call, and of the attempts of a writer to reconnect after a lost call.
    std::chrono::milliseconds call_wait = std::chrono::seconds(12);
    std::chrono::milliseconds reconnect_wait = std::chrono::seconds(2);
};

// The numbers of the feed have gaps. Lines of the audit are by writer, then in the order of its
// commits: the high 16 bits of a line's number name the writer, and each writer's lines are a chain
// of their own.
class PostgresStore final : public port::DividedStore<PostgresStore>,
                            public port::SharedStore,
                            public port::ManyLoads,
                            public port::DataKeyStore,
                            public port::Database,
                            public port::AuditEnds {
public:
    // Creates or migrates the schema and registers this process. Errors: bad_value (the URL),
    // wrong_state (the database cannot be used, or another process uses the schema alone; the text
    // says what to do), newer_format, store_unavailable, internal. No error contains the password.
    [[nodiscard]] static Result<std::unique_ptr<PostgresStore>> open(
        std::string const& url, PostgresOptions const& options = {});
    // Opens a schema beside the processes that use it: all reads have one view of the data, and
    // every write fails. Changes nothing. Errors as in open(), and not_found (there is no store).
    [[nodiscard]] static Result<std::unique_ptr<PostgresStore>> open_view(std::string const& url);
    // Gives back the row of this process; the sessions stay.
    ~PostgresStore() override;

    // The number of this process's row in `nodes`.
    [[nodiscard]] Epoch epoch() const override { return epoch_; }
    [[nodiscard]] Result<port::HeartbeatReply> beat(Self const& self) override;
    [[nodiscard]] Result<bool> remove(port::NodeRow const& seen) override;
    [[nodiscard]] Result<std::vector<std::string>> receive(Duration limit) override;
    void end_wait() override;
    [[nodiscard]] Result<void> publish(std::span<std::string const> texts) override;
    // Without the database nothing works, which is reported elsewhere.
    [[nodiscard]] std::string failure() const override { return {}; }
    [[nodiscard]] Result<Epoch> join() override;
    // Takes the next block of 256 numbers.
    [[nodiscard]] Result<port::NumberBlock> take_numbers() override;
    [[nodiscard]] Result<std::vector<port::SharedValue>> values(std::string const& prefix) override;
    [[nodiscard]] Result<bool> exchange(port::SharedValue const& next) override;
    [[nodiscard]] Result<std::string> agree(std::string const& name,
                                            std::string const& proposed) override;
    [[nodiscard]] Result<std::vector<port::OutboxKey>> claim(std::span<port::OutboxKey const> keys,
                                                             Time now, Time until) override;
    [[nodiscard]] Result<std::vector<port::OutboxKey>> renew(
        std::span<port::OutboxClaim const> claims, Time until) override;
    [[nodiscard]] Result<bool> delivered_since(std::string const& target, Time since) override;
    [[nodiscard]] Result<port::FeedPage> others(std::uint64_t after,
                                                std::size_t max_bytes) override;
    // Returns true if a person must release the store before the processes that open it start
    // effects. The heartbeats of a shared store report it, too. `why`: JSON, for people. By the
    // writer.
    [[nodiscard]] Result<bool> held();
    [[nodiscard]] Result<void> hold(std::string const& why);
    [[nodiscard]] Result<void> end_hold();
    [[nodiscard]] bool shared() const override { return true; }
    // Four; one of a sole owner, whose connection holds a lock, and of a view.
    [[nodiscard]] std::size_t readers() const override;
    // While other processes create sessions, use take_numbers().
    [[nodiscard]] std::uint64_t next_session_number() override;
    // Returns true if another process has declared this one dead: every write fails until join().
    // May be called from any thread.
    [[nodiscard]] bool fenced() const;
    // See Reader. For verify.
    [[nodiscard]] Result<std::vector<std::string>> feed_and_audit_findings();
    // Reads all contents and stores what `rewriter` returns, with their checksums, in small
    // transactions; returns how many rows it changed. After an error or a crash the rows so far are
    // changed, and the next call continues. Errors: internal also for a row whose checksum is
    // wrong. REQUIRES: PostgresOptions::sole. By the writer.
    [[nodiscard]] Result<std::uint64_t> rewrite(port::Rewriter& rewriter);
    // Writes all tables with contents again, so that none of their files has replaced contents.
    // Returns false if these stay until the owner of the tables runs VACUUM FULL. REQUIRES: as
    // rewrite().
    [[nodiscard]] Result<bool> drop_old_versions();
    [[nodiscard]] Result<port::DatabaseStatus> database_status() override;
    [[nodiscard]] port::LostCommits lost_commits() const override;
    [[nodiscard]] Result<std::vector<std::uint64_t>> audit_ends() override;
    // Warnings about the database for an administrator, found by open().
    [[nodiscard]] std::vector<std::string> const& warnings() const { return warnings_; }

    [[nodiscard]] std::vector<port::AppendResult> commit(
        std::span<port::Append const> appends) override;
    [[nodiscard]] std::vector<Result<port::Loaded>> load_each(
        std::span<SessionId const> sessions) override;
    // Returns the token whose secret has this digest. Called by the reader.
    [[nodiscard]] Result<std::optional<port::TokenRow>> token_of(Sha256 const& digest);
    [[nodiscard]] Result<std::vector<port::DataKeyRow>> data_keys() override;
    [[nodiscard]] Result<void> put_data_keys(std::span<port::DataKeyRow const> rows) override;
    // Tells other processes which master keys this one has (NodeKeys::masters), also after join().
    // Called by the writer.
    [[nodiscard]] Result<void> announce_keys(std::string const& masters);
    // Returns the master keys of all processes. Called by the reader.
    [[nodiscard]] Result<std::vector<postgres::NodeKeys>> node_keys();
    [[nodiscard]] Result<void> ping() override;

private:
    friend port::DividedStore<PostgresStore>;
    template <class Ask> [[nodiscard]] auto reading(Ask ask);
    template <class Work> [[nodiscard]] Result<void> writing(Work work);

    struct Parts;  // what open() has made

    PostgresStore(Parts parts, PostgresOptions options);

    std::unique_ptr<postgres::Writer> writer_;  // null: a view
    std::unique_ptr<postgres::Readers> readers_;
    std::atomic<Epoch> epoch_;
    std::uint64_t largest_number_;  // when it was opened
    std::string masters_;           // as announced; used by the writer
    std::vector<std::string> const warnings_;
    std::unique_ptr<postgres::Heartbeat> heartbeat_;  // null: a view, or a sole owner
    std::unique_ptr<postgres::Speaker> speaker_;      // null: the same, or nothing is published
    PostgresOptions const options_;
};

}  // namespace dormouse::store
