#pragma once
// A pump with one thread and virtual time: what its tests share.

#include "webhook/pump.h"

#include "runner/testing/world.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace dormouse::webhook {

using port::OutboxState;

using runner::testing::TestClock;
using runner::testing::TestEntropy;
using runner::testing::TestLoop;

// Keeps requests until the test answers them.
class HeldHttp final : public port::HttpClient {
public:
    port::HttpId start(port::HttpRequest request, port::HttpCallbacks callbacks) override {
        ++started;
        open.emplace_back(std::move(request), std::move(callbacks));
        return started;
    }
    void cancel(port::HttpId /*id*/) override {}

    // Answers all open requests to `url`, or all.
    void answer(std::uint16_t status, std::vector<port::HttpHeader> headers = {}) {
        for (auto& [request, callbacks] : std::exchange(open, {})) {
            port::HttpHead head;
            head.status = status;
            head.headers = headers;
            if (callbacks.head) callbacks.head(std::move(head));
            callbacks.done(std::nullopt);
        }
    }

    port::HttpId started = 0;
    std::vector<std::pair<port::HttpRequest, port::HttpCallbacks>> open;
};

class NoProcesses final : public port::Processes {
public:
    Number start(port::ProcessSpec /*spec*/, port::Fn<void(port::ProcessEnd)> /*done*/) override {
        ADD_FAILURE() << "no test here starts a process";
        return 0;
    }
    void stop(Number /*process*/) override {}
    void write(Number /*process*/, std::string_view /*bytes*/) override {}
    void end(Number /*process*/) override {}
    void kill(Number /*process*/) override {}
    void rest(Number /*process*/, port::Fn<void()> /*give_way*/) override {}
    void work(Number /*process*/) override {}
};

// A store whose writes fail while `failing`.
class TestJournal final : public port::Journal {
public:
    explicit TestJournal(TestLoop& loop) : loop_(loop) {}
    void commit(std::vector<port::Append> appends,
                port::Fn<void(std::vector<port::AppendResult>)> done) override {
        done(store.commit(appends));
    }
    void write(port::Fn<Result<void>(port::Store&)> work,
               port::Fn<void(Result<void>)> done) override {
        loop_.post([this, work = std::move(work), done = std::move(done)]() mutable {
            if (failing) return done(fail(Code::store_unavailable, "planted"));
            done(work(store));
        });
    }
    void read(port::ReadKey /*key*/, port::Fn<void(port::Store&)> work,
              port::Fn<void()> done) override {
        loop_.post([this, work = std::move(work), done = std::move(done)]() mutable {
            work(store);
            done();
        });
    }

    // Stores one row of the session's event `head`.
    void append(SessionId const& session, Seq head, port::OutboxRow row, Time now) {
        port::Append append;
        append.session = session;
        append.epoch = 1;
        append.after = head - 1;
        append.frame = {head, 1, "[]"};
        append.row = port::SessionRow{session, "default", "a", "", "", "active", {}, {}};
        row.key = {session, head, 0};
        row.kind = webhook_kind;
        row.created = row.next_at = now;
        append.outbox.push_back(std::move(row));
        ASSERT_TRUE(store.commit({&append, 1})[0]);
    }

    bool failing = false;
    std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>();
    store::MemoryStore store{disk};

private:
    TestLoop& loop_;
};

}  // namespace dormouse::webhook
