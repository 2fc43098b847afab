#include "base/test_wait.h"
#include "runtime/testing/runtime_fixture.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>

// A process with a runtime is killed (SIGKILL) at each point where work could be lost or repeated;
// the next process opens the same store. Rows T of docs/requirements.md.
namespace dormouse::runtime {
namespace {

// A file in which two processes record what they did, one line for each event.
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
        settings.tools[0] = job_of(CrashPolicy::never);
    }
    ~CrashTest() override {
        runtime.reset();
        std::remove((settings.store + ".ledger").c_str());
    }

    // Records each run; the process dies in the run with target `dies_at`.
    [[nodiscard]] ToolPtr job_of(CrashPolicy crash) {
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
    // Forks a process that runs `work` with a runtime of these settings and is killed.
    void killed(std::function<void(Runtime&)> const& work) {
        ::pid_t const child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            dying = true;
            auto opened = Runtime::open(settings);
            if (!opened) ::_exit(3);
            work(*opened);
            ::alarm(30);
            while (true) ::pause();  // killed on another thread
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
    // The session that the killed process created.
    SessionId found() {
        return runtime->create({.agent = "ops", .prompt = first_prompt, .key = "the session"})
            .value();
    }
    void dies_after(std::string const& text) {
        first_prompt = text;
        killed([&](Runtime& in) { prompt(in, text); });
        open();
    }
    // Returns the rest of the first line in the ledger that begins with these words.
    std::string text_in_ledger(std::string const& words) {
        for (std::string const& line : ledger->lines())
            if (line.starts_with(words)) return line.substr(words.size());
        ADD_FAILURE() << "nobody noted: " << words;
        return "0";
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
    std::string first_prompt;
    std::string dies_at = "A";
    bool dying = false;  // true in the process that will be killed
};

TEST_F(CrashTest, CrashWhileTheModelIsAsked_AsksAgain) {
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
    EXPECT_EQ(runtime->last_reply(view.id).value(), "Done.");
}

TEST_F(CrashTest, CrashAfterTheReply_NextProcessRunsItsTools) {
    // The reply is durable, and the gate of its call is being asked.
    settings.gates = {{.name = "guard",
                       .decide = [this](Call const&) -> GateDecision {
                           if (dying) die();
                           return Allow{};
                       },
                       .tools = {"job"}}};
    dies_after("job");
    auto const view = at_rest(found());
    EXPECT_EQ(script.asked(), 0U) << "the first reply is kept, and its call waits";
    EXPECT_EQ(count(view.id, "model_replied"), 1U);
    EXPECT_EQ(view.pending.size(), 1U);
    EXPECT_EQ(ledger->lines().size(), 1U);
}

TEST_F(CrashTest, CrashInATool_WithoutRetry_DoesNotRunItAgain) {
    dies_after("job");
    auto view = at_rest(found());
    EXPECT_EQ(ledger->lines().size(), 1U);
    ASSERT_EQ(view.pending.size(), 1U);
    EXPECT_TRUE(view.pending[0].in_doubt || view.pending[0].id == id_in_ledger("A"));
}

TEST_F(CrashTest, CrashInATool_WithRetry_RunsItWithTheSameKey) {
    settings.tools[0] = job_of(CrashPolicy::retry);
    dies_after("job");
    auto const view = at_rest(found());
    auto const lines = ledger->lines();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0], lines[1]) << "one idempotency key";
    EXPECT_EQ(view.pending.at(0).id, id_in_ledger("A"));
}

TEST_F(CrashTest, CrashInParallelTools_OnlyUnfinishedAreInDoubt) {
    settings.tools[0] = job_of(CrashPolicy::retry);
    dies_at = "B";
    first_prompt = "twice";
    killed([&](Runtime& in) { prompt(in, first_prompt); });
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

TEST_F(CrashTest, ResultBeforeThePauseIsDurable_IsAccepted) {
    dies_after("job");  // the job was started outside, but its pause was not recorded
    PendingId const id = id_in_ledger("A");
    auto const receipt = runtime->submit(job, id, {"live"});
    ASSERT_TRUE(receipt) << receipt.error().detail;
    at_rest(id.session);
    EXPECT_EQ(runtime->last_reply(id.session).value(), "Done.");
    EXPECT_EQ(ledger->lines().size(), 1U) << "no second job";
}

TEST_F(CrashTest, Crash_PendingCallKeepsWaiting) {
    dies_at = "";
    first_prompt = "job";
    killed([&](Runtime& in) {
        prompt(in, first_prompt);
        auto const session =
            in.create({.agent = "ops", .prompt = first_prompt, .key = "the session"});
        if (!in.wait_idle(*session, Duration(20'000))) ::_exit(6);
        die();
    });
    open();
    auto const session = found();
    auto const before = runtime->session(session).value();
    EXPECT_EQ(before.activity, Activity::waiting_async);
    EXPECT_EQ(before.pending.at(0).id, id_in_ledger("A"));
    EXPECT_EQ(script.asked(), 0U);
    EXPECT_EQ(runtime->session(session)->head, before.head) << "nothing was written";
    ASSERT_TRUE(runtime->submit(job, before.pending[0].id, {"live"}));
    at_rest(session);
    EXPECT_EQ(runtime->last_reply(session).value(), "Done.");
}

// Killed before, during or after the append of a submission: repeating it finds one receipt.
TEST_F(CrashTest, CrashDuringSubmit_RepeatCountsOnce) {
    dies_at = "";
    first_prompt = "job";
    killed([&](Runtime& in) {
        prompt(in, first_prompt);
        auto const session =
            in.create({.agent = "ops", .prompt = first_prompt, .key = "the session"});
        auto const view = in.wait_idle(*session, Duration(20'000));
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
    EXPECT_EQ(runtime->last_reply(id.session).value(), "Done.");
}

TEST_F(CrashTest, OutstandingContinuation_NextProcessDoesIt) {
    dies_at = "";
    settings.agents[0].model = script.model().through(
        {.name = "dies",
         .before = [this](ModelQuestion& question) -> Result<std::optional<ModelAnswer>> {
             auto const* const answer = question.answer_of("job");
             if (dying && answer && !answer->waits) die();
             return std::nullopt;
         }});
    first_prompt = "job";
    killed([&](Runtime& in) {
        prompt(in, first_prompt);
        auto const session =
            in.create({.agent = "ops", .prompt = first_prompt, .key = "the session"});
        auto const view = in.wait_idle(*session, Duration(20'000));
        if (!in.submit(view->pending.at(0).id, output("live"))) ::_exit(6);
        ledger->note("submitted");
    });
    open();
    auto const session = id_in_ledger("A").session;
    wait_while([&] { return runtime->last_reply(session).value() != "Done."; });
    EXPECT_EQ(runtime->last_reply(session).value(), "Done.");
    EXPECT_EQ(count(session, "submitted"), 1U);
}

TEST_F(CrashTest, ProgressWithAKey_AfterACrash_IsRecordedOnce) {
    dies_at = "";
    first_prompt = "job";
    killed([&](Runtime& in) {
        prompt(in, first_prompt);
        auto const session =
            in.create({.agent = "ops", .prompt = first_prompt, .key = "the session"});
        auto const view = in.wait_idle(*session, Duration(20'000));
        in.progress(view->pending.at(0).id, output("half"), "half", "program", [](auto const&) {});
        die();
    });
    open();
    PendingId const id = id_in_ledger("A");
    ASSERT_TRUE(runtime->progress(id, output("half"), "half"));
    EXPECT_EQ(count(id.session, "progressed"), 1U);
}

TEST_F(CrashTest, ExpiryWhileDown_IsSettledAtTheStart) {
    dies_at = "";
    within = Duration(200);
    first_prompt = "job";
    killed([&](Runtime& in) {
        prompt(in, first_prompt);
        auto const session =
            in.create({.agent = "ops", .prompt = first_prompt, .key = "the session"});
        auto const view = in.wait_idle(*session, Duration(20'000));
        if (!view) ::_exit(6);
        ledger->note("until " + std::to_string(to_ms(*view->pending.at(0).deadline)));
        die();
    });
    Time const deadline = from_ms(std::stoll(text_in_ledger("until ")));
    wait_while([&] { return std::chrono::system_clock::now() <= deadline; });
    open();
    PendingId const id = id_in_ledger("A");
    EXPECT_EQ(code_of(runtime->submit(job, id, {"late"})), "expired");
    wait_while([&] { return runtime->last_reply(id.session).value() != "Done."; });
    EXPECT_EQ(count(id.session, "expired"), 1U);
    EXPECT_EQ(runtime->last_reply(id.session).value(), "Done.") << "and the session continued";
}

TEST_F(CrashTest, CrashAfterADecision_ToolRunsOnce) {
    settings.gates = {{.name = "guard",
                       .decide = [](Call const&) -> GateDecision { return Ask{"Really?"}; },
                       .tools = {"guarded"},
                       .decided = [this](Call const& call) -> GateDecision {
                           ledger->note("decided");
                           if (dying) die();
                           if (!call.resumed()->approved) return Deny{"no"};
                           return Allow{};
                       }}};
    settings.tools[3] = tool("guarded", [this](Work const&) {
        ledger->note("ran");
        return Outcome{"ran"};
    });
    first_prompt = "guarded";
    killed([&](Runtime& in) {
        prompt(in, first_prompt);
        auto const session =
            in.create({.agent = "ops", .prompt = first_prompt, .key = "the session"});
        auto const view = in.wait_idle(*session, Duration(20'000));
        if (!in.decide(view->pending.at(0).id, {.approved = true})) ::_exit(6);
    });
    open();
    at_rest(found());
    EXPECT_EQ(ledger->count("decided"), 2U);
    EXPECT_EQ(ledger->count("ran"), 1U);
}

TEST_F(CrashTest, CrashInATurnInterceptor_CallsItAgain) {
    settings.turns = {{.name = "both",
                       .before = [this](TurnInfo const&) -> TurnDecision {
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
    EXPECT_EQ(count(session, "turn_told"), 2U) << "without a request";
    EXPECT_EQ(ledger->count("after stop"), 3U);
    EXPECT_EQ(count(session, "turn_ended"), 2U);
}

TEST_F(CrashTest, CrashInAValidator_AcceptsNothing) {
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
    first_prompt = "job";
    killed([&](Runtime& in) {
        prompt(in, first_prompt);
        auto const session =
            in.create({.agent = "ops", .prompt = first_prompt, .key = "the session"});
        auto const view = in.wait_idle(*session, Duration(20'000));
        static_cast<void>(in.submit(view->pending.at(0).id, output("live")));
    });
    open();
    PendingId const id = id_in_ledger("A");
    EXPECT_EQ(runtime->session(id.session)->pending.size(), 1U);
    EXPECT_FALSE(runtime->submit(id, output("live"))->duplicate);
}

}  // namespace
}  // namespace dormouse::runtime
