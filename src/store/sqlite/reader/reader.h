#pragma once
// The reading half of the store, with a connection of its own that writes nothing. Each query is
// one read transaction, so its answers are consistent.

#include "port/data_keys.h"
#include "port/store.h"
#include "port/stored_row.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/schema/statements.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dormouse::store::sqlite {

// Never returns rows after a gap or with a wrong checksum: the error is internal and names session,
// event and file.
class Reader {
public:
    Reader(Connection connection, std::string file)
        : connection_(std::move(connection)), file_(std::move(file)) {}

    // Makes all reads see the current state of the store.
    [[nodiscard]] Result<void> hold_view();

    // See port::Store.
    [[nodiscard]] Result<port::Loaded> load(SessionId session);
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes);
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys);
    [[nodiscard]] Result<std::vector<std::int64_t>> day_sums(std::int64_t day,
                                                             std::span<std::string const> names);
    [[nodiscard]] Result<std::int64_t> day_mark(std::int64_t day, std::string const& suffix);
    [[nodiscard]] Result<std::optional<port::PendingRow>> pending(SessionId session, CallNo call,
                                                                  Generation generation);
    [[nodiscard]] Result<std::vector<port::Due>> due(Time until, std::optional<port::Due> after,
                                                     std::uint32_t limit);
    [[nodiscard]] Result<std::optional<Time>> next_due();
    [[nodiscard]] Result<std::vector<port::SessionRow>> sessions(std::string const& project,
                                                                 std::uint64_t before,
                                                                 std::uint32_t limit);
    [[nodiscard]] Result<std::vector<port::SessionRow>> all_sessions(std::uint64_t after,
                                                                     std::uint32_t limit);
    [[nodiscard]] Result<std::vector<std::string>> projects(std::string const& after,
                                                            std::uint32_t limit);
    [[nodiscard]] Result<port::SessionCounts> session_counts(std::string const& project,
                                                             std::uint32_t limit);
    [[nodiscard]] Result<std::vector<port::SessionRow>> aliases(std::string const& project,
                                                                std::string const& alias,
                                                                std::uint32_t limit);
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time at, std::uint32_t limit);
    [[nodiscard]] Result<std::uint64_t> session_bytes(SessionId session);
    [[nodiscard]] Result<std::uint64_t> journal_bytes(SessionId session);
    [[nodiscard]] Result<std::vector<port::SessionHead>> heads(std::uint64_t after,
                                                               std::uint32_t limit);
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter);
    [[nodiscard]] Result<std::vector<SessionId>> sessions_in_error(std::string const& project,
                                                                   std::uint32_t limit);
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId> after,
                                                                  std::uint32_t calls);
    [[nodiscard]] Result<port::OpenPending> open_pending(std::uint32_t limit);
    [[nodiscard]] Result<std::uint64_t> count_waiting(std::string const& project,
                                                      std::uint32_t limit);
    [[nodiscard]] Result<std::vector<port::PendingRow>> pending_rows(SessionId session);
    [[nodiscard]] Result<std::vector<port::KeyRow>> key_rows(SessionId session);
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq);
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count);
    [[nodiscard]] Result<port::FeedPage> feed(port::Projects const& projects, std::uint64_t after,
                                              std::size_t max_bytes);
    [[nodiscard]] Result<std::uint64_t> feed_head();
    [[nodiscard]] Result<std::uint64_t> feed_limit() { return feed_head(); }
    [[nodiscard]] Result<std::vector<port::NewestFrame>> newest(
        std::span<SessionId const> sessions);
    [[nodiscard]] Result<std::optional<SessionId>> find_created(Bits128 const& create_key);
    [[nodiscard]] Result<std::vector<port::OutboxRow>> due_messages(std::string const& kind,
                                                                    Time until,
                                                                    std::uint32_t limit);
    [[nodiscard]] Result<std::vector<port::DueMessage>> due_by_target(Time until,
                                                                      std::string const& after,
                                                                      std::uint32_t each,
                                                                      std::uint32_t limit);
    [[nodiscard]] Result<std::optional<port::OutboxRow>> outbox_message(port::OutboxKey const& key);
    [[nodiscard]] Result<std::vector<port::OutboxRow>> list_messages(
        port::OutboxFilter const& filter);
    [[nodiscard]] Result<std::optional<std::string>> project_of(SessionId session);
    [[nodiscard]] Result<std::vector<port::SentRow>> sent(SessionId session, CallNo call,
                                                          Generation generation,
                                                          std::string const& target);
    [[nodiscard]] Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                            Generation generation);
    [[nodiscard]] Result<std::optional<Bits128>> delivered(Bits128 const& key);
    [[nodiscard]] Result<std::optional<port::KeptRow>> kept_delivery(Bits128 const& key);
    [[nodiscard]] Result<std::vector<port::KeptRow>> kept(
        std::optional<port::KeptPlace> const& after, std::uint32_t limit, std::size_t max_bytes);
    [[nodiscard]] Result<std::vector<port::TokenRow>> tokens();
    [[nodiscard]] Result<std::vector<port::DeviceRow>> devices();
    [[nodiscard]] Result<std::vector<port::DataKeyRow>> data_keys();
    [[nodiscard]] Result<std::vector<port::RuleRow>> rules();
    [[nodiscard]] Result<std::vector<port::AuditRow>> audit(std::uint64_t after,
                                                            std::uint32_t limit);
    // Returns contradictions between the feed and the sessions, and a missing end of the audit.
    // Other damage to the two cannot be detected here. Reads whole tables.
    [[nodiscard]] Result<std::vector<std::string>> feed_and_audit_findings();
    // Returns the number and hash of the newest line, without its text. n = 0: there is no line.
    [[nodiscard]] Result<port::AuditRow> audit_head();
    // See port::AuditEnds.
    [[nodiscard]] Result<std::vector<std::uint64_t>> audit_ends();
    // See port::RemovedContents.
    [[nodiscard]] Result<bool> removed_contents_remain();
    [[nodiscard]] Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit);
    [[nodiscard]] Result<void> ping();
    [[nodiscard]] Result<std::uint64_t> largest_number();

