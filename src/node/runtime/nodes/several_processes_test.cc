// Several processes that share a database, each with a runtime.
#include "base/test_wait.h"
#include "runtime/testing/runtime_fixture.h"
#include "store/postgres/testing/test_server.h"

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <set>

namespace dormouse::runtime {
namespace {

using store::postgres::TestServer;

class SeveralProcesses : public RuntimeTest {
protected:
    void SetUp() override {
        if (!store::postgres::has_server())
            GTEST_SKIP() << "PostgreSQL is not installed (tools/setup.sh ci)";
        server().set_fsync(true);
        settings.store = server().fresh_url();
        open();
        auto second = Runtime::open(settings);
        ASSERT_TRUE(second) << second.error().detail;
        other.emplace(*std::move(second));
    }
    void TearDown() override {
        other.reset();
        runtime.reset();
        if (store::postgres::has_server()) server().set_fsync(false);
        settings.store = ":memory:";
    }
    static TestServer& server() { return *TestServer::instance(); }
    // Runs a statement in the schema.
    void sql(std::string const& statement) const {
        auto const schema = store::postgres::parse_address(settings.store)->schema;
        server().run("SET search_path TO " + schema + ";" + statement);
    }
    static PendingId pending_of(SessionView const& view) {
        EXPECT_EQ(view.pending.size(), 1U);
        return view.pending.at(0).id;
    }

    std::optional<Runtime> other;
};

TEST_F(SeveralProcesses, ResultAtTheOther_ContinuesThere) {
    auto const view = start("job");
    ASSERT_TRUE(other->submit(pending_of(view), output("live"), "ann"));
    auto const there = other->wait_idle(view.id, Duration(20'000));
    ASSERT_TRUE(there) << there.error().detail;
    EXPECT_TRUE(there->pending.empty());
    EXPECT_EQ(at_rest(view.id).head, there->head) << "the first has read it";
    EXPECT_EQ(job_runs, 1);
}

TEST_F(SeveralProcesses, NewSessions_HaveNumbersOfTheirOwn) {
    std::set<std::uint64_t> numbers;
    for (int i = 0; i < 20; ++i) {
        for (Runtime* const one : {&*runtime, &*other}) {
            auto const session = one->create({.agent = "ops"});
            ASSERT_TRUE(session) << session.error().detail;
            EXPECT_TRUE(numbers.insert(session->number()).second);
        }
    }
}

// The record of the database in which the schema was made is another one's.
TEST_F(SeveralProcesses, CopiedDatabase_RunsNothingUntilOneReleasesIt) {
    auto const asleep = start("job");
    other.reset();
    runtime.reset();
    sql("UPDATE settings SET value = 'another' WHERE name = 'identity'");
    open();
    auto second = Runtime::open(settings);
    ASSERT_TRUE(second) << second.error().detail;
    other.emplace(*std::move(second));
    EXPECT_TRUE(runtime->held().value());
    EXPECT_TRUE(other->held().value());
    ASSERT_TRUE(runtime->submit(pending_of(asleep), output("live"), "ann"));
    EXPECT_EQ(count(asleep.id, "turn_ended"), 0U);
    ASSERT_TRUE(other->release());
    wait_while([&] { return runtime->held().value(); });
    EXPECT_TRUE(at_rest(asleep.id).pending.empty());
    EXPECT_EQ(count(asleep.id, "turn_ended"), 1U);
}

TEST_F(SeveralProcesses, ProcessWhoseRowIsGone_TakesPartAgain) {
    auto const view = start("job");
    sql("UPDATE writers SET epoch = NULL, incarnation = NULL; DELETE FROM nodes");
    auto const pending = pending_of(view);
    Result<Submitted> done = fail(Code::store_unavailable, "not asked");
    wait_while([&] {
        done = runtime->submit(pending, output("live"), "ann");
        return !done && info(done.error().code).next == Next::retry;
    });
    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_TRUE(at_rest(view.id).pending.empty());
    EXPECT_EQ(job_runs, 1);
}

TEST_F(SeveralProcesses, OtherTools_AreRefusedWhileTheProcessesWork) {
    Settings different = settings;
    different.tools.pop_back();
    different.agents[0].tools.pop_back();
    auto const refused = Runtime::open(different);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::wrong_state);
    EXPECT_TRUE(refused.error().detail.contains("other agents, tools or gates"));
    // Killed processes leave their rows.
    other.reset();
    runtime.reset();
    sql("INSERT INTO nodes(epoch, name, slot) VALUES(1000, 'killed', 9)");
    EXPECT_TRUE(Runtime::open(different));
}

// The child process shares the schema; SIGKILL while its tools run, one of which may run again.
TEST_F(SeveralProcesses, OneIsKilledInATool_TheOtherRunsItAgain) {
    other.reset();
    runtime.reset();  // a process with a runtime must not fork
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    bool dying = false;
    // Its pause must not be stored before the kill.
    settings.tools[0] = tool("job", [&](Work const& work) -> dormouse::Outcome<Outcome, Pending> {
        while (dying) ::pause();
        return Outcome{work.target};
    });
    settings.tools[1] = tool("now",
                             [&](Work const& work) {
                                 if (dying) ::kill(::getpid(), SIGKILL);
                                 return Outcome{work.target};
                             },
                             {.crash = CrashPolicy::retry});
    ::pid_t const child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        dying = true;
        auto opened = Runtime::open(settings);
        auto const made = opened ? opened->create({.agent = "ops"}) : fail(Code::internal, "");
        if (!made) ::_exit(3);
        auto const id = made->text();
        if (::write(ends[1], id.data(), id.size()) < 0) ::_exit(4);
        std::ignore = opened->prompt(*made, "mixed");
        ::alarm(30);
        for (;;) ::pause();  // killed on another thread
    }
    open();  // beside the child, or after it: both is right
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    std::array<char, 64> text{};
    auto const size = ::read(ends[0], text.data(), text.size());
    for (int const end : ends) ::close(end);
    ASSERT_GT(size, 0);
    auto const session = SessionId::parse({text.data(), static_cast<std::size_t>(size)});
    ASSERT_TRUE(session);
    wait_while([&] { return count(*session, "tool_finished") == 0; });
    EXPECT_EQ(count(*session, "tool_started"), 3U) << "both of its tools there, one again here";
    EXPECT_EQ(count(*session, "in_doubt"), 1U) << "the other one may not run again";
    EXPECT_EQ(count(*session, "model_requested"), 1U);
}

TEST_F(SeveralProcesses, OneEnds_TheOtherContinuesItsSessions) {
    within = Duration(3'000);  // then the call expires
    auto const view = start("job");
    runtime.reset();
    auto const expired = [&] {
        auto const there = other->wait_idle(view.id, Duration(20'000));
        return there && there->pending.empty();
    };
    wait_while([&] { return !expired(); });
    auto const there = other->wait_idle(view.id, Duration(20'000)).value();
    EXPECT_TRUE(there.pending.empty());
}

}  // namespace
}  // namespace dormouse::runtime
