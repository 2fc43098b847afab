#include "sim/checks/witness.h"

#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

namespace dormouse::sim {
namespace {

using SharedJournal = runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk>;

class BesideAWitness : public runner::testing::RunnerTestOn<SharedJournal> {
protected:
    // The session's journal, as the checkers read it when it becomes durable.
    void take(SessionId session) {
        port::Append append{};
        append.session = session;
        append.wake_changed = false;
        auto const frames = journal.store->page(session, 1, 1 << 20).value();
        for (port::Frame const& frame : frames) {
            append.frame = frame;
            durable.take(append);
        }
    }
    void fall() {
        durable.fall_back(durable.copy());
        witness.forget_lost();
    }

    // Prompts the session, and starts the request to its model under the witness.
    session::EffectId start_request(SessionId session) {
        (void)ask(session, prompt("please"));
        take(session);
        auto const& made = effects.requests.back().request;
        port::ModelRequest request{session, "demo", made.ask, {}, {}};
        request.id = made.id;
        session::EffectId const id = made.id;
        witness.ask_model(std::move(request), {}, [](session::Command::Body const&) {});
        return id;
    }

    World world{1};
    Findings findings;
    Durable durable{world, findings};
    Started started;
    Witness witness{effects, durable, findings, started, nodes, [] { return false; }};
};

// The lane of a session that lost nothing notices no fall of the disk: what it has started
// continues, and is not started again.
TEST_F(BesideAWitness, RequestThatTheDiskKept_CountsAsStartedWhileItRuns) {
    SessionId const session = new_session();
    session::EffectId const id = start_request(session);
    fall();
    EXPECT_TRUE(witness.has_started(session, id));
    fall();
    effects.reply();
    EXPECT_FALSE(witness.has_started(session, id)) << "it has ended, and the disk lost how";
    EXPECT_EQ(findings.all(), std::vector<std::string>());
}

TEST_F(BesideAWitness, StoppedRequestOfALostHistory_CountsAsNotStarted) {
    SessionId const session = new_session();
    session::EffectId const id = start_request(session);
    fall();
    witness.stop(session, id);
    EXPECT_FALSE(witness.has_started(session, id));
    EXPECT_EQ(findings.all(), std::vector<std::string>());
}

}  // namespace
}  // namespace dormouse::sim
