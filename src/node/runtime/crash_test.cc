#include "base/test_wait.h"
#include "runtime/testing/runtime_fixture.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>

// A program with a runtime dies by SIGKILL at each window at which other systems lose or repeat
// something; the next process opens the same store. Rows T of docs/requirements.md.
namespace dormouse::runtime {
namespace {

// So that two processes can tell each other what they did: one line an event, in a file.
class Ledger {
public:
    explicit Ledger(std::string path) : path_(std::move(path)) {}
    void note(std::string const& line) const {
        int const fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        std::string const text = line + "\n";
        EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        ::close(fd);
    }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::ifstream in(path_);
        std::vector<std::string> out;
        for (std::string line; std::getline(in, line);) out.push_back(line);
        return out;
    }
    [[nodiscard]] std::size_t count(std::string const& line) const {
        return static_cast<std::size_t>(std::ranges::count(lines(), line));
    }

private:
    std::string path_;
};

[[noreturn]] void die() {
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
}

class CrashTest : public RuntimeTest {
protected:
    CrashTest() {
        on_disk();
        ledger.emplace(settings.store + ".ledger");
        settings.tools[0] = job_of(Crash::never);
    }
    ~CrashTest() override {
        runtime.reset();
        std::remove((settings.store + ".ledger").c_str());
    }

