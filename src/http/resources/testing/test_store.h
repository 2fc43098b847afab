#pragma once
// For tests: the smallest store that a runner can work on, kept in maps. One thread.

#include "port/store.h"

#include <algorithm>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::server {

struct TestDisk {
    struct Kept {
        port::SessionRow row;
        std::vector<port::Frame> frames;
        std::optional<Time> wake_at;
        std::map<std::pair<CallNo, Generation>, port::PendingRow> pending;
        std::map<std::string, Seq> keys;
        std::map<Seq, std::shared_ptr<std::string const>> artifacts;
    };
    std::map<SessionId, Kept> sessions;
    std::map<Bits128, SessionId> created;
    std::map<port::PostKey, port::PostRow> posts;
    std::map<std::string, port::TokenRow> tokens;
    bool takes_tokens = true;  // else a change of them fails
    Epoch epoch = 0;
};

class TestStore final : public port::Store {
public:
    explicit TestStore(std::shared_ptr<TestDisk> disk) : disk_(std::move(disk)) { ++disk_->epoch; }

    [[nodiscard]] Epoch epoch() const override { return disk_->epoch; }
    [[nodiscard]] std::uint64_t next_session_number() override {
        return disk_->sessions.size() + 1;
    }

    [[nodiscard]] std::vector<Result<void>> commit(std::span<port::Append const> appends) override {
        for (port::Append const& append : appends) take(append);
        return std::vector<Result<void>>(appends.size());
    }
    [[nodiscard]] Result<void> update_posts(std::span<port::PostUpdate const> updates) override {
        for (port::PostUpdate const& update : updates)
            if (update.gone) disk_->posts.erase(update.key);
        return {};
    }
    [[nodiscard]] Result<port::Loaded> load(SessionId session) override {
        port::Loaded out;
        if (auto const* kept = find(session)) {
            out.row = kept->row;
            out.tail = kept->frames;
        }
        return out;
    }
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes) override {
        std::vector<port::Frame> out;
        auto const* kept = find(session);
        std::size_t bytes = 0;
        for (port::Frame const& frame : kept ? kept->frames : std::vector<port::Frame>()) {
            if (frame.first + frame.count <= from || bytes >= max_bytes) continue;
            bytes += frame.bytes.size();
            bytes_read += frame.bytes.size();
            out.push_back(frame);
        }
        return out;
    }
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys) override {
        std::vector<Seq> out;
        auto const* kept = find(session);
        for (std::string const& key : keys) {
            out.push_back(kept && kept->keys.contains(key) ? kept->keys.at(key) : 0);
        }
        return out;
    }
    [[nodiscard]] Result<std::optional<port::PendingRow>> pending(SessionId session, CallNo call,
                                                                  Generation generation) override {
        auto const* kept = find(session);
        if (!kept || !kept->pending.contains({call, generation})) return std::nullopt;
        return kept->pending.at({call, generation});
    }
    [[nodiscard]] Result<std::vector<port::Due>> due(Time until, std::optional<port::Due>,
                                                     std::uint32_t) override {
        std::vector<port::Due> out;
        for (auto const& [id, kept] : disk_->sessions) {
            if (kept.wake_at && *kept.wake_at <= until) out.push_back({*kept.wake_at, id});
        }
        return out;
    }
    [[nodiscard]] Result<std::optional<Time>> next_due() override { return std::nullopt; }
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId>,
                                                                  std::uint32_t) override {
        std::vector<SessionId> out;
        for (auto const& [id, kept] : disk_->sessions) {
            for (auto const& [key, row] : kept.pending) {
                bool const known = !out.empty() && out.back() == id;
                if (row.status == port::PendingStatus::waiting && !known) out.push_back(id);
            }
        }
        return out;
    }
    [[nodiscard]] Result<port::OpenPending> open_pending(std::uint32_t) override {
        return port::OpenPending{};
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> sessions(std::string const& project,
                                                                 std::uint64_t,
                                                                 std::uint32_t) override {
        std::vector<port::SessionRow> out;
        for (auto const& [id, kept] : disk_->sessions) {
            if (kept.row.project == project && kept.row.status != "deleted")
                out.push_back(kept.row);
        }
        return out;
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> all_sessions(std::uint64_t,
                                                                     std::uint32_t) override {
        return std::vector<port::SessionRow>();
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> aliases(std::string const& project,
                                                                std::string const& alias,
                                                                std::uint32_t) override {
        std::vector<port::SessionRow> out;
        for (auto const& [id, kept] : disk_->sessions) {
            bool const live = kept.row.status != "deleted" && kept.row.status != "completed";
            bool const fits = alias.empty() ? !kept.row.alias.empty() : kept.row.alias == alias;
            if (live && fits && kept.row.project == project) out.push_back(kept.row);
        }
        return out;
    }
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time, std::uint32_t) override {
        return std::vector<SessionId>();
    }
    // By the externalRef only.
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter) override {
        if (filter.session) return pending_of(*filter.session, filter);
        std::vector<port::PendingListed> out;
        for (auto const& [id, kept] : disk_->sessions) {
            for (auto const& [key, row] : kept.pending) {
                bool const asked =
                    !filter.external_ref.empty() && row.external_ref == filter.external_ref &&
                    std::ranges::find(filter.statuses, row.status) != filter.statuses.end();
                if (asked) out.push_back({.session = id, .row = row});
            }
        }
        return out;
    }
    [[nodiscard]] Result<std::vector<port::PendingRow>> pending_rows(SessionId) override {
        return std::vector<port::PendingRow>();
    }
    [[nodiscard]] Result<std::vector<port::KeyRow>> key_rows(SessionId) override {
        return std::vector<port::KeyRow>();
    }
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq) override {
        auto const* kept = find(session);
        if (!kept || !kept->artifacts.contains(seq)) return std::nullopt;
        return *kept->artifacts.at(seq);
    }
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count) override {
        auto const* kept = find(session);
        if (!kept || !kept->artifacts.contains(seq)) return std::nullopt;
        std::string const& bytes = *kept->artifacts.at(seq);
        return offset < bytes.size() ? bytes.substr(offset, count) : std::string();
    }
    [[nodiscard]] Result<port::FeedPage> feed(std::string const&, std::uint64_t,
                                              std::size_t) override {
        return port::FeedPage{};
    }
    [[nodiscard]] Result<std::uint64_t> feed_head() override { return 0; }
    [[nodiscard]] Result<std::optional<SessionId>> find_created(Bits128 const& key) override {
        auto const found = disk_->created.find(key);
        return found == disk_->created.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] Result<std::vector<port::PostRow>> due_posts(std::string const&, Time,
                                                               std::uint32_t) override {
        std::vector<port::PostRow> out;
        for (auto const& [key, row] : disk_->posts) out.push_back(row);
        return out;
    }
    [[nodiscard]] Result<std::optional<port::PostRow>> post(port::PostKey const& key) override {
        auto const found = disk_->posts.find(key);
        return found == disk_->posts.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const& change) override {
        if (!disk_->takes_tokens) return fail(Code::store_full, "the disk is full");
        if (!change.drop.empty() && disk_->tokens.erase(change.drop) == 0)
            return fail(Code::conflict, "no such token");
        if (change.put) disk_->tokens[change.put->id] = *change.put;
        return {};
    }
    [[nodiscard]] Result<std::vector<port::TokenRow>> tokens() override {
        return std::vector<port::TokenRow>();
    }
    [[nodiscard]] Result<std::vector<port::AuditRow>> audit(std::uint64_t, std::uint32_t) override {
        return std::vector<port::AuditRow>();
    }
    [[nodiscard]] Result<void> ping() override { return {}; }

    std::size_t bytes_read = 0;  // by page()

