#include "io/process.h"

#include "io/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace dormouse::io {
namespace {

using port::ProcessEnd;
using port::ProcessSpec;
using How = ProcessEnd::How;

constexpr std::chrono::seconds patience{10};

bool alive(pid_t pid) { return ::kill(pid, 0) == 0; }

// As a process that was ended goes: another's child may be a zombie of init for a moment.
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
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a zombie, or one that still runs";
        EXPECT_EQ(errno, ECHILD);
    }

    static ProcessSpec shell(std::string script) {
        ProcessSpec spec;
        spec.argv = {"/bin/sh", "-c", std::move(script)};
        spec.environment = {"PATH=/usr/bin:/bin"};
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
    // Runs the loop until nothing runs any more.
    void settle() {
        if (host.running() == 0) return loop.stop();
        loop.after(Duration(5), [this] { settle(); });
    }

    AsioLoop loop;
    ProcessHost host{loop};
};

TEST_F(ProcessTest, gets_its_input_and_gives_output_error_side_and_status) {
    ProcessSpec spec = shell("cat; echo oops >&2; echo side >&3; exit 7");
    spec.input = "hello";
    auto const end = run(spec);
    EXPECT_EQ(end.how, How::exited);
    EXPECT_EQ(end.status, 7);
    EXPECT_EQ(end.output, "hello");
    EXPECT_EQ(end.error, "oops\n");
    EXPECT_EQ(end.side, "side\n");
}

TEST_F(ProcessTest, more_than_a_pipe_holds_goes_both_ways) {
    ProcessSpec spec = shell("cat");
    spec.input = std::string(1'000'000, 'x');
    EXPECT_EQ(run(spec).output, spec.input);
}

TEST_F(ProcessTest, one_that_does_not_read_its_input_is_no_error) {
    ProcessSpec spec = shell("exec <&-; echo done");
    spec.input = std::string(1'000'000, 'x');
    auto const end = run(spec);
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.output, "done\n");
}

TEST_F(ProcessTest, has_the_environment_that_is_given_and_no_other) {
    ::setenv("DORMOUSE_SECRET_OF_THE_TEST", "leaked", 1);
    ProcessSpec spec = shell("/usr/bin/env");
    spec.environment = {"PATH=/usr/bin:/bin", "ONE=1"};
    auto const end = run(spec);
    EXPECT_THAT(end.output, testing::HasSubstr("ONE=1\n"));
    EXPECT_THAT(end.output, testing::Not(testing::HasSubstr("leaked")));
}

TEST_F(ProcessTest, has_no_descriptor_but_its_four) {
    int const leaked = ::dup(1);  // not CLOEXEC, as a library might leave one
    auto const end = run("ls /proc/self/fd | wc -l");
    ::close(leaked);
    // 0 to 3 and the one with which ls reads the folder.
    EXPECT_EQ(std::atoi(end.output.c_str()), 5);
}

TEST_F(ProcessTest, runs_where_it_is_told_and_without_a_shell) {
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

TEST_F(ProcessTest, signals_that_the_server_ignores_end_it) {
    auto const end = run("kill -PIPE $$");
    EXPECT_EQ(end.how, How::signalled);
    EXPECT_EQ(end.status, SIGPIPE);
}

TEST_F(ProcessTest, what_can_not_be_started_says_why) {
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

TEST_F(ProcessTest, a_hang_is_ended_when_its_time_is_up) {
    ProcessSpec spec = shell("echo begun; sleep 1000");
    spec.time_limit = Duration(200);
    auto const end = run(spec);
    EXPECT_EQ(end.how, How::timed_out);
    EXPECT_EQ(end.output, "begun\n");
}

TEST_F(ProcessTest, one_that_ignores_the_request_to_end_is_ended_by_force_with_its_children) {
    ProcessSpec spec = shell("trap '' TERM; (trap '' TERM; sleep 1000) & echo $!; sleep 1000");
    spec.time_limit = Duration(200);
    auto const end = run(spec);
    EXPECT_EQ(end.how, How::timed_out);
    EXPECT_TRUE(goes(std::atoi(end.output.c_str())));
}

TEST_F(ProcessTest, a_flood_is_cut_and_ended) {
    ProcessSpec spec = shell("yes");
    spec.output_max = 100'000;
    auto const end = run(spec);
    EXPECT_EQ(end.how, How::flooded);
    EXPECT_LT(end.output.size(), 4U << 20);
    ProcessSpec side = shell("yes >&3");
    EXPECT_EQ(run(side).how, How::flooded);
}

TEST_F(ProcessTest, of_what_it_complains_the_end_is_kept) {
    ProcessSpec spec = shell("i=0; while [ $i -lt 5000 ]; do echo line $i >&2; i=$((i+1)); done");
    spec.error_kept = 100;
    auto const end = run(spec);
    EXPECT_EQ(end.error.size(), 100U);
    EXPECT_THAT(end.error, testing::EndsWith("line 4999\n"));
}

TEST_F(ProcessTest, endless_complaint_is_a_flood_too) {
    EXPECT_EQ(run("yes >&2").how, How::flooded);
}

TEST_F(ProcessTest, a_grandchild_that_holds_the_pipe_does_not_hold_us_and_is_ended) {
    auto const end = run("sleep 1000 & echo $!");
    EXPECT_EQ(end.how, How::exited);
    EXPECT_TRUE(goes(std::atoi(end.output.c_str())));
}

TEST_F(ProcessTest, what_may_be_left_behind_goes_on) {
    ProcessSpec spec = shell("sleep 1000 & echo $!; exit 75");
    spec.may_leave_behind = [](ProcessEnd const& end) { return end.status == 75; };
    auto const end = run(spec);
    pid_t const left = std::atoi(end.output.c_str());
    EXPECT_TRUE(alive(left));
    ::kill(left, SIGKILL);
}

TEST_F(ProcessTest, nothing_comes_after_a_stop_and_it_is_gone) {
    bool told = false;
    auto const number = host.start(shell("trap '' TERM; while :; do sleep 1; done"),
                                   [&](ProcessEnd const&) { told = true; });
    host.stop(number);
    host.stop(number);
    host.stop(number + 1);
    settle();
    loop.run();
    EXPECT_FALSE(told);
    EXPECT_EQ(host.running(), 0U);
}

TEST_F(ProcessTest, the_host_takes_what_runs_with_it) {
    auto gone = std::make_unique<ProcessHost>(loop);
    (void)gone->start(shell("trap '' TERM; while :; do sleep 1; done"),
                      [](ProcessEnd const&) { FAIL(); });
    gone.reset();
}

TEST_F(ProcessTest, more_than_its_number_are_told_to_come_again) {
    for (std::size_t i = 0; i < ProcessHost::running_max; ++i)
        (void)host.start(shell("read x"), [](ProcessEnd const&) {});
    auto const end = run("true");
    EXPECT_EQ(end.how, How::not_started);
    EXPECT_TRUE(end.try_again);
    settle();
    loop.run();
}

TEST_F(ProcessTest, many_at_once_each_get_their_own) {
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
