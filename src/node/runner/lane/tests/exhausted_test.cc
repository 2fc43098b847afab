// A step that runs out of memory fails alone: its session and all others continue.

#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

#include <new>

namespace dormouse::runner::testing {
namespace {

using namespace session;

class Exhausted : public RunnerTestOn<TestJournal<store::MemoryStore, store::MemoryDisk>> {};

TEST_F(Exhausted, Reader_OutOfMemory_SessionContinues) {
    SessionId const session = new_session();
    int readers = 0;
    runner->read_lane(session,
                      [](Result<std::shared_ptr<Lane>> const&) { throw std::bad_alloc(); });
    runner->read_lane(session, [&](Result<std::shared_ptr<Lane>> lane) {
        if (lane) ++readers;
    });
    loop.run();
    EXPECT_EQ(readers, 1) << "later readers are answered";
    EXPECT_EQ(ask(session, prompt("please")), "applied");
}

TEST_F(Exhausted, Answer_OutOfMemory_CommandIsKept) {
    SessionId const session = new_session();
    runner->command(session, prompt("please"), ann(),
                    [](Result<Answer> const&) { throw std::bad_alloc(); });
    loop.run();
    EXPECT_EQ(stored(session).turns, 1u);
    EXPECT_EQ(effects.requests.size(), 1u);
    effects.reply();
    loop.run();
    EXPECT_FALSE(stored(session).turn);
}

TEST_F(Exhausted, AppendReport_OutOfMemory_SessionIsReadAgain) {
    SessionId const session = new_session();
    bool fails = true;
    observer.on_append = [&](Lane const&, std::vector<wire::RecordPtr> const&) {
        if (std::exchange(fails, false)) throw std::bad_alloc();
    };
    EXPECT_EQ(ask(session, prompt("please")), "overloaded")
        << "it is unknown whether it was accepted";
    EXPECT_EQ(stored(session).turns, 1u);
    EXPECT_EQ(ask(session, prompt("more")), "applied");
    EXPECT_EQ(effects.requests.size(), 1u);
}

}  // namespace
}  // namespace dormouse::runner::testing