private:
    // Newest first, as a page of a list.
    std::vector<port::PendingListed> pending_of(SessionId session,
                                                port::PendingFilter const& filter) const {
        std::vector<port::PendingListed> out;
        auto const* const kept = find(session);
        if (!kept) return out;
        for (auto const& [key, row] : std::views::reverse(kept->pending)) {
            bool const before =
                !filter.before || std::pair(row.call, row.generation) <
                                      std::pair(filter.before->call, filter.before->generation);
            bool const asked =
                filter.statuses.empty() ||
                std::ranges::find(filter.statuses, row.status) != filter.statuses.end();
            if (before && asked && out.size() < filter.limit)
                out.push_back({.session = session, .row = row});
        }
        return out;
    }
    TestDisk::Kept const* find(SessionId session) const {
        auto const found = disk_->sessions.find(session);
        return found == disk_->sessions.end() ? nullptr : &found->second;
    }
    void take(port::Append const& append) {
        TestDisk::Kept& kept = disk_->sessions[append.session];
        if (append.row) kept.row = *append.row;
        if (append.create_key) disk_->created[*append.create_key] = append.session;
        for (auto const& row : append.posts) disk_->posts.emplace(row.key, row);
        for (auto const& key : append.taken) disk_->posts.erase(key);
        if (append.erase) {
            kept = {kept.row, {}, {}, {}, {}, {}};
            return;
        }
        kept.frames.push_back(append.frame);
        if (append.wake_changed) kept.wake_at = append.wake_at;
        for (auto const& row : append.pending) kept.pending[{row.call, row.generation}] = row;
        for (auto const& row : append.keys) kept.keys[row.key] = row.seq;
        for (auto const& row : append.artifacts) kept.artifacts[row.seq] = row.bytes;
    }

    std::shared_ptr<TestDisk> const disk_;
};

}  // namespace dormouse::server
