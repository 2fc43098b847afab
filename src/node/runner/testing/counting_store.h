#pragma once
// A store that counts what is read of journals. What it answers is what `Inner` says.

#include "port/store.h"

#include <memory>
#include <utility>

namespace dormouse::runner::testing {

template <class Inner, class Disk> class CountingStore final : public port::Store {
public:
    explicit CountingStore(std::shared_ptr<Disk> disk) : store_(std::move(disk)) {}

    std::size_t frames_read = 0;
    std::size_t bytes_read = 0;

    [[nodiscard]] Result<port::Loaded> load(SessionId session) override {
        auto loaded = store_.load(session);
        if (loaded) count(loaded->tail);
        return loaded;
    }
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes) override {
        auto frames = store_.page(session, from, max_bytes);
        if (frames) count(*frames);
        return frames;
    }

    [[nodiscard]] Epoch epoch() const override { return store_.epoch(); }
    [[nodiscard]] std::uint64_t next_session_number() override {
        return store_.next_session_number();
    }
    [[nodiscard]] std::vector<Result<void>> commit(std::span<port::Append const> appends) override {
        return store_.commit(appends);
    }
    [[nodiscard]] Result<void> update_posts(std::span<port::PostUpdate const> updates) override {
        return store_.update_posts(updates);
    }
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys) override {
        return store_.lookup(session, keys);
    }
    [[nodiscard]] Result<std::optional<port::PendingRow>> pending(SessionId session, CallNo call,
                                                                  Generation generation) override {
        return store_.pending(session, call, generation);
    }
    [[nodiscard]] Result<std::vector<port::Due>> due(Time until, std::optional<port::Due> after,
                                                     std::uint32_t limit) override {
        return store_.due(until, after, limit);
    }
    [[nodiscard]] Result<std::optional<Time>> next_due() override { return store_.next_due(); }
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId> after,
                                                                  std::uint32_t calls) override {
        return store_.waiting_sessions(after, calls);
    }
    [[nodiscard]] Result<port::OpenPending> open_pending(std::uint32_t limit) override {
        return store_.open_pending(limit);
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> sessions(std::string const& project,
                                                                 std::uint64_t before,
                                                                 std::uint32_t limit) override {
        return store_.sessions(project, before, limit);
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> all_sessions(std::uint64_t after,
                                                                     std::uint32_t limit) override {
        return store_.all_sessions(after, limit);
    }
    [[nodiscard]] Result<std::vector<port::SessionRow>> aliases(std::string const& project,
                                                                std::string const& alias,
                                                                std::uint32_t limit) override {
        return store_.aliases(project, alias, limit);
    }
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time at,
                                                                 std::uint32_t limit) override {
        return store_.completed_until(at, limit);
    }
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter) override {
        return store_.list_pending(filter);
    }
    [[nodiscard]] Result<std::vector<port::PendingRow>> pending_rows(SessionId session) override {
        return store_.pending_rows(session);
    }
    [[nodiscard]] Result<std::vector<port::KeyRow>> key_rows(SessionId session) override {
        return store_.key_rows(session);
    }
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq) override {
        return store_.artifact(session, seq);
    }
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count) override {
        return store_.artifact_piece(session, seq, offset, count);
    }
    [[nodiscard]] Result<port::FeedPage> feed(std::string const& project, std::uint64_t after,
                                              std::size_t max_bytes) override {
        return store_.feed(project, after, max_bytes);
    }
    [[nodiscard]] Result<std::uint64_t> feed_head() override { return store_.feed_head(); }
    [[nodiscard]] Result<std::optional<SessionId>> find_created(Bits128 const& key) override {
        return store_.find_created(key);
    }
    [[nodiscard]] Result<std::vector<port::PostRow>> due_posts(std::string const& kind, Time until,
                                                               std::uint32_t limit) override {
        return store_.due_posts(kind, until, limit);
    }
    [[nodiscard]] Result<std::optional<port::PostRow>> post(port::PostKey const& key) override {
        return store_.post(key);
    }
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const& change) override {
        return store_.change_tokens(change);
    }
    [[nodiscard]] Result<std::vector<port::TokenRow>> tokens() override { return store_.tokens(); }
    [[nodiscard]] Result<std::vector<port::AuditRow>> audit(std::uint64_t after,
                                                            std::uint32_t limit) override {
        return store_.audit(after, limit);
    }
    [[nodiscard]] Result<void> ping() override { return store_.ping(); }

private:
    void count(std::vector<port::Frame> const& frames) {
        frames_read += frames.size();
        for (port::Frame const& frame : frames) bytes_read += frame.bytes.size();
    }

    Inner store_;
};

}  // namespace dormouse::runner::testing
