#pragma once
// A store with a reading and a writing half, such as two connections. The halves have the members
// of Store; DividedStore passes each call to one of them. Self says how:
//
//   class MyStore final : public port::DividedStore<MyStore> {
//       friend port::DividedStore<MyStore>;
//       template <class Ask> auto reading(Ask ask) { return ask(*reader_); }
//       template <class Work> Result<void> writing(Work work) { return work(*writer_); }
//       …  // and the members of Store that are missing below
//   };
//
// The definitions are in divided_store_members.h, which only the file of MyStore includes: it
// instantiates them (template class port::DividedStore<MyStore>).
//
// Not for stores that change what passes through (store/sealed): such a store must name each
// function, so that a new one does not pass unchanged.

#include "port/store.h"

namespace dormouse::port {

template <class Self> class DividedStore : public Store {
public:
    [[nodiscard]] Result<Loaded> load(SessionId session) override;
    [[nodiscard]] Result<std::vector<NewestFrame>> newest(
        std::span<SessionId const> sessions) override;
    [[nodiscard]] Result<std::vector<Frame>> page(SessionId session, Seq from,
                                                  std::size_t max_bytes) override;
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys) override;
    [[nodiscard]] Result<std::optional<PendingRow>> pending(SessionId session, CallNo call,
                                                            Generation generation) override;
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq) override;
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count) override;
    [[nodiscard]] Result<std::uint64_t> journal_bytes(SessionId session) override;
    [[nodiscard]] Result<std::vector<std::int64_t>> day_sums(
        std::int64_t day, std::span<std::string const> names) override;
    [[nodiscard]] Result<std::int64_t> day_mark(std::int64_t day,
                                                std::string const& suffix) override;

    [[nodiscard]] Result<std::vector<Due>> due(Time until, std::optional<Due> after,
                                               std::uint32_t limit) override;
    [[nodiscard]] Result<std::optional<Time>> next_due() override;

    [[nodiscard]] Result<std::vector<PendingListed>> list_pending(
        PendingFilter const& filter) override;
    [[nodiscard]] Result<OpenPending> open_pending(std::uint32_t limit) override;
    [[nodiscard]] Result<std::uint64_t> count_waiting(std::string const& project,
                                                      std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId> after,
                                                                  std::uint32_t calls) override;

    [[nodiscard]] Result<std::vector<SessionRow>> sessions(std::string const& project,
                                                           std::uint64_t before,
                                                           std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionRow>> aliases(std::string const& project,
                                                          std::string const& alias,
                                                          std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<std::string>> projects(std::string const& after,
                                                            std::uint32_t limit) override;
    [[nodiscard]] Result<SessionCounts> session_counts(std::string const& project,
                                                       std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionId>> sessions_in_error(std::string const& project,
                                                                   std::uint32_t limit) override;
    [[nodiscard]] Result<std::optional<std::string>> project_of(SessionId session) override;
    [[nodiscard]] Result<std::optional<SessionId>> find_created(Bits128 const& create_key) override;

    [[nodiscard]] Result<std::vector<OutboxRow>> due_messages(std::string const& kind, Time until,
                                                              std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<DueMessage>> due_by_target(Time until,
                                                                std::string const& after,
                                                                std::uint32_t each,
                                                                std::uint32_t limit) override;
    [[nodiscard]] Result<std::optional<OutboxRow>> outbox_message(OutboxKey const& key) override;
    [[nodiscard]] Result<std::vector<OutboxRow>> list_messages(OutboxFilter const& filter) override;
    [[nodiscard]] Result<void> update_messages(std::span<OutboxUpdate const> updates) override;
    [[nodiscard]] Result<void> drop_delivered(Time until) override;
    [[nodiscard]] Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit) override;
    [[nodiscard]] Result<void> drop_given_up(Time until, std::uint32_t limit) override;
    [[nodiscard]] Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                            Generation generation) override;
    [[nodiscard]] Result<std::vector<SentRow>> sent(SessionId session, CallNo call,
                                                    Generation generation,
                                                    std::string const& target) override;

    [[nodiscard]] Result<std::optional<Bits128>> delivered(Bits128 const& key) override;
    [[nodiscard]] Result<std::optional<KeptRow>> kept_delivery(Bits128 const& key) override;
    [[nodiscard]] Result<std::vector<KeptRow>> kept(std::optional<KeptPlace> const& after,
                                                    std::uint32_t limit,
                                                    std::size_t max_bytes) override;
    [[nodiscard]] Result<void> keep(KeptRow const& row) override;
    [[nodiscard]] Result<void> drop_kept(std::span<Bits128 const> keys) override;
    [[nodiscard]] Result<void> drop_old_kept(Time until) override;

    [[nodiscard]] Result<std::vector<TokenRow>> tokens() override;
    [[nodiscard]] Result<void> change_tokens(TokenChange const& change) override;

    [[nodiscard]] Result<std::vector<DeviceRow>> devices() override;
    [[nodiscard]] Result<void> change_devices(DeviceChange const& change) override;

    [[nodiscard]] Result<std::vector<RuleRow>> rules() override;
    [[nodiscard]] Result<void> drop_rule(RuleDrop const& drop) override;

    [[nodiscard]] Result<std::vector<AuditRow>> audit(std::uint64_t after,
                                                      std::uint32_t limit) override;
    [[nodiscard]] Result<void> trim_audit(std::uint64_t through, std::string const& line) override;

    [[nodiscard]] Result<FeedPage> feed(Projects const& projects, std::uint64_t after,
                                        std::size_t max_bytes) override;
    [[nodiscard]] Result<std::uint64_t> feed_head() override;
    [[nodiscard]] Result<std::uint64_t> feed_limit() override;

    [[nodiscard]] Result<std::vector<SessionRow>> all_sessions(std::uint64_t after,
                                                               std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionHead>> heads(std::uint64_t after,
                                                         std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time at,
                                                                 std::uint32_t limit) override;
    [[nodiscard]] Result<std::uint64_t> session_bytes(SessionId session) override;
    [[nodiscard]] Result<std::vector<PendingRow>> pending_rows(SessionId session) override;
    [[nodiscard]] Result<std::vector<KeyRow>> key_rows(SessionId session) override;

private:
    DividedStore() = default;
    friend Self;

    [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace dormouse::port
