#include "external/command_tool.h"

#include "session/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::external {
namespace {

using namespace session;
using port::ProcessEnd;
using How = ProcessEnd::How;
using testing::Contains;
using testing::HasSubstr;

class FakeProcesses final : public port::Processes {
public:
    Number start(port::ProcessSpec spec, port::Fn<void(ProcessEnd)> done) override {
        started = std::move(spec);
        ended = std::move(done);
        return 5;
    }
    void stop(Number process) override { stopped.push_back(process); }
    void write(Number, std::string_view) override { ADD_FAILURE() << "unexpected call"; }
    void end(Number) override { ADD_FAILURE() << "unexpected call"; }
    void kill(Number) override { ADD_FAILURE() << "unexpected call"; }
    void rest(Number, port::Fn<void()>) override { ADD_FAILURE() << "unexpected call"; }
    void work(Number) override { ADD_FAILURE() << "unexpected call"; }

    port::ProcessSpec started;
    port::Fn<void(ProcessEnd)> ended;
    std::vector<Number> stopped;
};

class CommandToolTest : public ::testing::Test {
protected:
    CommandToolTest() {
        options.declared.name = "deploy";
        options.argv = {"./deploy.sh", "--quiet"};
        options.cwd = "/srv";
        options.environment = {"PATH=/bin"};
        call.pending.call = 3;
        call.attempt = 2;
        call.tool = "deploy";
        call.input = Json::trusted(R"({"ref":"main"})");
        call.callback_url = "https://dm.example.org/c/cap_x";
        call.deadline = from_ms(1'800'000'000'000);
    }
    agent::ToolResult ends(ProcessEnd end) {
        agent::ToolResult out = agent::Failed{"nothing came"};
        agent::Tool const tool = make_command_tool(options, processes);
        stop = tool.start(call, [&](agent::ToolResult result) { out = std::move(result); });
        processes.ended(std::move(end));
        return out;
    }
    agent::ToolResult exits(int status, std::string output, std::string error = {},
                            std::string side = {}) {
        return ends({How::exited, status, std::move(output), std::move(error), std::move(side)});
    }
    static std::string done(agent::ToolResult const& result) {
        auto const* out = std::get_if<agent::Done>(&result);
        return out ? std::string(out->output.text()) : "not done";
    }
    static std::string failed(agent::ToolResult const& result) {
        auto const* out = std::get_if<agent::Failed>(&result);
        return out ? out->message : "not failed";
    }
    static std::string lost(agent::ToolResult const& result) {
        auto const* out = std::get_if<InDoubt>(&result);
        return out ? out->message : "not lost";
    }

