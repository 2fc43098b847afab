#pragma once
// The reading half of the store, with a connection of its own that writes nothing. The calls of one
// query are one transaction with one view of the data. A query whose connection is lost is asked
// again once.

#include "port/data_keys.h"
#include "port/database.h"
#include "port/store.h"
#include "store/postgres/node_keys.h"
#include "store/postgres/session.h"
#include "store/postgres/statements.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dormouse::store::postgres {

// Never returns rows after a gap or with a wrong checksum: the error is internal and names session
// and event.
class Reader {
public:
    // `sole`: the session's connection holds the lock of owner.h, which ping() takes again if it
    // was lost. `timeline`: of the database, when others() was last called; 0: never. All readers
    // of a process share it.
    Reader(Session session, std::int64_t lock, Connection::Wait call_wait, bool sole,
           std::atomic<std::int64_t>& timeline)
        : session_(std::move(session)),
          lock_(lock),
          call_wait_(call_wait),
          timeline_(timeline),
          sole_(sole) {}

    [[nodiscard]] bool is_connected() { return session_.open() != nullptr; }
    // Returns whether it is connected.
    [[nodiscard]] bool connect(Connection::Wait wait) {
        return session_.connection(std::min(wait, call_wait_)).has_value();
    }

    // See port::Store.
    [[nodiscard]] Result<port::Loaded> load(SessionId session);
    [[nodiscard]] std::vector<Result<port::Loaded>> load_each(std::span<SessionId const> sessions);
    [[nodiscard]] Result<std::vector<port::NewestFrame>> newest(
        std::span<SessionId const> sessions);
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes);
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys);
    [[nodiscard]] Result<std::vector<std::int64_t>> day_sums(std::int64_t day,
                                                             std::span<std::string const> names);
    [[nodiscard]] Result<std::int64_t> day_mark(std::int64_t day, std::string const& suffix);
    [[nodiscard]] Result<std::optional<port::PendingRow>> pending(SessionId session, CallNo call,
                                                                  Generation generation);
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter);
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq);
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count);
    [[nodiscard]] Result<std::optional<SessionId>> find_created(Bits128 const& create_key);
    [[nodiscard]] Result<std::vector<port::PendingRow>> pending_rows(SessionId session);
    [[nodiscard]] Result<std::vector<port::KeyRow>> key_rows(SessionId session);
    [[nodiscard]] Result<std::uint64_t> journal_bytes(SessionId session);
    [[nodiscard]] Result<std::vector<port::Due>> due(Time until, std::optional<port::Due> after,
                                                     std::uint32_t limit);
    [[nodiscard]] Result<std::optional<Time>> next_due();
    // The largest session number used or reserved; 0: none.
    [[nodiscard]] Result<std::uint64_t> largest_number();

    [[nodiscard]] Result<std::vector<port::SessionRow>> sessions(std::string const& project,
                                                                 std::uint64_t before,
                                                                 std::uint32_t limit);
    [[nodiscard]] Result<std::vector<port::SessionRow>> aliases(std::string const& project,
                                                                std::string const& alias,
                                                                std::uint32_t limit);
    [[nodiscard]] Result<std::vector<std::string>> projects(std::string const& after,
                                                            std::uint32_t limit);
    [[nodiscard]] Result<port::SessionCounts> session_counts(std::string const& project,
                                                             std::uint32_t limit);
    [[nodiscard]] Result<port::OpenPending> open_pending(std::uint32_t limit);
    [[nodiscard]] Result<std::uint64_t> count_waiting(std::string const& project,
                                                      std::uint32_t limit);
    [[nodiscard]] Result<std::vector<SessionId>> sessions_in_error(std::string const& project,
                                                                   std::uint32_t limit);
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId> after,
                                                                  std::uint32_t calls);
    [[nodiscard]] Result<std::optional<std::string>> project_of(SessionId session);
    [[nodiscard]] Result<std::vector<port::SessionRow>> all_sessions(std::uint64_t after,
                                                                     std::uint32_t limit);
    [[nodiscard]] Result<std::vector<port::SessionHead>> heads(std::uint64_t after,
                                                               std::uint32_t limit);
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time at, std::uint32_t limit);
    [[nodiscard]] Result<std::uint64_t> session_bytes(SessionId session);

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
    [[nodiscard]] Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit);
    [[nodiscard]] Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                            Generation generation);
    [[nodiscard]] Result<std::vector<port::SentRow>> sent(SessionId session, CallNo call,
                                                          Generation generation,
                                                          std::string const& target);
    [[nodiscard]] Result<std::optional<Bits128>> delivered(Bits128 const& key);
    [[nodiscard]] Result<std::optional<port::KeptRow>> kept_delivery(Bits128 const& key);
    [[nodiscard]] Result<std::vector<port::KeptRow>> kept(
        std::optional<port::KeptPlace> const& after, std::uint32_t limit, std::size_t max_bytes);

    [[nodiscard]] Result<std::vector<port::TokenRow>> tokens();
    [[nodiscard]] Result<bool> delivered_since(std::string const& target, Time since);
    [[nodiscard]] Result<std::optional<port::TokenRow>> token_of(Sha256 const& digest);
    [[nodiscard]] Result<std::vector<port::DeviceRow>> devices();
    [[nodiscard]] Result<std::vector<port::DataKeyRow>> data_keys();
    [[nodiscard]] Result<std::vector<NodeKeys>> node_keys();
    [[nodiscard]] Result<std::vector<port::RuleRow>> rules();
    [[nodiscard]] Result<std::vector<port::AuditRow>> audit(std::uint64_t after,
                                                            std::uint32_t limit);
    // `without`: a writer whose entries are left out.
    [[nodiscard]] Result<port::FeedPage> feed(port::Projects const& projects, std::uint64_t after,
                                              std::size_t max_bytes,
                                              std::optional<std::int64_t> without = {});
    [[nodiscard]] Result<std::uint64_t> feed_head();
    [[nodiscard]] Result<std::uint64_t> feed_limit();
    // As feed() of all projects without the entries of a slot; -1: of all. `gone` also if another
    // database has taken over since the last call, or since the first feed_head().
    [[nodiscard]] Result<port::FeedPage> others(std::uint64_t after, std::size_t max_bytes,
                                                std::int64_t own_slot);
    // Fails with wrong_state if the process of this epoch was removed.
    [[nodiscard]] Result<void> ping(Epoch epoch);

    // See port::Database.
    [[nodiscard]] Result<port::DatabaseStatus> database_status();
    // See port::AuditEnds.
    [[nodiscard]] Result<std::vector<std::uint64_t>> audit_ends();

    // From now on all queries have one view of the data, and are not asked again: the view ends
    // with the connection. They may read whole tables.
    [[nodiscard]] Result<void> hold_view();
    // Returns the findings of verify in the feed and the audit, for people.
    [[nodiscard]] Result<std::vector<std::string>> feed_and_audit_findings();

private:
    [[nodiscard]] Result<std::vector<Rows>> ask(std::span<Call const> calls);
    [[nodiscard]] Result<Rows> ask(Call const& call);
    // A query about one session: `rest` is asked in the same transaction. The first rows are the
    // session's; nullopt: there is no such session.
    [[nodiscard]] Result<std::optional<std::vector<Rows>>> ask_of(SessionId session,
                                                                  std::vector<Call> rest);
    [[nodiscard]] Result<std::uint64_t> number(Call const& call);

    [[nodiscard]] Result<std::vector<port::SessionRow>> session_rows(Call const& call);
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_of_session(
        port::PendingFilter const& filter);
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_of_projects(
        port::PendingFilter const& filter, std::vector<std::string> const& names);
    // Everything up to this number was committed, and nothing more will be.
    [[nodiscard]] Result<std::int64_t> horizon();

    Session session_;
    std::int64_t lock_;
    Connection::Wait call_wait_;
    std::atomic<std::int64_t>& timeline_;
    bool sole_;
    bool holds_view_ = false;
    std::uint64_t owned_ = 1;  // the connection that holds the lock, counted as made()
};

}  // namespace dormouse::store::postgres
