#pragma once
// A store whose contents are encrypted: in front of any other one, to which it passes all calls.
// Threads and errors as port::Store has them.

#include "port/many_loads.h"
#include "port/shared_store.h"
#include "port/store.h"
#include "port/stored_stamp.h"
#include "store/sealed/contents.h"
#include "store/sealed/sealer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dormouse::store {

class SealedStore final : public port::Store, public port::OtherForm, public port::ManyLoads {
public:
    // `shared`: the same store, if other processes use it too; else null.
    SealedStore(std::shared_ptr<port::Store> store, port::SharedStore* shared,
                std::unique_ptr<Sealer> sealer);
    ~SealedStore() override;

    [[nodiscard]] Result<port::Stamp> stored_stamp(SessionId session,
                                                   port::Frame const& frame) override;
    // Null: no other process uses the store.
    [[nodiscard]] port::SharedStore* shared_store() const;

    [[nodiscard]] Epoch epoch() const override { return store_->epoch(); }
    [[nodiscard]] bool shared() const override { return store_->shared(); }
    [[nodiscard]] std::size_t readers() const override { return store_->readers(); }
    [[nodiscard]] std::uint64_t next_session_number() override {
        return store_->next_session_number();
    }
    [[nodiscard]] std::vector<port::AppendResult> commit(
        std::span<port::Append const> appends) override;
    [[nodiscard]] Result<port::Loaded> load(SessionId session) override;
    [[nodiscard]] std::vector<Result<port::Loaded>> load_each(
        std::span<SessionId const> sessions) override;
    [[nodiscard]] Result<std::vector<port::NewestFrame>> newest(
        std::span<SessionId const> sessions) override {
        return store_->newest(sessions);
    }
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes) override;
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys) override {
        return store_->lookup(session, keys);
    }
    [[nodiscard]] Result<std::optional<port::PendingRow>> pending(SessionId session, CallNo call,
                                                                  Generation generation) override {
        return store_->pending(session, call, generation);
    }
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter) override {
        return store_->list_pending(filter);
    }
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq) override;
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count) override;
    [[nodiscard]] Result<std::optional<SessionId>> find_created(
        Bits128 const& create_key) override {
        return store_->find_created(create_key);
    }
    [[nodiscard]] Result<std::vector<port::PendingRow>> pending_rows(SessionId session) override {
        return store_->pending_rows(session);
    }
    [[nodiscard]] Result<std::vector<port::KeyRow>> key_rows(SessionId session) override {
        return store_->key_rows(session);
    }
    [[nodiscard]] Result<std::uint64_t> journal_bytes(SessionId session) override {
        return store_->journal_bytes(session);
    }
    [[nodiscard]] Result<std::vector<port::Due>> due(Time until, std::optional<port::Due> after,
                                                     std::uint32_t limit) override {
        return store_->due(until, after, limit);
    }
    [[nodiscard]] Result<std::optional<Time>> next_due() override { return store_->next_due(); }
    [[nodiscard]] Result<std::vector<std::int64_t>> day_sums(
        std::int64_t day, std::span<std::string const> names) override {
        return store_->day_sums(day, names);
    }
    [[nodiscard]] Result<std::int64_t> day_mark(std::int64_t day,
                                                std::string const& suffix) override {
        return store_->day_mark(day, suffix);
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> sessions(std::string const& project,
                                                                 std::uint64_t before,
                                                                 std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::SessionRow>> aliases(std::string const& project,
                                                                std::string const& alias,
                                                                std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<std::string>> projects(std::string const& after,
                                                            std::uint32_t limit) override {
        return store_->projects(after, limit);
    }
    [[nodiscard]] Result<port::SessionCounts> session_counts(std::string const& project,
                                                             std::uint32_t limit) override {
        return store_->session_counts(project, limit);
    }
    [[nodiscard]] Result<port::OpenPending> open_pending(std::uint32_t limit) override {
        return store_->open_pending(limit);
    }
    [[nodiscard]] Result<std::vector<SessionId>> sessions_in_error(std::string const& project,
                                                                   std::uint32_t limit) override {
        return store_->sessions_in_error(project, limit);
    }
    [[nodiscard]] Result<std::uint64_t> count_waiting(std::string const& project,
                                                      std::uint32_t limit) override {
        return store_->count_waiting(project, limit);
    }
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId> after,
                                                                  std::uint32_t calls) override {
        return store_->waiting_sessions(after, calls);
    }
    [[nodiscard]] Result<std::optional<std::string>> project_of(SessionId session) override {
        return store_->project_of(session);
    }
    [[nodiscard]] Result<std::vector<port::OutboxRow>> due_messages(std::string const& kind,
                                                                    Time until,
                                                                    std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::DueMessage>> due_by_target(
        Time until, std::string const& after, std::uint32_t each, std::uint32_t limit) override {
        return store_->due_by_target(until, after, each, limit);
    }
    [[nodiscard]] Result<std::optional<port::OutboxRow>> outbox_message(
        port::OutboxKey const& key) override;
    [[nodiscard]] Result<std::vector<port::OutboxRow>> list_messages(
        port::OutboxFilter const& filter) override;
    [[nodiscard]] Result<void> update_messages(
        std::span<port::OutboxUpdate const> updates) override;
    [[nodiscard]] Result<void> drop_delivered(Time until) override {
        return store_->drop_delivered(until);
    }
    [[nodiscard]] Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit) override {
        return store_->count_given_up(until, limit);
    }
    [[nodiscard]] Result<void> drop_given_up(Time until, std::uint32_t limit) override {
        return store_->drop_given_up(until, limit);
    }
    [[nodiscard]] Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                            Generation generation) override;
    [[nodiscard]] Result<std::vector<port::SentRow>> sent(SessionId session, CallNo call,
                                                          Generation generation,
                                                          std::string const& target) override;
    [[nodiscard]] Result<std::optional<Bits128>> delivered(Bits128 const& key) override {
        return store_->delivered(key);
    }
    [[nodiscard]] Result<std::optional<port::KeptRow>> kept_delivery(Bits128 const& key) override;
    [[nodiscard]] Result<std::vector<port::KeptRow>> kept(
        std::optional<port::KeptPlace> const& after, std::uint32_t limit,
        std::size_t max_bytes) override;
    [[nodiscard]] Result<void> keep(port::KeptRow const& row) override;
    [[nodiscard]] Result<void> drop_kept(std::span<Bits128 const> keys) override {
        return store_->drop_kept(keys);
    }
    [[nodiscard]] Result<void> drop_old_kept(Time until) override {
        return store_->drop_old_kept(until);
    }
    [[nodiscard]] Result<std::vector<port::TokenRow>> tokens() override { return store_->tokens(); }
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const& change) override {
        return store_->change_tokens(change);
    }
    [[nodiscard]] Result<std::vector<port::DeviceRow>> devices() override;
    [[nodiscard]] Result<void> change_devices(port::DeviceChange const& change) override;
    [[nodiscard]] Result<std::vector<port::RuleRow>> rules() override;
    [[nodiscard]] Result<void> drop_rule(port::RuleDrop const& drop) override {
        return store_->drop_rule(drop);
    }
    [[nodiscard]] Result<std::vector<port::AuditRow>> audit(std::uint64_t after,
                                                            std::uint32_t limit) override {
        return store_->audit(after, limit);
    }
    [[nodiscard]] Result<void> trim_audit(std::uint64_t through, std::string const& line) override {
        return store_->trim_audit(through, line);
    }
    [[nodiscard]] Result<port::FeedPage> feed(port::Projects const& projects, std::uint64_t after,
                                              std::size_t max_bytes) override;
    [[nodiscard]] Result<std::uint64_t> feed_head() override { return store_->feed_head(); }
    [[nodiscard]] Result<std::uint64_t> feed_limit() override { return store_->feed_limit(); }
    [[nodiscard]] Result<std::vector<port::SessionRow>> all_sessions(std::uint64_t after,
                                                                     std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::SessionHead>> heads(std::uint64_t after,
                                                               std::uint32_t limit) override {
        return store_->heads(after, limit);
    }
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time at,
                                                                 std::uint32_t limit) override {
        return store_->completed_until(at, limit);
    }
    [[nodiscard]] Result<std::uint64_t> session_bytes(SessionId session) override {
        return store_->session_bytes(session);
    }
    [[nodiscard]] Result<void> ping() override { return store_->ping(); }

private:
    class Shared;

    std::shared_ptr<port::Store> const store_;
    std::unique_ptr<Sealer> const sealer_;
    Contents contents_;
    std::unique_ptr<Shared> const shared_;
};

}  // namespace dormouse::store