    // Notes each run; dies in the run whose number is `dies_in`.
    [[nodiscard]] ToolPtr job_of(Crash crash) {
        return tool(
            "job",
            [this](Work const& work, Call const& call) -> dormouse::Outcome<Outcome, Pending> {
                ledger->note("job " + work.target + " " + call.pending_id().text());
                if (dying && work.target == dies_at) die();
                return Pending<Outcome>{{"queued"},
                                        {.ref = "job-" + work.target, .within = within}};
            },
            {.crash = crash});
    }
    // Another process runs `work` with a runtime of these settings, and is killed in it.
    void killed(std::function<void(Runtime&)> const& work) {
        ::pid_t const child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            dying = true;
            auto opened = Runtime::open(settings);
            if (!opened) ::_exit(3);
            work(*opened);
            std::this_thread::sleep_for(Duration(30'000));  // the window comes on another thread
            ::_exit(4);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << WEXITSTATUS(status);
        ASSERT_EQ(WTERMSIG(status), SIGKILL);
    }
    void prompt(Runtime& in, std::string const& text) {
        auto const made = in.create({.agent = "ops", .prompt = text, .key = "the session"});
        if (!made) ::_exit(5);
    }
    // The session that the other process made.
    SessionId found() {
        return runtime->create({.agent = "ops", .prompt = asked, .key = "the session"}).value();
    }
    void dies_after(std::string const& text) {
        asked = text;
        killed([&](Runtime& in) { prompt(in, text); });
        open();
    }
    PendingId id_in_ledger(std::string const& target) {
        for (std::string const& line : ledger->lines()) {
            if (line.starts_with("job " + target + " "))
                return PendingId::parse(line.substr(line.rfind(' ') + 1)).value();
        }
        ADD_FAILURE() << "no run of " << target;
        return {};
    }

    std::optional<Ledger> ledger;
    std::string asked;
    std::string dies_at = "A";
    bool dying = false;  // in the process that is to be killed
};

TEST_F(CrashTest, WhileTheModelIsAskedThePromptIsDurableAndItIsAskedAgain) {
    settings.agents[0].model = script.model().through(
        {.name = "dies", .before = [this](ModelQuestion&) -> Result<std::optional<ModelAnswer>> {
             ledger->note("asked");
             if (dying) die();
             return std::nullopt;
         }});
    dies_after("hello");
    auto const view = at_rest(found());
    EXPECT_EQ(ledger->count("asked"), 2U);
    EXPECT_EQ(count(view.id, "input_received"), 1U);
    EXPECT_EQ(count(view.id, "model_replied"), 1U);
    EXPECT_EQ(runtime->said(view.id).value(), "Done.");
}

TEST_F(CrashTest, AfterTheReplyItsToolsRunInTheNextProcess) {
    // The reply is durable, and its call is being gated.
    settings.gates = {{.name = "guard",
                       .decide = [this](Call const&) -> Verdict {
                           if (dying) die();
                           return Allow{};
                       },
                       .tools = {"job"}}};
    dies_after("job");
    auto const view = at_rest(found());
    EXPECT_EQ(script.asked(), 0U) << "the first reply stands, and its call waits";
    EXPECT_EQ(count(view.id, "model_replied"), 1U);
    EXPECT_EQ(view.pending.size(), 1U);
    EXPECT_EQ(ledger->lines().size(), 1U);
}

TEST_F(CrashTest, ARunningToolIsNotRunAgainUnlessItSaysSo) {
    dies_after("job");
    auto view = at_rest(found());
    EXPECT_EQ(ledger->lines().size(), 1U);
    ASSERT_EQ(view.pending.size(), 1U);
    EXPECT_TRUE(view.pending[0].in_doubt || view.pending[0].id == id_in_ledger("A"));
}

TEST_F(CrashTest, ARunningToolThatMayRunsAgainUnderTheSameKey) {
    settings.tools[0] = job_of(Crash::retry);
    dies_after("job");
    auto const view = at_rest(found());
    auto const lines = ledger->lines();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0], lines[1]) << "one idempotency key";
    EXPECT_EQ(view.pending.at(0).id, id_in_ledger("A"));
}

TEST_F(CrashTest, OfParallelToolsOnlyTheUnfinishedOnesAreInDoubt) {
    settings.tools[0] = job_of(Crash::retry);
    dies_at = "B";
    asked = "twice";
    killed([&](Runtime& in) { prompt(in, asked); });
    open();
    auto const view = at_rest(found());
    EXPECT_EQ(view.pending.size(), 2U);
    std::size_t a = 0, b = 0;
    for (std::string const& line : ledger->lines()) {
        a += line.starts_with("job A");
        b += line.starts_with("job B");
    }
    EXPECT_EQ(b, 2U);
    EXPECT_LE(a, 2U);  // its pause may not have been durable yet
}

TEST_F(CrashTest, TheResultOfAJobWhosePauseWasNeverSavedIsTaken) {
    dies_after("job");  // the job had begun outside, and the process never said that it waits
    PendingId const id = id_in_ledger("A");
    auto const receipt = runtime->submit(job, id, {"live"});
    ASSERT_TRUE(receipt) << receipt.error().detail;
    at_rest(id.session);
    EXPECT_EQ(runtime->said(id.session).value(), "Done.");
    EXPECT_EQ(ledger->lines().size(), 1U) << "no second job";
}

TEST_F(CrashTest, ACallThatWaitsGoesOnWaiting) {
    dies_at = "";
    asked = "job";
    killed([&](Runtime& in) {
        prompt(in, asked);
        auto const session = in.create({.agent = "ops", .prompt = asked, .key = "the session"});
        if (!in.rest(*session, Duration(20'000))) ::_exit(6);
        die();
    });
    open();
    auto const session = found();
    auto const before = runtime->session(session).value();
    EXPECT_EQ(before.activity, SessionView::Activity::waiting_async);
    EXPECT_EQ(before.pending.at(0).id, id_in_ledger("A"));
    EXPECT_EQ(script.asked(), 0U);
    EXPECT_EQ(runtime->session(session)->head, before.head) << "nothing was written";
    ASSERT_TRUE(runtime->submit(job, before.pending[0].id, {"live"}));
    at_rest(session);
    EXPECT_EQ(runtime->said(session).value(), "Done.");
}

// Before, in and after the append of a submission: repeating it always finds one receipt.
TEST_F(CrashTest, ASubmissionThatWasCutOffIsRepeatedAndCountsOnce) {
    dies_at = "";
    asked = "job";
    killed([&](Runtime& in) {
        prompt(in, asked);
        auto const session = in.create({.agent = "ops", .prompt = asked, .key = "the session"});
        auto const view = in.rest(*session, Duration(20'000));
        if (!view) ::_exit(6);
        in.submit(view->pending.at(0).id, output("live"), "program", [](auto const&) {});
        die();
    });
    open();
    PendingId const id = id_in_ledger("A");
    auto const receipt = runtime->submit(job, id, {"live"});
    ASSERT_TRUE(receipt) << receipt.error().detail;
    at_rest(id.session);
    EXPECT_EQ(count(id.session, "submitted"), 1U);
    EXPECT_EQ(runtime->submit(job, id, {"live"})->seq, receipt->seq);
    EXPECT_EQ(code_of(runtime->submit(job, id, {"dead"})), "conflict");
    EXPECT_EQ(runtime->said(id.session).value(), "Done.");
}

TEST_F(CrashTest, AContinuationThatIsOwedIsDoneByTheNextProcessWithNobodyAsking) {
    dies_at = "";
    settings.agents[0].model = script.model().through(
        {.name = "dies",
         .before = [this](ModelQuestion& question) -> Result<std::optional<ModelAnswer>> {
             auto const* const answer = question.answer_of("job");
             if (dying && answer && !answer->waits) die();
             return std::nullopt;
         }});
    asked = "job";
    killed([&](Runtime& in) {
        prompt(in, asked);
        auto const session = in.create({.agent = "ops", .prompt = asked, .key = "the session"});
        auto const view = in.rest(*session, Duration(20'000));
        if (!in.submit(view->pending.at(0).id, output("live"))) ::_exit(6);
        ledger->note("submitted");
    });
    open();
    auto const session = id_in_ledger("A").session;
    wait_while([&] { return runtime->said(session).value() != "Done."; });
    EXPECT_EQ(runtime->said(session).value(), "Done.");
    EXPECT_EQ(count(session, "submitted"), 1U);
}

TEST_F(CrashTest, ProgressUnderAKeyIsNotedOnce) {
    dies_at = "";
    asked = "job";
    killed([&](Runtime& in) {
        prompt(in, asked);
        auto const session = in.create({.agent = "ops", .prompt = asked, .key = "the session"});
        auto const view = in.rest(*session, Duration(20'000));
        in.progress(view->pending.at(0).id, output("half"), "half", "program", [](auto const&) {});
        die();
    });
    open();
    PendingId const id = id_in_ledger("A");
    ASSERT_TRUE(runtime->progress(id, output("half"), "half"));
    EXPECT_EQ(count(id.session, "progressed"), 1U);
}

TEST_F(CrashTest, WhatExpiredWhileNobodyRanIsToldAtTheStart) {
    dies_at = "";
    within = Duration(200);
    asked = "job";
    killed([&](Runtime& in) {
        prompt(in, asked);
        auto const session = in.create({.agent = "ops", .prompt = asked, .key = "the session"});
        if (!in.rest(*session, Duration(20'000))) ::_exit(6);
        die();
    });
    std::this_thread::sleep_for(Duration(250));  // the machine's own clock passes the deadline
    open();
    PendingId const id = id_in_ledger("A");
    EXPECT_EQ(code_of(runtime->submit(job, id, {"late"})), "expired");
    wait_while([&] { return runtime->said(id.session).value() != "Done."; });
    EXPECT_EQ(count(id.session, "expired"), 1U);
    EXPECT_EQ(runtime->said(id.session).value(), "Done.") << "and the session went on";
}

TEST_F(CrashTest, ADecisionIsGivenToItsGateAgainAndTheToolRunsOnce) {
    settings.gates = {{.name = "guard",
                       .decide = [](Call const&) -> Verdict { return Ask{"Really?"}; },
                       .tools = {"guarded"},
                       .decided = [this](Call const& call) -> Verdict {
                           ledger->note("decided");
                           if (dying) die();
                           if (!call.resumed()->approved) return Deny{"no"};
                           return Allow{};
                       }}};
    settings.tools[3] = tool("guarded", [this](Work const&) {
        ledger->note("ran");
        return Outcome{"ran"};
    });
    asked = "guarded";
    killed([&](Runtime& in) {
        prompt(in, asked);
        auto const session = in.create({.agent = "ops", .prompt = asked, .key = "the session"});
        auto const view = in.rest(*session, Duration(20'000));
        if (!in.decide(view->pending.at(0).id, {.approved = true})) ::_exit(6);
    });
    open();
    at_rest(found());
    EXPECT_EQ(ledger->count("decided"), 2U);
    EXPECT_EQ(ledger->count("ran"), 1U);
}

TEST_F(CrashTest, InterceptorsOfATurnAreAskedAgain) {
    settings.turns = {{.name = "both",
                       .before = [this](TurnInfo const&) -> TurnVerdict {
                           ledger->note("before");
                           if (dying && dies_at == "before") die();
                           return Proceed{};
                       },
                       .after =
                           [this](TurnInfo const&, TurnEnd const& end) {
                               ledger->note("after " + end.finish);
                               if (dying && dies_at == "after") die();
                           }}};
    dies_at = "before";
    dies_after("hello");
    auto const session = found();
    at_rest(session);
    EXPECT_EQ(ledger->count("before"), 2U);
    EXPECT_EQ(count(session, "turn_checked"), 1U);
    wait_while([&] { return count(session, "turn_told") < 1; });
    runtime.reset();
    dies_at = "after";
    killed([&](Runtime& in) {
        if (!in.prompt(session, "and now?")) ::_exit(6);
    });
    open();
    wait_while([&] { return count(session, "turn_told") < 2; });
    EXPECT_EQ(count(session, "turn_told"), 2U) << "with nobody asking";
    EXPECT_EQ(ledger->count("after stop"), 3U);
    EXPECT_EQ(count(session, "turn_ended"), 2U);
}

TEST_F(CrashTest, WhileAValidatorJudgesNothingIsTaken) {
    settings.tools[0] =
        tool("job",
             [this](Work const& work, Call const& call) -> dormouse::Outcome<Outcome, Pending> {
                 ledger->note("job " + work.target + " " + call.pending_id().text());
                 return Pending<Outcome>{{"queued"}, {.ref = "j"}};
             },
             {.validate = [this](Outcome const&) -> std::optional<std::string> {
                 if (dying) die();
                 return std::nullopt;
             }});
    asked = "job";
    killed([&](Runtime& in) {
        prompt(in, asked);
        auto const session = in.create({.agent = "ops", .prompt = asked, .key = "the session"});
        auto const view = in.rest(*session, Duration(20'000));
        static_cast<void>(in.submit(view->pending.at(0).id, output("live")));
    });
    open();
    PendingId const id = id_in_ledger("A");
    EXPECT_EQ(runtime->session(id.session)->pending.size(), 1U);
    EXPECT_FALSE(runtime->submit(id, output("live"))->duplicate);
}

}  // namespace
}  // namespace dormouse::runtime