private:
    class Transaction;

    // REQUIRES for all: a Transaction is active.
    // find() returns nullopt if the session does not exist or its number belongs to another
    // session.
    [[nodiscard]] Result<std::optional<port::SessionRow>> find(SessionId session);
    [[nodiscard]] Result<std::uint64_t> bytes_of(SessionId session, Read of);
    // Returns the frames with events after `after`.
    struct Tail {
        std::vector<port::Frame> frames;
        port::Stamp stamp{};  // of the newest frame
    };
    [[nodiscard]] Result<port::NewestFrame> newest(SessionId session);
    [[nodiscard]] Result<Tail> tail(SessionId session, Seq after);
    // Returns the frames with events from `from` on, until `max_bytes` are reached.
    [[nodiscard]] Result<std::vector<port::Frame>> frames(SessionId session, Seq from,
                                                          std::size_t max_bytes);
    [[nodiscard]] Result<port::Frame> frame(SessionId session, Query const& row,
                                            Seq expected) const;
    [[nodiscard]] Result<std::optional<port::FeedRow>> feed_row(Query const& row) const;
    [[nodiscard]] Result<port::OutboxRow> outbox_row(Query const& row) const;
    [[nodiscard]] Result<std::uint64_t> number(Read name);
    [[nodiscard]] Result<std::optional<port::SnapshotRow>> snapshot(SessionId session);
    [[nodiscard]] Result<std::optional<Time>> wake_at(SessionId session);
    [[nodiscard]] Result<port::SessionRow> session_row(Query const& row) const;
    [[nodiscard]] Result<std::vector<port::SessionRow>> session_rows(Query& query) const;
    [[nodiscard]] Result<void> add_due(Query& query, std::vector<port::Due>& found) const;
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_of_project(
        port::PendingFilter const& filter, std::string const& project);
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_of_projects(
        port::PendingFilter const& filter, std::vector<std::string> const& names);
    // Returns the number of rows of the query.
    [[nodiscard]] static Result<std::uint32_t> rows_of(Query& query);
    // Sessions with a waiting call.
    [[nodiscard]] Result<std::uint32_t> waiting_in(std::string const& project, std::uint32_t limit);
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_of_session(
        port::PendingFilter const& filter);
    [[nodiscard]] Result<SessionId> session_id(std::string_view bare) const;
    [[nodiscard]] Result<bool> find_artifact(Query& stored, SessionId session, Seq seq);
    [[nodiscard]] Result<std::string> blob_piece(std::int64_t key, std::uint64_t offset,
                                                 std::size_t count);
    [[nodiscard]] std::unexpected<Error> damaged(std::string const& what) const;
    template <class T> [[nodiscard]] Result<T> checked(port::ReadRow<T> read) const {
        if (!read) return damaged(read.error());
        return *std::move(read);
    }

    [[nodiscard]] Query query(Read name) {
        return connection_.query(static_cast<std::size_t>(name));
    }

    Connection connection_;
    std::string const file_;
};

}  // namespace dormouse::store::sqlite
