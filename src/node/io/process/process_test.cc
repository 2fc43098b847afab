#include "io/process/process.h"

#include "io/process/guard.h"
#include "io/process/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace dormouse::io {
namespace {

using port::ProcessEnd;
using port::ProcessSpec;
using How = ProcessEnd::How;

constexpr std::chrono::seconds patience{10};

// The guard is this test, started again; main() is gtest's.
__attribute__((constructor)) void become_a_guard(int argc, char** argv, char** /*environment*/) {
    if (auto const status = guard_main(argc, argv)) ::_exit(*status);
}

bool alive(pid_t pid) { return ::kill(pid, 0) == 0; }

// Waits until a process has ended; an orphan may be a zombie of init for a moment.
bool goes(pid_t pid) {
    auto const until = std::chrono::steady_clock::now() + patience;
    while (alive(pid) && std::chrono::steady_clock::now() < until) {
        std::ifstream state("/proc/" + std::to_string(pid) + "/stat");
        std::string line;
        std::getline(state, line);
        if (line.find(") Z ") != std::string::npos) return true;
        std::this_thread::yield();
    }
    return !alive(pid);
}

class ProcessTest : public ::testing::Test {
protected:
    ProcessTest() { ignore_sigpipe(); }
    ~ProcessTest() override {
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is a zombie or still runs";
        EXPECT_EQ(errno, ECHILD);
    }

    static ProcessSpec shell(std::string script) {
        ProcessSpec spec;
        spec.argv = {"/bin/sh", "-c", std::move(script)};
        spec.environment = {"PATH=/usr/bin:/bin"};
        return spec;
    }
    // A program that does nothing until its input ends.
    static ProcessSpec talking(std::string share = {}) {
        ProcessSpec spec = shell("cat");
        spec.share = std::move(share);
        spec.time_limit = Duration::max();
        spec.on_output = [](std::string_view) {};
        return spec;
    }
    ProcessEnd run(ProcessSpec spec) {
        ProcessEnd out;
        (void)host.start(std::move(spec), [&](ProcessEnd end) {
            out = std::move(end);
            loop.stop();
        });
        loop.run();
        return out;
    }
    ProcessEnd run(std::string script) { return run(shell(std::move(script))); }
    // Runs the loop until no program runs.
    void settle() {
        if (host.running() == 0) return loop.stop();
        loop.after(Duration(5), [this] { settle(); });
    }

    AsioLoop loop;
    ProcessHost host{loop};
};

TEST_F(ProcessTest, Program_GetsInputAndReturnsAllOutputs) {
    ProcessSpec spec = shell("cat; echo oops >&2; echo side >&3; exit 7");
    spec.input = "hello";
    auto const end = run(spec);
    EXPECT_EQ(end.how, How::exited);
    EXPECT_EQ(end.status, 7);
    EXPECT_EQ(end.output, "hello");
    EXPECT_EQ(end.error, "oops\n");
    EXPECT_EQ(end.side, "side\n");
}

TEST_F(ProcessTest, MoreThanAPipeHolds_GoesBothWays) {
    ProcessSpec spec = shell("cat");
    spec.input = std::string(1'000'000, 'x');
    EXPECT_EQ(run(spec).output, spec.input);
}

TEST_F(ProcessTest, UnreadInput_IsNoError) {
    ProcessSpec spec = shell("exec <&-; echo done");
    spec.input = std::string(1'000'000, 'x');
    auto const end = run(spec);
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.output, "done\n");
}

TEST_F(ProcessTest, Environment_IsOnlyTheGivenOne) {
    ::setenv("DORMOUSE_SECRET_OF_THE_TEST", "leaked", 1);
    ProcessSpec spec = shell("/usr/bin/env");
    spec.environment = {"PATH=/usr/bin:/bin", "ONE=1"};
    auto const end = run(spec);
    EXPECT_THAT(end.output, testing::HasSubstr("ONE=1\n"));
    EXPECT_THAT(end.output, testing::Not(testing::HasSubstr("leaked")));
}

TEST_F(ProcessTest, Program_HasOnlyItsFourDescriptors) {
    // Not CLOEXEC, as a library might leave one, with a number that the program does not use.
    int const leaked = ::fcntl(1, F_DUPFD, 50);
    ASSERT_GE(leaked, 50);
    auto const end = run("ls /proc/self/fd | wc -l");
    ::close(leaked);
    // 0 to 3, and the one with which ls reads the directory.
    EXPECT_EQ(std::atoi(end.output.c_str()), 5);
}

