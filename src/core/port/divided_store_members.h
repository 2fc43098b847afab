#pragma once
// The members of DividedStore, for the file that instantiates them.

#include "port/divided_store.h"

namespace dormouse::port {

template <class Self> Result<Loaded> DividedStore<Self>::load(SessionId session) {
    return self().reading([&](auto& half) { return half.load(session); });
}

template <class Self>
Result<std::vector<NewestFrame>> DividedStore<Self>::newest(std::span<SessionId const> sessions) {
    return self().reading([&](auto& half) { return half.newest(sessions); });
}

template <class Self>
Result<std::vector<Frame>> DividedStore<Self>::page(SessionId session, Seq from,
                                                    std::size_t max_bytes) {
    return self().reading([&](auto& half) { return half.page(session, from, max_bytes); });
}

template <class Self>
Result<std::vector<Seq>> DividedStore<Self>::lookup(SessionId session,
                                                    std::span<std::string const> keys) {
    return self().reading([&](auto& half) { return half.lookup(session, keys); });
}

template <class Self>
Result<std::optional<PendingRow>> DividedStore<Self>::pending(SessionId session, CallNo call,
                                                              Generation generation) {
    return self().reading([&](auto& half) { return half.pending(session, call, generation); });
}

template <class Self>
Result<std::optional<std::string>> DividedStore<Self>::artifact(SessionId session, Seq seq) {
    return self().reading([&](auto& half) { return half.artifact(session, seq); });
}

template <class Self>
Result<std::optional<std::string>> DividedStore<Self>::artifact_piece(SessionId session, Seq seq,
                                                                      std::uint64_t offset,
                                                                      std::size_t count) {
    return self().reading(
        [&](auto& half) { return half.artifact_piece(session, seq, offset, count); });
}

template <class Self> Result<std::uint64_t> DividedStore<Self>::journal_bytes(SessionId session) {
    return self().reading([&](auto& half) { return half.journal_bytes(session); });
}

template <class Self>
Result<std::vector<std::int64_t>> DividedStore<Self>::day_sums(std::int64_t day,
                                                               std::span<std::string const> names) {
    return self().reading([&](auto& half) { return half.day_sums(day, names); });
}

template <class Self>
Result<std::int64_t> DividedStore<Self>::day_mark(std::int64_t day, std::string const& suffix) {
    return self().reading([&](auto& half) { return half.day_mark(day, suffix); });
}

template <class Self>
Result<std::vector<Due>> DividedStore<Self>::due(Time until, std::optional<Due> after,
                                                 std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.due(until, after, limit); });
}

template <class Self> Result<std::optional<Time>> DividedStore<Self>::next_due() {
    return self().reading([&](auto& half) { return half.next_due(); });
}

template <class Self>
Result<std::vector<PendingListed>> DividedStore<Self>::list_pending(PendingFilter const& filter) {
    return self().reading([&](auto& half) { return half.list_pending(filter); });
}

template <class Self> Result<OpenPending> DividedStore<Self>::open_pending(std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.open_pending(limit); });
}

template <class Self>
Result<std::uint64_t> DividedStore<Self>::count_waiting(std::string const& project,
                                                        std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.count_waiting(project, limit); });
}

template <class Self>
Result<std::vector<SessionId>> DividedStore<Self>::waiting_sessions(std::optional<SessionId> after,
                                                                    std::uint32_t calls) {
    return self().reading([&](auto& half) { return half.waiting_sessions(after, calls); });
}

template <class Self>
Result<std::vector<SessionRow>> DividedStore<Self>::sessions(std::string const& project,
                                                             std::uint64_t before,
                                                             std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.sessions(project, before, limit); });
}

template <class Self>
Result<std::vector<SessionRow>> DividedStore<Self>::aliases(std::string const& project,
                                                            std::string const& alias,
                                                            std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.aliases(project, alias, limit); });
}

template <class Self>
Result<std::vector<std::string>> DividedStore<Self>::projects(std::string const& after,
                                                              std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.projects(after, limit); });
}

template <class Self>
Result<SessionCounts> DividedStore<Self>::session_counts(std::string const& project,
                                                         std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.session_counts(project, limit); });
}

template <class Self>
Result<std::vector<SessionId>> DividedStore<Self>::sessions_in_error(std::string const& project,
                                                                     std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.sessions_in_error(project, limit); });
}

template <class Self>
Result<std::optional<std::string>> DividedStore<Self>::project_of(SessionId session) {
    return self().reading([&](auto& half) { return half.project_of(session); });
}

template <class Self>
Result<std::optional<SessionId>> DividedStore<Self>::find_created(Bits128 const& create_key) {
    return self().reading([&](auto& half) { return half.find_created(create_key); });
}

template <class Self>
Result<std::vector<OutboxRow>> DividedStore<Self>::due_messages(std::string const& kind, Time until,
                                                                std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.due_messages(kind, until, limit); });
}

template <class Self>
Result<std::vector<DueMessage>> DividedStore<Self>::due_by_target(Time until,
                                                                  std::string const& after,
                                                                  std::uint32_t each,
                                                                  std::uint32_t limit) {
    return self().reading(
        [&](auto& half) { return half.due_by_target(until, after, each, limit); });
}

template <class Self>
Result<std::optional<OutboxRow>> DividedStore<Self>::outbox_message(OutboxKey const& key) {
    return self().reading([&](auto& half) { return half.outbox_message(key); });
}

