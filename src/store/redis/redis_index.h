#pragma once
// The index as sets of Redis, for programs that look calls up there:
//   {prefix}pending:by-session:{sessionID}   set of pendingIDs
//   {prefix}pending:by-status:{status}       set of pendingIDs
//   {prefix}pending:expiration               sorted set: pendingID by its deadline in ms
//   {prefix}pending:position                 the place in the feed, for Dormouse
// A batch and its position are one transaction. Blocks, each step for a second at most.

#include "port/index.h"
#include "store/redis/connection.h"

#include <string>
#include <vector>

namespace dormouse::store {

class RedisIndex final : public port::Index {
public:
    explicit RedisIndex(redis::Address address)
        : prefix_(address.prefix + "pending:"), connection_(std::move(address)) {}

    [[nodiscard]] std::string_view name() const override { return "redis"; }
    [[nodiscard]] Result<std::string> open() override;
    [[nodiscard]] Result<void> begin_rebuild() override;
    [[nodiscard]] Result<void> apply(port::IndexBatch const& batch) override;
    [[nodiscard]] Result<void> flush() override { return {}; }
    [[nodiscard]] std::optional<Duration> flush_within() const override { return std::nullopt; }

private:
    [[nodiscard]] std::string key(std::string_view name) const {
        return prefix_ + std::string(name);
    }
    [[nodiscard]] std::string status_key(port::PendingStatus status) const;
    [[nodiscard]] std::string session_key(SessionId const& session) const;
    [[nodiscard]] Result<void> remove_sessions();
    [[nodiscard]] Result<void> watch_position();
    // The ids of calls of deleted sessions, in their order.
    [[nodiscard]] Result<std::vector<redis::Command>> removals(
        std::vector<port::DeletedSession> const& deleted);
    [[nodiscard]] std::vector<redis::Command> changes(
        std::vector<port::CallDocument> const& calls) const;
    [[nodiscard]] Result<void> execute(std::vector<redis::Command> commands);

    std::string const prefix_;
    redis::Connection connection_;
    std::string position_ = {};  // the stored one; empty: none
};

}  // namespace dormouse::store
