#include "external/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::external {
namespace {

using port::ProcessEnd;
using How = ProcessEnd::How;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct HandClock final : port::Clock {
    [[nodiscard]] Time now() const override { return from_ms(0) + time; }
    [[nodiscard]] Duration monotonic() const override { return time; }
    Duration time{0};
};

ProcessEnd ended(How how, int status = 0, std::string output = {}, std::string error = {}) {
    ProcessEnd out;
    out.how = how;
    out.status = status;
    out.output = std::move(output);
    out.error = std::move(error);
    return out;
}

class ManyProcesses final : public port::Processes {
public:
    Number start(port::ProcessSpec spec, port::Fn<void(ProcessEnd)> done) override {
        started.push_back(std::move(spec));
        ends.emplace(started.size(), std::move(done));
        return started.size();
    }
    void stop(Number process) override {
        stopped.push_back(process);
        ends.erase(process);
    }
    void write(Number, std::string_view) override { ADD_FAILURE() << "unexpected call"; }
    void end(Number) override { ADD_FAILURE() << "unexpected call"; }
    void kill(Number) override { ADD_FAILURE() << "unexpected call"; }
    void rest(Number, port::Fn<void()>) override { ADD_FAILURE() << "unexpected call"; }
    void work(Number) override { ADD_FAILURE() << "unexpected call"; }
    void exit(Number process, int status, std::string output = {}, std::string error = {}) {
        finish(process, ended(How::exited, status, std::move(output), std::move(error)));
    }
    void finish(Number process, ProcessEnd how) {
        auto done = std::move(ends.extract(process).mapped());
        done(std::move(how));
    }

    std::vector<port::ProcessSpec> started;  // number n is at position n, from 1
    std::map<Number, port::Fn<void(ProcessEnd)>> ends;
    std::vector<Number> stopped;
};

class ValidatorTest : public ::testing::Test {
protected:
    ValidatorTest() {
        validators.emplace(processes, clock, Validators::Limits{.at_once = 2, .waiting = 2});
        validators->on_validated([this](PendingId const&, std::string const& tool,
                                        Validators::ValidationStatus status,
                                        std::string const& why) {
            events.push_back(tool + " " + std::string(text(status)) + (why.empty() ? "" : ": ") +
                             why);
        });
    }
    static port::OfferedResult offered(std::string output = R"({"status":"live"})") {
        port::OfferedResult out;
        out.pending.session = SessionId::make(7, {1});
        out.pending.call = 3;
        out.pending.generation = 1;
        out.tool = "deploy";
        out.arguments = Json::trusted(R"({"ref":"main"})");
        out.output = Json::trusted(std::move(output));
        return out;
    }
    // Its answer is put into `answers` at the returned position.
    std::size_t ask(std::string output = R"({"status":"live"})") {
        std::size_t const place = answers.size();
        answers.emplace_back("none");
        drops.push_back(
            validators->ask(validator, offered(std::move(output)), [this, place](auto result) {
                answers[place] = !result   ? std::string(info(result.error().code).text)
                                 : *result ? "misfit: " + **result
                                           : "fits";
                if (!result) error = result.error();
            }));
        return place;
    }
    std::string exits(int status, std::string output = {}, std::string complaint = {}) {
        return ends(ended(How::exited, status, std::move(output), std::move(complaint)));
    }
    std::string ends(ProcessEnd end) {
        std::size_t const place = ask();
        processes.finish(processes.started.size(), std::move(end));
        return answers[place];
    }