TEST_F(ProcessTest, Program_RunsInItsFolderWithoutAShell) {
    ProcessSpec spec;
    spec.argv = {"echo", "$HOME; rm -rf", "*"};
    spec.cwd = "/";
    spec.environment = {"PATH=/usr/bin:/bin"};
    EXPECT_EQ(run(spec).output, "$HOME; rm -rf *\n");
    ProcessSpec where;
    where.argv = {"pwd"};
    where.cwd = "/";
    where.environment = {"PATH=/usr/bin:/bin"};
    auto const end = run(where);
    EXPECT_EQ(end.output, "/\n") << end.error;
}

TEST_F(ProcessTest, SignalsThatTheServerIgnores_EndTheProgram) {
    auto const end = run("kill -PIPE $$");
    EXPECT_EQ(end.how, How::signalled);
    EXPECT_EQ(end.status, SIGPIPE);
}

TEST_F(ProcessTest, UnknownProgram_ReportsWhyItDidNotStart) {
    ProcessSpec spec;
    spec.argv = {"/no/such/program"};
    auto const end = run(spec);
    EXPECT_EQ(end.how, How::not_started);
    EXPECT_EQ(end.error, "No such file or directory");
    EXPECT_FALSE(end.try_again);
    ProcessSpec nowhere = shell("true");
    nowhere.cwd = "/no/such/folder";
    EXPECT_EQ(run(nowhere).how, How::not_started);
}

TEST_F(ProcessTest, TimeLimit_EndsTheProgram) {
    ProcessSpec spec = shell("sleep 1000");
    spec.time_limit = Duration(200);
    EXPECT_EQ(run(spec).how, How::timed_out);
}

TEST_F(ProcessTest, SigtermIgnored_ProgramAndChildrenAreKilled) {
    // Ended only after it wrote the child's number, however slow its start.
    auto const end = run("trap '' TERM; (trap '' TERM; sleep 1000) & echo $!; yes >&3");
    EXPECT_EQ(end.how, How::flooded);
    pid_t const child = std::atoi(end.output.c_str());
    ASSERT_GT(child, 0) << end.output;
    EXPECT_TRUE(goes(child));
}

TEST_F(ProcessTest, TooMuchOutput_EndsTheProgram) {
    ProcessSpec spec = shell("yes");
    spec.output_max = 100'000;
    auto const end = run(spec);
    EXPECT_EQ(end.how, How::flooded);
    EXPECT_LT(end.output.size(), 4U << 20);
    ProcessSpec side = shell("yes >&3");
    EXPECT_EQ(run(side).how, How::flooded);
}

TEST_F(ProcessTest, StderrOutput_KeepsTheEnd) {
    ProcessSpec spec = shell("i=0; while [ $i -lt 5000 ]; do echo line $i >&2; i=$((i+1)); done");
    spec.error_kept = 100;
    auto const end = run(spec);
    EXPECT_EQ(end.error.size(), 100U);
    EXPECT_THAT(end.error, testing::EndsWith("line 4999\n"));
}

TEST_F(ProcessTest, EndlessStderr_EndsTheProgram) { EXPECT_EQ(run("yes >&2").how, How::flooded); }

TEST_F(ProcessTest, GrandchildThatHoldsThePipe_IsKilled) {
    auto const end = run("sleep 1000 & echo $!");
    EXPECT_EQ(end.how, How::exited);
    EXPECT_TRUE(goes(std::atoi(end.output.c_str())));
}

// A shell's job in a session of its own, as agents start theirs.
TEST_F(ProcessTest, ProcessInAnotherSession_IsKilled) {
    auto const end =
        run("p=$(mktemp -u); mkfifo $p; setsid sh -c 'setsid sleep 1000 & echo $!; exec sleep "
            "1000' >$p &"
            " read pid <$p; rm $p; echo $pid");
    EXPECT_EQ(end.how, How::exited);
    pid_t const moved = std::atoi(end.output.c_str());
    ASSERT_GT(moved, 1) << end.output;
    EXPECT_TRUE(goes(moved));
}

TEST_F(ProcessTest, Program_HasItsOwnSessionAndNoTerminal) {
    auto const end =
        run("read pid name state parent group session rest </proc/$$/stat;"
            "[ $session = $$ ] && [ $group = $$ ] && echo own");
    EXPECT_EQ(end.output, "own\n");
}