template <class Self>
Result<std::vector<OutboxRow>> DividedStore<Self>::list_messages(OutboxFilter const& filter) {
    return self().reading([&](auto& half) { return half.list_messages(filter); });
}

template <class Self>
Result<void> DividedStore<Self>::update_messages(std::span<OutboxUpdate const> updates) {
    return self().writing([&](auto& half) { return half.update_messages(updates); });
}

template <class Self> Result<void> DividedStore<Self>::drop_delivered(Time until) {
    return self().writing([&](auto& half) { return half.drop_delivered(until); });
}

template <class Self>
Result<std::uint64_t> DividedStore<Self>::count_given_up(Time until, std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.count_given_up(until, limit); });
}

template <class Self>
Result<void> DividedStore<Self>::drop_given_up(Time until, std::uint32_t limit) {
    return self().writing([&](auto& half) { return half.drop_given_up(until, limit); });
}

template <class Self>
Result<std::optional<std::string>> DividedStore<Self>::secret(SessionId session, CallNo call,
                                                              Generation generation) {
    return self().reading([&](auto& half) { return half.secret(session, call, generation); });
}

template <class Self>
Result<std::vector<SentRow>> DividedStore<Self>::sent(SessionId session, CallNo call,
                                                      Generation generation,
                                                      std::string const& target) {
    return self().reading([&](auto& half) { return half.sent(session, call, generation, target); });
}

template <class Self>
Result<std::optional<Bits128>> DividedStore<Self>::delivered(Bits128 const& key) {
    return self().reading([&](auto& half) { return half.delivered(key); });
}

template <class Self>
Result<std::optional<KeptRow>> DividedStore<Self>::kept_delivery(Bits128 const& key) {
    return self().reading([&](auto& half) { return half.kept_delivery(key); });
}

template <class Self>
Result<std::vector<KeptRow>> DividedStore<Self>::kept(std::optional<KeptPlace> const& after,
                                                      std::uint32_t limit, std::size_t max_bytes) {
    return self().reading([&](auto& half) { return half.kept(after, limit, max_bytes); });
}

template <class Self> Result<void> DividedStore<Self>::keep(KeptRow const& row) {
    return self().writing([&](auto& half) { return half.keep(row); });
}

template <class Self> Result<void> DividedStore<Self>::drop_kept(std::span<Bits128 const> keys) {
    return self().writing([&](auto& half) { return half.drop_kept(keys); });
}

template <class Self> Result<void> DividedStore<Self>::drop_old_kept(Time until) {
    return self().writing([&](auto& half) { return half.drop_old_kept(until); });
}

template <class Self> Result<std::vector<TokenRow>> DividedStore<Self>::tokens() {
    return self().reading([&](auto& half) { return half.tokens(); });
}

template <class Self> Result<void> DividedStore<Self>::change_tokens(TokenChange const& change) {
    return self().writing([&](auto& half) { return half.change_tokens(change); });
}

template <class Self> Result<std::vector<DeviceRow>> DividedStore<Self>::devices() {
    return self().reading([&](auto& half) { return half.devices(); });
}

template <class Self> Result<void> DividedStore<Self>::change_devices(DeviceChange const& change) {
    return self().writing([&](auto& half) { return half.change_devices(change); });
}

template <class Self> Result<std::vector<RuleRow>> DividedStore<Self>::rules() {
    return self().reading([&](auto& half) { return half.rules(); });
}

template <class Self> Result<void> DividedStore<Self>::drop_rule(RuleDrop const& drop) {
    return self().writing([&](auto& half) { return half.drop_rule(drop); });
}

template <class Self>
Result<std::vector<AuditRow>> DividedStore<Self>::audit(std::uint64_t after, std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.audit(after, limit); });
}

template <class Self>
Result<void> DividedStore<Self>::trim_audit(std::uint64_t through, std::string const& line) {
    return self().writing([&](auto& half) { return half.trim_audit(through, line); });
}

template <class Self>
Result<FeedPage> DividedStore<Self>::feed(Projects const& projects, std::uint64_t after,
                                          std::size_t max_bytes) {
    return self().reading([&](auto& half) { return half.feed(projects, after, max_bytes); });
}

template <class Self> Result<std::uint64_t> DividedStore<Self>::feed_head() {
    return self().reading([&](auto& half) { return half.feed_head(); });
}

template <class Self> Result<std::uint64_t> DividedStore<Self>::feed_limit() {
    return self().reading([&](auto& half) { return half.feed_limit(); });
}

template <class Self>
Result<std::vector<SessionRow>> DividedStore<Self>::all_sessions(std::uint64_t after,
                                                                 std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.all_sessions(after, limit); });
}

template <class Self>
Result<std::vector<SessionHead>> DividedStore<Self>::heads(std::uint64_t after,
                                                           std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.heads(after, limit); });
}

template <class Self>
Result<std::vector<SessionId>> DividedStore<Self>::completed_until(Time at, std::uint32_t limit) {
    return self().reading([&](auto& half) { return half.completed_until(at, limit); });
}

template <class Self> Result<std::uint64_t> DividedStore<Self>::session_bytes(SessionId session) {
    return self().reading([&](auto& half) { return half.session_bytes(session); });
}

template <class Self>
Result<std::vector<PendingRow>> DividedStore<Self>::pending_rows(SessionId session) {
    return self().reading([&](auto& half) { return half.pending_rows(session); });
}

template <class Self> Result<std::vector<KeyRow>> DividedStore<Self>::key_rows(SessionId session) {
    return self().reading([&](auto& half) { return half.key_rows(session); });
}

}  // namespace dormouse::port