    HandClock clock;
    ManyProcesses processes;
    std::shared_ptr<Validator const> validator = std::make_shared<Validator const>(
        Validator{{"./check", "--all"}, "/srv", {"PATH=/bin"}, Duration(2'500)});
    std::optional<Validators> validators;
    std::vector<std::string> events;
    std::vector<std::string> answers;
    std::vector<agent::StopTool> drops;
    Error error;
};

TEST_F(ValidatorTest, Validator_GetsTheResultOnStandardInput) {
    EXPECT_EQ(exits(0), "fits");
    port::ProcessSpec const& spec = processes.started.front();
    EXPECT_EQ(spec.argv, validator->argv);
    EXPECT_EQ(spec.cwd, "/srv");
    EXPECT_EQ(spec.time_limit, Duration(2'500));
    std::string const session = offered().pending.session.text();
    EXPECT_EQ(spec.input, "{\"tool\":\"deploy\",\"pendingID\":\"" + offered().pending.text() +
                              "\",\"sessionID\":\"" + session +
                              "\",\"callID\":\"call_3\",\"arguments\":{\"ref\":\"main\"},"
                              "\"output\":{\"status\":\"live\"}}\n");
    EXPECT_THAT(spec.environment, Contains("PATH=/bin"));
    EXPECT_THAT(spec.environment, Contains("DORMOUSE_SESSION_ID=" + session));
    EXPECT_THAT(spec.environment, Contains("DORMOUSE_PENDING_ID=" + offered().pending.text()));
    EXPECT_THAT(spec.environment, Contains("DORMOUSE_CALL_ID=call_3"));
    EXPECT_THAT(spec.environment, Contains("DORMOUSE_TOOL=deploy"));
    EXPECT_THAT(events, ElementsAre("deploy fits"));
}

TEST_F(ValidatorTest, ExitStatus1_OutputIsTheReason) {
    EXPECT_EQ(exits(1, "status must be live\n"), "misfit: status must be live");
    EXPECT_EQ(exits(1, "no\n", "and a complaint"), "misfit: no");
    EXPECT_EQ(exits(1), "misfit: the tool's validator rejected it without a reason");
    std::string lines;
    for (int n = 0; n < 30; ++n) lines += "line " + std::to_string(n) + "\n";
    EXPECT_THAT(exits(1, lines), HasSubstr("line 9"));
    EXPECT_THAT(exits(1, lines), Not(HasSubstr("line 10")));
    EXPECT_LT(exits(1, std::string(50'000, 'x')).size(), 1'100U);
    EXPECT_EQ(exits(1, "\xFF"), "misfit: \xEF\xBF\xBD") << "only valid UTF-8";
    EXPECT_EQ(events.front(), "deploy misfit") << "only the sender gets what it wrote";
}

TEST_F(ValidatorTest, AnyOtherEnd_MeansThatItFailed) {
    auto const fails = [&](ProcessEnd end, std::string const& why) {
        EXPECT_EQ(ends(std::move(end)), "validator_unavailable");
        EXPECT_EQ(error.detail,
                  "The validator of the tool failed: " + why + "; the call still waits.");
        EXPECT_EQ(error.retry_after_ms, 5'000);
        EXPECT_EQ(events.back(), "deploy failed: " + why);
    };
    fails(ended(How::exited, 2, "s3cret", "s3cret"), "it ended with exit status 2");
    fails(ended(How::exited, 1, " \n", "Traceback: s3cret"),
          "it ended with exit status 1 and wrote only to standard error");
    fails(ended(How::signalled, 11, "", ""), "it was ended by signal 11");
    fails(ended(How::timed_out, 0, "", ""), "it took longer than its time limit of 2.500 s");
    fails(ended(How::flooded, 0, "", ""), "it exceeded its output limit of 64 KiB");
    EXPECT_EQ(ends(ended(How::not_started, 0, "", "no such file: /srv/check")),
              "validator_unavailable");
    EXPECT_THAT(error.detail, Not(HasSubstr("/srv"))) << "file names are only for operators";
    EXPECT_EQ(events.back(), "deploy failed: it cannot be started: no such file: /srv/check");
}

TEST_F(ValidatorTest, Queue_RunsAndHoldsLimitedNumbers_RefusesOthers) {
    for (int n = 0; n < 5; ++n) ask();
    EXPECT_EQ(processes.started.size(), 2U);
    EXPECT_EQ(validators->waiting(), 2U);
    EXPECT_THAT(answers, ElementsAre("none", "none", "none", "none", "overloaded"));
    EXPECT_EQ(error.retry_after_ms, 5'000);
    EXPECT_THAT(events, ElementsAre("deploy refused: too many results wait already"));
    processes.exit(2, 0);
    EXPECT_EQ(processes.started.size(), 3U) << "the oldest that waits is next";
    processes.exit(3, 1, "no");
    processes.exit(1, 0);
    processes.exit(4, 0);
    EXPECT_THAT(answers, ElementsAre("fits", "fits", "misfit: no", "fits", "overloaded"));
    EXPECT_EQ(validators->running() + validators->waiting(), 0U);
}

TEST_F(ValidatorTest, Queue_IsLimitedInBytes) {
    validators.emplace(processes, clock,
                       Validators::Limits{.at_once = 1, .waiting = 10, .waiting_bytes = 1'000});
    ask();
    auto const large = ask("\"" + std::string(900, 'x') + "\"");
    EXPECT_EQ(answers[large], "overloaded");
    for (int n = 0; n < 10; ++n) ask();
    std::size_t const waiting = validators->waiting();
    EXPECT_GE(waiting, 2U);
    EXPECT_LT(waiting, 10U);
    for (std::size_t n = 0; n <= waiting; ++n) processes.exit(n + 1, 0);
    ask();
    ask();
    EXPECT_EQ(validators->waiting(), 1U) << "started ones do not count any more";
}

TEST_F(ValidatorTest, Queue_WaitedTooLong_IsRefused) {
    for (int n = 0; n < 4; ++n) ask();
    clock.time += Duration(30'001);
    processes.exit(1, 0);
    EXPECT_THAT(answers, ElementsAre("fits", "none", "overloaded", "overloaded"));
    EXPECT_THAT(events.back(), HasSubstr("waited too long"));
    EXPECT_EQ(processes.started.size(), 2U);
    auto const later = ask();
    processes.exit(3, 0);
    EXPECT_EQ(answers[later], "fits");
}

TEST_F(ValidatorTest, DroppedQuestion_FreesItsPlaceWithoutAnswer) {
    for (int n = 0; n < 4; ++n) ask();
    drops[2]();
    EXPECT_EQ(validators->waiting(), 1U);
    drops[0]();
    EXPECT_THAT(processes.stopped, ElementsAre(1U));
    EXPECT_EQ(processes.started.size(), 3U);
    processes.exit(3, 0);
    EXPECT_THAT(answers, ElementsAre("none", "none", "none", "fits"));
    drops[3]();  // it has ended
    EXPECT_EQ(processes.stopped.size(), 1U);
}

TEST_F(ValidatorTest, Destructor_EndsRunningOnesWithoutCallbacks) {
    ask();
    auto const drop = ask();
    validators.reset();
    EXPECT_THAT(processes.stopped, ElementsAre(1U, 2U));
    drops[drop]();
    EXPECT_THAT(answers, ElementsAre("none", "none"));
}

// A tool with a validator.

class CheckedToolTest : public ValidatorTest {
protected:
    CheckedToolTest() {
        agent::Tool plain;
        plain.name = "deploy";
        plain.start = [this](agent::ToolCall const&, port::Fn<void(agent::ToolResult)> done) {
            ended = std::move(done);
            return [this] { ++stopped; };
        };
        plain.poll = [this](agent::PollCall const&, port::Fn<void(agent::PollResult)> done) {
            polled = std::move(done);
            return [this] { ++stopped; };
        };
        tool = with_validator(std::move(plain), *validator, *validators);
    }
    agent::StopTool start() {
        agent::ToolCall call;
        call.pending = offered().pending;
        call.tool = "deploy";
        call.input = Json::trusted(R"({"ref":"main"})");
        return tool.start(std::move(call), [this](agent::ToolResult result) {
            auto const* failed = std::get_if<agent::Failed>(&result);
            auto const* done = std::get_if<agent::Done>(&result);
            outcome = done     ? "done " + std::string(done->output.text())
                      : failed ? "failed " + failed->message
                               : "other";
        });
    }
    agent::StopTool poll() {
        agent::PollCall call{offered().pending, Json::trusted("{}"), "deploy", ""};
        return tool.poll(std::move(call), [this](agent::PollResult result) {
            auto const* failed = std::get_if<agent::Failed>(&result);
            auto const* not_yet = std::get_if<agent::NotYet>(&result);
            outcome = failed    ? "failed " + failed->message
                      : not_yet ? "not yet " + not_yet->error
                                : "done";
        });
    }
    static agent::Done live() { return {Json::trusted("\"live\"")}; }

    agent::Tool tool;
    port::Fn<void(agent::ToolResult)> ended;
    port::Fn<void(agent::PollResult)> polled;
    int stopped = 0;
    std::string outcome = "none";
};

TEST_F(CheckedToolTest, Attempt_ResultIsChecked) {
    start();
    ended(live());
    EXPECT_EQ(outcome, "none");
    EXPECT_THAT(processes.started.at(0).input, HasSubstr("\"output\":\"live\""));
    EXPECT_THAT(processes.started.at(0).input, HasSubstr("\"ref\":\"main\""));
    processes.exit(1, 0);
    EXPECT_EQ(outcome, "done \"live\"");
    start();
    ended(live());
    processes.exit(2, 1, "not there");
    EXPECT_EQ(outcome, "failed the tool's validator refused its output: not there");
    start();
    ended(live());
    processes.exit(3, 7);
    EXPECT_THAT(outcome, HasSubstr("the tool has ended, and its output could not be checked"));
}

TEST_F(CheckedToolTest, Attempt_FailureOrPauseIsNotChecked) {
    start();
    ended(agent::Failed{"no room"});
    EXPECT_EQ(outcome, "failed no room");
    start();
    ended(session::PauseTerms{});
    EXPECT_EQ(outcome, "other");
    EXPECT_TRUE(processes.started.empty());
}

TEST_F(CheckedToolTest, Poll_ResultIsChecked_RepeatedIfThatFails) {
    poll();
    polled(live());
    processes.exit(1, 7);
    EXPECT_THAT(outcome, HasSubstr("not yet its output could not be checked"));
    poll();
    polled(live());
    processes.exit(2, 1, "no");
    EXPECT_EQ(outcome, "failed the tool's validator refused its output: no");
    poll();
    polled(live());
    processes.exit(3, 0);
    EXPECT_EQ(outcome, "done");
    poll();
    polled(agent::NotYet{"wait"});
    EXPECT_EQ(outcome, "not yet wait");
}

TEST_F(CheckedToolTest, Stop_EndsAttemptOrCheck) {
    auto stop = start();
    stop();
    EXPECT_EQ(stopped, 1);
    stop = start();
    ended(live());
    stop();
    EXPECT_EQ(stopped, 1);
    EXPECT_THAT(processes.stopped, ElementsAre(1U));
    EXPECT_EQ(outcome, "none");
}

TEST_F(CheckedToolTest, TimeLimit_IncludesTheCheck) {
    agent::Tool const plain;
    EXPECT_EQ(tool.terms.time_limit, plain.terms.time_limit + Duration(32'500));
}

}  // namespace
}  // namespace dormouse::external