TEST_F(ProcessTest, ServerKilled_EverythingEnds) {
    int fds[2];
    ASSERT_EQ(::pipe(fds), 0);
    pid_t const us = ::fork();
    if (us == 0) {
        AsioLoop inner;
        ProcessHost programs{inner};
        ProcessSpec spec = shell(
            "trap '' TERM HUP; setsid sleep 1000 & echo $!;"
            "sh -c \"trap '' TERM HUP; setsid setsid sleep 1000 & wait\" & echo $!; echo $$;"
            "wait");
        spec.on_output = [&](std::string_view bytes) {
            (void)!::write(fds[1], bytes.data(), bytes.size());
        };
        (void)programs.start(spec, [](ProcessEnd const&) {});
        inner.run();
        ::_exit(1);
    }
    ::close(fds[1]);
    std::string pids;
    char one = 0;
    while (std::ranges::count(pids, '\n') < 3 && ::read(fds[0], &one, 1) == 1) pids += one;
    ::close(fds[0]);
    ::kill(us, SIGKILL);
    ::waitpid(us, nullptr, 0);
    std::istringstream all(pids);
    int seen = 0;
    for (pid_t pid = 0; all >> pid; ++seen) EXPECT_TRUE(goes(pid)) << pid;
    EXPECT_EQ(seen, 3);
}

TEST_F(ProcessTest, GuardKilled_ProgramEnds) {
    auto const end = run("echo $$; kill -KILL $PPID; sleep 1000");
    EXPECT_EQ(end.how, How::signalled);
    EXPECT_EQ(end.status, SIGKILL);
    EXPECT_TRUE(goes(std::atoi(end.output.c_str()))) << end.output;
}

// The sandbox command has more rights than the program: LD_PRELOAD would run with them.
TEST_F(ProcessTest, SandboxCommand_GetsNoVariableOfTheProgram) {
    ProcessSpec spec = shell("env; ls /proc/self/fd | wc -l");
    spec.sandbox = {"/bin/sh", "-c", "env | sed 's/^/before: /'; exec \"$@\"", "sh"};
    spec.environment.insert(spec.environment.end(),
                            {"EVIL=it's\n$(id)", "EVIL_PRELOAD=/evil.so", "-u=x", "A.B=x"});
    auto const end = run(spec);
    EXPECT_THAT(end.output, testing::HasSubstr("\nEVIL=it's\n$(id)\n")) << end.error;
    EXPECT_THAT(end.output, testing::HasSubstr("\nEVIL_PRELOAD=/evil.so\n"));
    EXPECT_THAT(end.output, testing::Not(testing::HasSubstr("before: EVIL")));
    EXPECT_THAT(end.output, testing::EndsWith("\n5\n")) << "only its four descriptors";
}

TEST_F(ProcessTest, Sandbox_FolderBehindALink_IsRefused) {
    std::string name = (std::filesystem::temp_directory_path() / "dormouse-link-XXXXXX").string();
    std::filesystem::path const top = ::mkdtemp(name.data());
    std::filesystem::create_directory(top / "real");
    std::filesystem::create_symlink("real", top / "link");
    ProcessSpec spec = shell("pwd");
    spec.cwd = top / "link";
    EXPECT_EQ(run(spec).output, (top / "real").string() + "\n");
    spec.sandbox = {"/usr/bin/env"};
    auto const end = run(spec);
    EXPECT_EQ(end.how, How::not_started);
    EXPECT_EQ(end.error, "Too many levels of symbolic links");
    spec.cwd = top / "real";
    EXPECT_EQ(run(spec).output, (top / "real").string() + "\n");
    std::filesystem::remove_all(top);
}

TEST_F(ProcessTest, Sandbox_OtherFolder_RunsNothing) {
    ProcessSpec spec = shell("echo ran");
    spec.cwd = "/usr";
    spec.sandbox = {"/bin/sh", "-c", "cd /var; exec \"$@\"", "sh"};
    auto const end = run(spec);
    EXPECT_EQ(end.status, 126);
    EXPECT_EQ(end.output, "");
    EXPECT_EQ(end.error, "the folder was replaced meanwhile\n");
}

TEST_F(ProcessTest, LeftBehindProcess_IfAllowed_Continues) {
    ProcessSpec spec = shell("sleep 1000 & echo $!; exit 75");
    spec.may_leave_behind = [](ProcessEnd const& end) { return end.status == 75; };
    auto const end = run(spec);
    pid_t const left = std::atoi(end.output.c_str());
    EXPECT_TRUE(alive(left));
    ::kill(left, SIGKILL);
}

