#pragma once
// A store whose reads sometimes fail. Successful reads return what the underlying store returns.

#include "port/store.h"

#include <functional>

namespace dormouse::sim {

class FlakyStore final : public port::Store {
public:
    // `store` must outlive this object. `fails` is called once for each read.
    FlakyStore(port::Store& store, std::function<bool()> fails)
        : store_(store), fails_(std::move(fails)) {}

    [[nodiscard]] Epoch epoch() const override { return store_.epoch(); }
    [[nodiscard]] bool shared() const override { return store_.shared(); }
    [[nodiscard]] std::size_t readers() const override { return store_.readers(); }
    [[nodiscard]] std::uint64_t next_session_number() override {
        return store_.next_session_number();
    }
    // REQUIRES: the reader does not commit.
    [[nodiscard]] std::vector<port::AppendResult> commit(
        std::span<port::Append const> appends) override {
        return {appends.size(), fail(Code::internal, "a reader does not commit")};
    }

    [[nodiscard]] Result<port::Loaded> load(SessionId session) override {
        return ask([&] { return store_.load(session); });
    }
    [[nodiscard]] Result<std::vector<port::NewestFrame>> newest(
        std::span<SessionId const> sessions) override {
        return ask([&] { return store_.newest(sessions); });
    }
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes) override {
        return ask([&] { return store_.page(session, from, max_bytes); });
    }
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys) override {
        return ask([&] { return store_.lookup(session, keys); });
    }
    [[nodiscard]] Result<std::vector<std::int64_t>> day_sums(
        std::int64_t day, std::span<std::string const> names) override {
        return ask([&] { return store_.day_sums(day, names); });
    }
    [[nodiscard]] Result<std::optional<port::PendingRow>> pending(SessionId session, CallNo call,
                                                                  Generation generation) override {
        return ask([&] { return store_.pending(session, call, generation); });
    }
    [[nodiscard]] Result<std::vector<port::Due>> due(Time until, std::optional<port::Due> after,
                                                     std::uint32_t limit) override {
        return ask([&] { return store_.due(until, after, limit); });
    }
    [[nodiscard]] Result<std::optional<Time>> next_due() override {
        return ask([&] { return store_.next_due(); });
    }
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId> after,
                                                                  std::uint32_t calls) override {
        return ask([&] { return store_.waiting_sessions(after, calls); });
    }
    [[nodiscard]] Result<std::vector<SessionId>> sessions_in_error(std::string const& project,
                                                                   std::uint32_t limit) override {
        return ask([&] { return store_.sessions_in_error(project, limit); });
    }
    [[nodiscard]] Result<std::uint64_t> count_waiting(std::string const& project,
                                                      std::uint32_t limit) override {
        return ask([&] { return store_.count_waiting(project, limit); });
    }
    [[nodiscard]] Result<port::OpenPending> open_pending(std::uint32_t limit) override {
        return ask([&] { return store_.open_pending(limit); });
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> sessions(std::string const& project,
                                                                 std::uint64_t before,
                                                                 std::uint32_t limit) override {
        return ask([&] { return store_.sessions(project, before, limit); });
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> all_sessions(std::uint64_t after,
                                                                     std::uint32_t limit) override {
        return ask([&] { return store_.all_sessions(after, limit); });
    }
    [[nodiscard]] Result<std::vector<std::string>> projects(std::string const& after,
                                                            std::uint32_t limit) override {
        return ask([&] { return store_.projects(after, limit); });
    }
    [[nodiscard]] Result<port::SessionCounts> session_counts(std::string const& project,
                                                             std::uint32_t limit) override {
        return ask([&] { return store_.session_counts(project, limit); });
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> aliases(std::string const& project,
                                                                std::string const& alias,
                                                                std::uint32_t limit) override {
        return ask([&] { return store_.aliases(project, alias, limit); });
    }
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time at,
                                                                 std::uint32_t limit) override {
        return ask([&] { return store_.completed_until(at, limit); });
    }
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter) override {
        return ask([&] { return store_.list_pending(filter); });
    }
    [[nodiscard]] Result<std::vector<port::PendingRow>> pending_rows(SessionId session) override {
        return ask([&] { return store_.pending_rows(session); });
    }
    [[nodiscard]] Result<std::vector<port::KeyRow>> key_rows(SessionId session) override {
        return ask([&] { return store_.key_rows(session); });
    }
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq) override {
        return ask([&] { return store_.artifact(session, seq); });
    }
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count) override {
        return ask([&] { return store_.artifact_piece(session, seq, offset, count); });
    }
    [[nodiscard]] Result<port::FeedPage> feed(port::Projects const& projects, std::uint64_t after,
                                              std::size_t max_bytes) override {
        return ask([&] { return store_.feed(projects, after, max_bytes); });
    }
    [[nodiscard]] Result<std::uint64_t> feed_head() override {
        return ask([&] { return store_.feed_head(); });
    }
    [[nodiscard]] Result<std::optional<SessionId>> find_created(Bits128 const& key) override {
        return ask([&] { return store_.find_created(key); });
    }
    [[nodiscard]] Result<std::vector<port::OutboxRow>> due_messages(std::string const& kind,
                                                                    Time until,
                                                                    std::uint32_t limit) override {
        return ask([&] { return store_.due_messages(kind, until, limit); });
    }
    [[nodiscard]] Result<std::optional<port::OutboxRow>> post(port::OutboxKey const& key) override {
        return ask([&] { return store_.post(key); });
    }
    [[nodiscard]] Result<std::vector<port::TokenRow>> tokens() override {
        return ask([&] { return store_.tokens(); });
    }
    [[nodiscard]] Result<std::vector<port::DeviceRow>> devices() override {
        return ask([&] { return store_.devices(); });
    }
    [[nodiscard]] Result<std::vector<port::RuleRow>> rules() override {
        return ask([&] { return store_.rules(); });
    }
    [[nodiscard]] Result<std::vector<port::AuditRow>> audit(std::uint64_t after,
                                                            std::uint32_t limit) override {
        return ask([&] { return store_.audit(after, limit); });
    }
    [[nodiscard]] Result<void> ping() override {
        return ask([&] { return store_.ping(); });
    }
    [[nodiscard]] Result<std::vector<port::SessionHead>> heads(std::uint64_t after,
                                                               std::uint32_t limit) override {
        return ask([&] { return store_.heads(after, limit); });
    }
    [[nodiscard]] Result<std::uint64_t> session_bytes(SessionId session) override {
        return ask([&] { return store_.session_bytes(session); });
    }
    [[nodiscard]] Result<std::uint64_t> journal_bytes(SessionId session) override {
        return ask([&] { return store_.journal_bytes(session); });
    }
    [[nodiscard]] Result<std::vector<port::DueMessage>> due_by_target(
        Time until, std::string const& after, std::uint32_t each, std::uint32_t limit) override {
        return ask([&] { return store_.due_by_target(until, after, each, limit); });
    }
    [[nodiscard]] Result<std::vector<port::OutboxRow>> list_messages(
        port::OutboxFilter const& filter) override {
        return ask([&] { return store_.list_messages(filter); });
    }
    [[nodiscard]] Result<std::optional<std::string>> project_of(SessionId session) override {
        return ask([&] { return store_.project_of(session); });
    }
    [[nodiscard]] Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit) override {
        return ask([&] { return store_.count_given_up(until, limit); });
    }
    [[nodiscard]] Result<std::vector<port::SentRow>> sent(SessionId session, CallNo call,
                                                          Generation generation,
                                                          std::string const& target) override {
        return ask([&] { return store_.sent(session, call, generation, target); });
    }
    [[nodiscard]] Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                            Generation generation) override {
        return ask([&] { return store_.secret(session, call, generation); });
    }
    [[nodiscard]] Result<std::optional<Bits128>> delivered(Bits128 const& key) override {
        return ask([&] { return store_.delivered(key); });
    }
    [[nodiscard]] Result<std::vector<port::KeptRow>> kept(std::uint32_t limit) override {
        return ask([&] { return store_.kept(limit); });
    }
    // REQUIRES for the members below: the reader does not write.
    [[nodiscard]] Result<void> drop_delivered(Time) override { return read_only(); }
    [[nodiscard]] Result<void> drop_given_up(Time, std::uint32_t) override { return read_only(); }
    [[nodiscard]] Result<void> keep(port::KeptRow const&) override { return read_only(); }
    [[nodiscard]] Result<void> drop_kept(std::span<Bits128 const>) override { return read_only(); }
    [[nodiscard]] Result<void> trim_audit(std::uint64_t, std::string const&) override {
        return read_only();
    }
    [[nodiscard]] Result<void> update_messages(std::span<port::OutboxUpdate const>) override {
        return read_only();
    }
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const&) override {
        return read_only();
    }
    [[nodiscard]] Result<void> change_devices(port::DeviceChange const&) override {
        return read_only();
    }
    [[nodiscard]] Result<void> drop_rule(port::RuleDrop const&) override { return read_only(); }

private:
    static Result<void> read_only() { return fail(Code::internal, "a reader does not write"); }
    template <class Question> [[nodiscard]] auto ask(Question question) -> decltype(question()) {
        if (fails_()) return fail(Code::store_unavailable, "the simulated store does not answer");
        return question();
    }

    port::Store& store_;
    std::function<bool()> fails_;
};

}  // namespace dormouse::sim
