#pragma once
// The connections that read: each call borrows one that no other thread uses. All but the first
// are made when several threads read at the same time; while the database has no room for them,
// fewer read.

#include "store/postgres/reader/reader.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dormouse::store::postgres {

class Readers {
public:
    // The most that a process uses.
    static constexpr std::size_t most = 4;

    struct Options {
        std::int64_t lock = 0;
        Connection::Wait call_wait{};
        // The first session's connection holds the lock of owner.h. REQUIRES: it is the only one.
        bool sole = false;
    };
    // REQUIRES: there is a session.
    Readers(std::vector<Session> sessions, Options const& options);

    // A reader of this thread alone, as long as it lives.
    class Borrowed {
    public:
        Borrowed(std::unique_lock<std::mutex> lock, Reader& reader)
            : lock_(std::move(lock)), reader_(&reader) {}
        [[nodiscard]] Reader* operator->() const { return reader_; }
        [[nodiscard]] Reader& operator*() const { return *reader_; }

    private:
        std::unique_lock<std::mutex> lock_;
        Reader* reader_;
    };
    // Any thread. Waits while all are used.
    [[nodiscard]] Borrowed any();
    [[nodiscard]] std::size_t count() const { return places_.size(); }

private:
    struct Place {
        Place(Session session, Options const& options, std::atomic<std::int64_t>& timeline)
            : reader(std::move(session), options.lock, options.call_wait, options.sole, timeline) {}
        std::mutex mutex;
        Reader reader;
    };
    using Clock = std::chrono::steady_clock;

    // A further connection is tried this long, and not again within this time after it failed.
    static constexpr std::chrono::seconds connect_wait{2};
    static constexpr std::chrono::seconds retry_after{10};

    [[nodiscard]] bool may_connect() const;

    std::atomic<std::int64_t> timeline_ = 0;  // of the database, when others() was last called
    std::atomic<Clock::rep> refused_ = 0;     // when a further connection failed; 0: never
    std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace dormouse::store::postgres