    FakeProcesses processes;
    CommandTool options;
    agent::ToolCall call;
    agent::StopTool stop;
};

TEST_F(CommandToolTest, Arguments_ComeOnStandardInputWithoutShell) {
    (void)exits(0, "");
    EXPECT_EQ(processes.started.argv, options.argv);
    EXPECT_EQ(processes.started.cwd, "/srv");
    EXPECT_EQ(processes.started.input, "{\"ref\":\"main\"}\n");
    EXPECT_EQ(processes.started.output_max, limits::artifact_bytes_max);
}

TEST_F(CommandToolTest, Environment_NamesTheCall) {
    (void)exits(0, "");
    auto const& environment = processes.started.environment;
    EXPECT_THAT(environment, Contains("PATH=/bin"));
    EXPECT_THAT(environment, Contains("DORMOUSE_PENDING_ID=" + call.pending.text()));
    EXPECT_THAT(environment, Contains("DORMOUSE_IDEMPOTENCY_KEY=" + call.pending.text()));
    EXPECT_THAT(environment, Contains("DORMOUSE_CALLBACK_URL=https://dm.example.org/c/cap_x"));
    EXPECT_THAT(environment, Contains("DORMOUSE_SESSION_ID=" + call.pending.session.text()));
    EXPECT_THAT(environment, Contains("DORMOUSE_ATTEMPT=2"));
    EXPECT_THAT(environment, Contains("DORMOUSE_DEADLINE=1800000000000"));
}

TEST_F(CommandToolTest, Output_IsResultAsJsonOrText) {
    EXPECT_EQ(done(exits(0, " {\"url\": \"x\"}\n")), "{\"url\": \"x\"}");
    EXPECT_EQ(done(exits(0, "deployed\n")), "\"deployed\"");
    EXPECT_EQ(done(exits(0, "")), "\"\"");
    EXPECT_EQ(done(exits(0, "\xFF")), "\"\xEF\xBF\xBD\"") << "only valid UTF-8";
}

TEST_F(CommandToolTest, Success_StandardErrorIsMetadata) {
    auto const noisy = exits(0, " is live\n", std::string(9'000, 'x') + "\njqq: not found\n");
    std::string const kept(std::get<agent::Done>(noisy).metadata.text());
    EXPECT_THAT(kept, HasSubstr("jqq: not found\"}"));
    EXPECT_LT(kept.size(), 4'200U);
    EXPECT_TRUE(std::get<agent::Done>(exits(0, "live", " \n")).metadata.is_null());
}

TEST_F(CommandToolTest, OutputMismatchingSchema_IsAnErrorForTheModel) {
    options.declared.result_schema = Json::trusted(R"({"type":"object","required":["url"]})");
    EXPECT_THAT(failed(exits(0, "{}")), HasSubstr("does not fit its result schema"));
    EXPECT_EQ(done(exits(0, R"({"url":1})")), R"({"url":1})");
}

TEST_F(CommandToolTest, OtherExitStatus_ErrorWithEndOfStandardError) {
    EXPECT_EQ(failed(exits(3, "half", "no such ref\n")), "exit status 3: no such ref");
    EXPECT_EQ(failed(exits(1, "")), "exit status 1");
    std::string const message = failed(exits(1, "", std::string(9'000, 'x') + "the end"));
    EXPECT_LT(message.size(), 2'100U);
    EXPECT_THAT(message, HasSubstr("the end"));
}

TEST_F(CommandToolTest, Exit75OrLineOnDescriptor3_MeansLater) {
    auto const plain = exits(75, "ignored");
    ASSERT_TRUE(std::holds_alternative<PauseTerms>(plain));
    auto const result = exits(0, "", "",
                              R"({"pending":{"externalRef":"job-1","estimatedDuration":60000,)"
                              R"("placeholder":{"status":"queued"},"message":"soon"}})"
                              "\n");
    ASSERT_TRUE(std::holds_alternative<PauseTerms>(result));
    auto const& pause = std::get<PauseTerms>(result);
    EXPECT_EQ(pause.reason, PauseReason::tool_result);
    EXPECT_EQ(pause.external_ref, "job-1");
    EXPECT_EQ(pause.estimated, Duration(60'000));
    EXPECT_EQ(pause.placeholder.text(), R"({"status":"queued"})");
    EXPECT_EQ(pause.message, "soon");
    EXPECT_EQ(
        std::get<PauseTerms>(exits(75, "", "", R"({"pending":{"externalRef":"j"}})")).external_ref,
        "j");
}

TEST_F(CommandToolTest, Pause_HasTheResultSchema) {
    options.declared.result_schema = Json::trusted(R"({"type":"string"})");
    EXPECT_EQ(std::get<PauseTerms>(exits(75, "")).schema.text(), R"({"type":"string"})");
}

TEST_F(CommandToolTest, Descriptor3_InvalidLine_IsReported) {
    EXPECT_THAT(failed(exits(0, "", "", "pending")), HasSubstr("descriptor 3"));
    EXPECT_THAT(failed(exits(0, "", "", "{}")), HasSubstr("one line"));
    EXPECT_THAT(failed(exits(75, "", "", R"({"pending":{"external_ref":"x"}})")),
                HasSubstr("external_ref is not known"));
    EXPECT_THAT(failed(exits(0, "", "", R"({"pending":{"estimatedDuration":"1h"}})")),
                HasSubstr("milliseconds"));
    EXPECT_EQ(failed(exits(4, "", "broken", R"({"pending":{}})")), "exit status 4: broken")
        << "the exit status counts more than descriptor 3";
}

TEST_F(CommandToolTest, ChildProcesses_StayOnlyIfTheResultComesLater) {
    (void)exits(0, "");
    auto const& may = processes.started.may_leave_behind;
    EXPECT_TRUE(may({How::exited, 75, {}, {}, {}}));
    EXPECT_TRUE(may({How::exited, 0, {}, {}, R"({"pending":{}})"}));
    EXPECT_FALSE(may({How::exited, 0, {}, {}, {}}));
    EXPECT_FALSE(may({How::exited, 1, {}, {}, R"({"pending":{}})"}));
    EXPECT_FALSE(may({How::timed_out, 75, {}, {}, {}}));
}

TEST_F(CommandToolTest, SignalOrTimeout_FollowsCrashPolicy) {
    EXPECT_EQ(lost(ends({How::signalled, 9, {}, "oom", {}})),
              "the program was ended by signal 9: oom");
    options.declared.time_limit = Duration(30'000);
    EXPECT_THAT(lost(ends({How::timed_out, 15, {}, {}, {}})), HasSubstr("time limit of 30 s"));
    EXPECT_EQ(processes.started.time_limit, Duration(30'000));
}

TEST_F(CommandToolTest, TooMuchOutput_IsAnErrorForTheModel) {
    EXPECT_THAT(failed(ends({How::flooded, 9, {}, {}, {}})), HasSubstr("8 MiB"));
}

TEST_F(CommandToolTest, ProgramThatCannotStart_DidNothing) {
    auto const result = ends({How::not_started, 0, {}, "No such file or directory", {}});
    EXPECT_EQ(failed(result),
              "the program './deploy.sh' cannot be started: No such file or directory");
    EXPECT_FALSE(std::get<agent::Failed>(result).nothing_done);
    EXPECT_TRUE(
        std::get<agent::Failed>(ends({How::not_started, 0, {}, "busy", {}, true})).nothing_done);
}

TEST_F(CommandToolTest, Stop_EndsTheProgram) {
    (void)exits(0, "");
    stop();
    EXPECT_THAT(processes.stopped, testing::ElementsAre(5));
}

TEST_F(CommandToolTest, Tool_HasTheConfiguredTerms) {
    options.declared.crash = CrashPolicy::ask;
    options.declared.timeout = Duration(1'000);
    options.declared.time_limit = Duration(5'000);
    agent::Tool const tool = make_command_tool(options, processes);
    EXPECT_EQ(tool.terms.crash, CrashPolicy::ask);
    EXPECT_EQ(tool.terms.pause_timeout, Duration(1'000));
    EXPECT_GT(tool.terms.time_limit, Duration(5'000))
        << "the core's limit is longer than the tool's";
    EXPECT_TRUE(tool.terms.may_pause_for(PauseReason::tool_result));
    options.declared.later = false;
    EXPECT_TRUE(make_command_tool(options, processes).terms.may_pause.empty());
}

TEST_F(CommandToolTest, LaterNever_PauseIsAnError) {
    options.declared.later = false;
    EXPECT_THAT(failed(exits(75, "")), HasSubstr("later = \"never\""));
    EXPECT_THAT(failed(exits(0, "", "", R"({"pending":{}})")), HasSubstr("later = \"never\""));
    EXPECT_EQ(done(exits(0, "7")), "7");
    EXPECT_FALSE(processes.started.may_leave_behind) << "its child processes are ended with it";
}

}  // namespace
}  // namespace dormouse::external