TEST_F(ProcessTest, Stop_ReportsNothingAndEndsTheProgram) {
    bool notified = false;
    auto const number = host.start(shell("trap '' TERM; while :; do sleep 1; done"),
                                   [&](ProcessEnd const&) { notified = true; });
    host.stop(number);
    host.stop(number);
    host.stop(number + 1);
    settle();
    loop.run();
    EXPECT_FALSE(notified);
    EXPECT_EQ(host.running(), 0U);
}

TEST_F(ProcessTest, HostDestroyed_ProgramsEnd) {
    auto gone = std::make_unique<ProcessHost>(loop);
    (void)gone->start(shell("trap '' TERM; while :; do sleep 1; done"),
                      [](ProcessEnd const&) { FAIL(); });
    gone.reset();
}

TEST_F(ProcessTest, TooManyPrograms_AreRefusedForNow) {
    ProcessHost small(loop, {.running = 3, .shared = 2, .share = 2});
    for (int i = 0; i < 3; ++i) (void)small.start(talking(), [](ProcessEnd const&) {});
    ProcessEnd end;
    (void)small.start(shell("true"), [&](ProcessEnd one) {
        end = std::move(one);
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(end.how, How::not_started);
    EXPECT_TRUE(end.try_again);
}

// Sessions of one external agent must leave capacity for validators, tools and notifications.
TEST_F(ProcessTest, Share_LeavesCapacityToOthers) {
    ProcessHost small(loop, {.running = 6, .shared = 4, .share = 3});
    std::vector<std::string> refused;
    for (std::string const share : {"a", "a", "a", "a", "b", "b", "", "", ""}) {
        (void)small.start(talking(share), [&refused, share](ProcessEnd const& end) {
            EXPECT_EQ(end.how, How::not_started);
            EXPECT_TRUE(end.try_again);
            refused.push_back(share);
        });
    }
    loop.after(Duration(1), [&] { loop.stop(); });
    loop.run();
    EXPECT_THAT(refused, testing::ElementsAre("a", "b", ""));
    EXPECT_EQ(small.running(), 6U);
}

TEST_F(ProcessTest, NoCapacity_LongestIdleGivesWay) {
    ProcessHost small(loop, {.running = 6, .shared = 4, .share = 2});
    std::vector<std::string> gave_way;
    auto const resting = [&](std::string const& name, std::string const& share) {
        auto const number = small.start(talking(share), [](ProcessEnd const&) {});
        small.rest(number, [&, name, number] {
            gave_way.push_back(name);
            small.end(number);
        });
        return number;
    };
    auto const woken = resting("woken", "a");
    resting("of another share", "b");
    resting("longest", "a");
    small.work(woken);
    ProcessSpec spec = talking("a");
    spec.input = "one ";
    std::string received;
    spec.on_output = [&](std::string_view bytes) {
        received += bytes;
        if (received == "one two") loop.stop();
    };
    auto const waits = small.start(spec, [](ProcessEnd const&) { FAIL(); });
    small.write(waits, "two");
    loop.run();
    EXPECT_THAT(gave_way, testing::ElementsAre("longest"));
    EXPECT_EQ(small.running(), 3U) << "and the waiting program runs";
}

TEST_F(ProcessTest, WaitingProgramThatMustNotStartAnyMore_IsRefusedForNow) {
    ProcessHost small(loop, {.running = 4, .shared = 2, .share = 1});
    auto const idle = small.start(talking("a"), [](ProcessEnd const&) {});
    small.rest(idle, [&] { small.end(idle); });
    ProcessSpec spec = talking("a");
    int asked = 0;
    spec.may_start = [&asked] { return ++asked == 0; };
    ProcessEnd end;
    (void)small.start(std::move(spec), [&](ProcessEnd one) {
        end = std::move(one);
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(end.how, How::not_started);
    EXPECT_TRUE(end.try_again);
    EXPECT_EQ(small.running(), 0U);
}

TEST_F(ProcessTest, ManyAtOnce_EachGetsItsOwnOutput) {
    int ended = 0;
    for (int i = 0; i < 50; ++i) {
        ProcessSpec spec = shell("cat");
        spec.input = std::to_string(i);
        (void)host.start(spec, [&ended, i, this](ProcessEnd const& end) {
            EXPECT_EQ(end.output, std::to_string(i));
            if (++ended == 50) loop.stop();
        });
    }
    loop.run();
    EXPECT_EQ(ended, 50);
}

}  // namespace
}  // namespace dormouse::io
