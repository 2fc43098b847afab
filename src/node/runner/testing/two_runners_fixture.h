#pragma once
// Two processes with one store, in a world that a test controls.

#include "runner/runner.h"
#include "runner/testing/observer.h"
#include "runner/testing/world.h"
#include "session/testing/given.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::runner::testing {

struct SharedServer {
    using Journal = TestJournal<store::MemoryStore, store::MemoryDisk, true>;

    SharedServer(TestLoop& loop, std::shared_ptr<store::MemoryDisk> const& disk,
                 std::uint64_t next_session)
        : loop(loop), journal(loop), nodes(loop, journal) {
        if (disk) journal.disk = disk;
        if (disk) journal.reopen();
        Options options;
        options.numbers.first = next_session;
        runner = std::make_unique<Runner>(
            Runner::Services{loop, clock, entropy, journal, nodes, effects, effects}, options,
            observer);
    }
    std::string ask(SessionId session, session::Command::Body body) {
        std::string out = "no answer";
        runner->command(session, std::move(body), {{session::ActorType::token, "ann"}},
                        [&out](Result<session::Answer> const& answer) {
                            out = session::testing::answer_of(session::Decision{{}, answer, {}});
                        });
        loop.run();
        return out;
    }

    TestLoop& loop;
    TestClock clock{loop};
    TestEntropy entropy;
    TestEffects effects;
    Journal journal;
    TestNodes<Journal> nodes;
    TestObserver observer;
    std::unique_ptr<Runner> runner;
};

class TwoRunners : public ::testing::Test {
protected:
    TwoRunners() : a(loop, nullptr, 1), b(loop, a.journal.disk, 1'000) {
        a.runner->start();
        b.runner->start();
    }
    ~TwoRunners() override {
        a.runner.reset();
        b.runner.reset();
    }

    // A session of A in which the model asked for these calls; their tools run in A.
    void begin(std::vector<session::CallSpec> calls) {
        a.runner->create({{}, "default", "demo", {}, {}, {}, {}, {}, {}},
                         {{session::ActorType::token, "ann"}},
                         [this](Result<Created> const& made) { session = made->session; });
        loop.run();
        ASSERT_EQ(a.ask(session, prompt()), "applied");
        a.effects.reply(std::move(calls));
        loop.run();
    }
    static session::Prompt prompt() {
        session::Prompt out;
        out.parts = session::testing::Given::parts("go");
        return out;
    }
    static session::Submit submit(PendingId const& pending, std::string value) {
        return {pending, session::testing::result(std::move(value)), "http", {}, {}, {}};
    }
    // Both servers scan.
    void scan() { loop.advance(Duration(1'000)); }
    [[nodiscard]] session::State stored() { return read_session(*b.journal.store, session)->state; }
    [[nodiscard]] Epoch driver() { return b.journal.store->load(session)->driver; }

    TestLoop loop;
    SharedServer a, b;
    SessionId session;
};

}  // namespace dormouse::runner::testing
