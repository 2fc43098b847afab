#include "tool/adapter.h"

#include "agent/effects.h"
#include "json/json.h"
#include "runner/runner.h"
#include "runner/testing/observer.h"
#include "runner/testing/world.h"
#include "session/testing/build.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

#include <stdexcept>

// Typed tools in sessions, with the real runner, a store in memory and virtual time.
namespace dormouse::tools {
namespace {

using namespace std::chrono_literals;
namespace world = runner::testing;
using session::ViewCall;
using store::MemoryDisk;
using store::MemoryStore;

struct Release {
    std::string service;
    std::optional<std::string> version;
};
struct ReleaseState {
    std::string status;
    std::string url;
};

// Gives the scripted replies, one for each request, and records the views it saw.
class ScriptedModel final : public agent::ComputedModel {
public:
    [[nodiscard]] agent::Reply reply(session::ModelView const& view) const override {
        views.push_back(view);
        if (views.size() > script.size()) return {"well", {}, session::FinishReason::stop, {}};
        return script[views.size() - 1];
    }
    std::vector<agent::Reply> script;
    mutable std::vector<session::ModelView> views;
};

// Runs jobs at once; the loop delivers their completions.
class InlineWorkers final : public port::Workers {
public:
    explicit InlineWorkers(port::Loop& loop) : loop_(loop) {}
    std::stop_source run(port::Fn<void(std::stop_token)> job, port::Fn<void(bool)> done) override {
        std::stop_source source;
        loop_.post([job = std::move(job), done = std::move(done), source]() mutable {
            job(source.get_token());
            done(true);
        });
        return source;
    }

private:
    port::Loop& loop_;
};

class TypedToolInASession : public ::testing::Test {
protected:
    void add(ToolPtr tool) {
        auto made = make_agent_tool(std::move(tool));
        ASSERT_TRUE(made) << made.error().detail;
        names.push_back(made->name);
        registry.add(std::move(*made));
    }
    void says(std::string tool, std::string input) {
        agent::ModelCall call{"c1", std::move(tool), Json::trusted(std::move(input)), {}};
        model->script.push_back({"", {std::move(call)}, session::FinishReason::stop, {}});
    }
    // Starts another process on the same data.
    void open() {
        runner.reset();
        journal.reopen();
        runner::Options options;
        options.numbers.first = journal.store->next_session_number();
        runner = std::make_unique<runner::Runner>(
            runner::Runner::Services{loop, clock, entropy, journal, nodes, effects, effects},
            options, observer);
        runner->start();
        loop.run();
    }
    void begin(std::string const& text = "go") {
        agent::Agent agent;
        agent.id = "ops";
        agent.model = model;
        agent.tools = names;
        registry.add(std::move(agent));
        open();
        session::Create create{{}, "default", "ops", {}, {}, {}, {}, {}, {}};
        runner->create(std::move(create), asker(),
                       [this](Result<runner::Created> made) { id = made.value().session; });
        loop.run();
        session::Prompt prompt;
        prompt.parts = Json::trusted(R"([{"type":"text","text":")" + text + R"("}])");
        ask(std::move(prompt));
    }
    static runner::Asker asker() { return {{session::ActorType::token, "ann"}, {}, {}}; }
    std::string ask(session::Command::Body body) {
        std::string answer = "none";
        runner->command(id, std::move(body), asker(), [&](Result<session::Answer> answered) {
            answer = session::testing::answer_of(session::Decision{{}, answered, {}});
        });
        loop.run();
        return answer;
    }
    std::string submit(Json const& output) {
        session::Submission what;
        what.output = output;
        what.digest = sha256(json::canonical_object("output", output));
        return ask(session::Submit{pending(), std::move(what), "test", {}, {}, {}});
    }
    std::string decide(bool approved, std::string reason = {}) {
        session::Submission what = session::testing::decision(approved, reason);
        return ask(session::Submit{pending(), std::move(what), "test", {}, {}, {}});
    }
    [[nodiscard]] session::State state() {
        auto read = runner::read_session(*journal.store, id);
        return read ? std::move(read->state) : session::State();
    }
    [[nodiscard]] PendingId pending() {
        auto const now = state();
        return now.calls.empty() ? PendingId{} : now.calls.begin()->second.pending;
    }
    // Returns the call as the newest request showed it.
    [[nodiscard]] ViewCall shown() const {
        for (auto const& message : model->views.back().messages) {
            if (!message.calls.empty()) return message.calls.front();
        }
        return {};
    }

    world::TestLoop loop;
    world::TestClock clock{loop};
    world::TestEntropy entropy;
    world::TestJournal<MemoryStore, MemoryDisk> journal{loop};
    world::TestNodes<world::TestJournal<MemoryStore, MemoryDisk>> nodes{loop, journal};
    InlineWorkers workers{loop};
    agent::Registry registry;
    agent::AgentEffects effects{registry,
                                workers,
                                {[](PendingId const& of) { return "https://here/c/" + of.text(); },
                                 [this] { return clock.now(); }}};
    std::shared_ptr<ScriptedModel> model = std::make_shared<ScriptedModel>();
    std::vector<std::string> names;
    world::TestObserver observer;
    std::unique_ptr<runner::Runner> runner;
    SessionId id;
};

TEST_F(TypedToolInASession, SyncTool_Answers_TurnEnds) {
    add(tool("shout", [](Release const& d) { return d.service + "!"; }));
    says("shout", R"({"service":"api"})");
    begin();
    ASSERT_EQ(model->views.size(), 2U);
    EXPECT_EQ(shown().output.text(), "\"api!\"");
    EXPECT_FALSE(state().turn);
}

// B2, B24: sleeps with the placeholder, wakes with the typed result in another process.
TEST_F(TypedToolInASession, PausedCall_GetsTypedResultInAnotherProcessOnce) {
    std::string callback;
    auto const deploy =
        tool("deploy",
             [&callback](Release const& d, Call const& call) -> Outcome<ReleaseState, Pending> {
                 callback = call.callback_url();
                 return Pending{ReleaseState{"queued", ""},
                                {.ref = "job-" + d.service,
                                 .within = 2h,
                                 .message = "deploying",
                                 .metadata = Json::trusted(R"({"by":"ci"})")}};
             },
             {.description = "Deploys.", .estimated = 5min});
    add(deploy);
    says("deploy", R"({"service":"api"})");
    begin();
    EXPECT_EQ(model->views.size(), 1U) << "it sleeps";
    auto const before = state();
    ASSERT_EQ(before.calls.size(), 1U);
    ASSERT_TRUE(before.calls.begin()->second.pause);
    session::PauseTerms const& terms = before.calls.begin()->second.pause->terms;
    EXPECT_EQ(terms.reason, session::PauseReason::tool_result);
    EXPECT_EQ(terms.placeholder.text(), R"({"status":"queued","url":""})");
    EXPECT_EQ(terms.external_ref, "job-api");
    EXPECT_EQ(terms.message, "deploying");
    EXPECT_EQ(terms.schema, schema_of<ReleaseState>()) << "the call has the result's schema";
    EXPECT_EQ(terms.estimated, Duration(5min));
    EXPECT_EQ(terms.metadata.text(), R"({"by":"ci"})");
    EXPECT_EQ(before.calls.begin()->second.pause->deadline, clock.now() + 2h);
    EXPECT_EQ(callback, "https://here/c/" + pending().text());
    open();
    auto const result = deploy.result({.status = "live", .url = "https://api"});
    ASSERT_TRUE(result);
    PendingId const waited = pending();
    EXPECT_EQ(submit(*result), "applied");
    ASSERT_EQ(model->views.size(), 2U);
    EXPECT_EQ(shown().output, *result);
    EXPECT_FALSE(state().turn);
    session::Submission again;
    again.output = *result;
    again.digest = sha256(json::canonical_object("output", *result));
    EXPECT_EQ(ask(session::Submit{waited, again, "test", {}, {}, {}}), "duplicate");
    EXPECT_EQ(model->views.size(), 2U);
}

// B10, B11: an approval, then the job, then its result: two ids, and each function runs once.
TEST_F(TypedToolInASession, ApprovalThenJob_IsAChainThatKeepsItsState) {
    int call_count = 0, went_on = 0;
    std::string seen;
    add(tool(
        "deploy",
        [&call_count](Release const& d) -> Outcome<ReleaseState, NeedApproval> {
            ++call_count;
            return NeedApproval{ReleaseState{"asked", ""},
                                "Deploy " + d.service + "?",
                                {.state = Json::trusted(R"({"plan":7})")}};
        },
        [&](Release const& d, Call const& call) -> Outcome<ReleaseState, Pending> {
            ++went_on;
            seen = std::string(call.resumed()->state.text()) + call.agent() + call.turn_id();
            if (!call.resumed()->approved) return Failed{"no: " + call.resumed()->reason};
            return Pending{ReleaseState{"queued", d.service}};
        }));
    says("deploy", R"({"service":"api"})");
    begin();
    PendingId const approval = pending();
    open();
    EXPECT_EQ(decide(true), "applied");
    EXPECT_EQ(seen, R"({"plan":7})"
                    "ops" +
                        numbered_id("trn_", id, 1));
    PendingId const job = pending();
    EXPECT_NE(job, approval);
    EXPECT_EQ(job.generation, 2U);
    EXPECT_EQ(submit(Json::trusted(R"({"status":"live","url":"u"})")), "applied");
    EXPECT_EQ(shown().output.text(), R"({"status":"live","url":"u"})");
    EXPECT_EQ(call_count, 1);
    EXPECT_EQ(went_on, 1);
}

TEST_F(TypedToolInASession, Denial_IsReportedToTheModel) {
    add(tool(
        "deploy",
        [](Release const&) -> Outcome<ReleaseState, NeedApproval> {
            return NeedApproval{ReleaseState{"asked", ""}, "Sure?"};
        },
        [](Release const&, Call const& call) -> Outcome<ReleaseState> {
            return Failed{"denied: " + call.resumed()->reason};
        }));
    says("deploy", R"({"service":"api"})");
    begin();
    EXPECT_EQ(decide(false, "friday"), "applied");
    EXPECT_EQ(shown().error_text, "denied: friday");
}

TEST_F(TypedToolInASession, Question_IsAnsweredByTheNextMessage) {
    add(tool("ask",
             [](Release const&) -> Outcome<std::string, NeedInput> {
                 return NeedInput{std::string("asked"), "Which version?"};
             },
             {}));
    says("ask", R"({"service":"api"})");
    begin();
    EXPECT_EQ(model->views.size(), 1U);
    session::Prompt prompt;
    prompt.parts = Json::trusted(R"([{"type":"text","text":"v2"}])");
    prompt.answer_output = Json::trusted("\"v2\"");
    prompt.answer_digest = sha256(R"({"output":"v2"})");
    EXPECT_EQ(ask(std::move(prompt)), "applied");
    ASSERT_EQ(model->views.size(), 2U);
    EXPECT_EQ(shown().output.text(), "\"v2\"");
    EXPECT_EQ(pending(), PendingId{});
}

TEST_F(TypedToolInASession, ToolThrows_ModelGetsErrorTurnContinues) {
    add(tool("throws", [](Release const&) -> std::string { throw std::logic_error("no paper"); }));
    says("throws", R"({"service":"api"})");
    begin();
    ASSERT_EQ(model->views.size(), 2U);
    EXPECT_EQ(shown().error_text, "the tool threw: no paper");
    EXPECT_FALSE(state().turn);
}

TEST_F(TypedToolInASession, InvalidArguments_NeverReachTheFunction) {
    bool ran = false;
    add(tool("deploy", [&ran](Release const&) { ran = true; }));
    says("deploy", R"({"servise":"api"})");
    begin();
    EXPECT_TRUE(shown().error_text.starts_with("the arguments do not fit:")) << shown().error_text;
    EXPECT_FALSE(ran);
}

TEST_F(TypedToolInASession, InDoubt_FollowsTheCrashPolicy) {
    int runs = 0;
    add(tool("flaky",
             [&runs](Call const& call) -> Outcome<int> {
                 if (++runs == 1) return InDoubt{"the line broke"};
                 return static_cast<int>(call.attempt());
             },
             {.crash = CrashPolicy::retry}));
    says("flaky", "{}");
    begin();
    loop.advance(1min);
    EXPECT_EQ(shown().output.text(), "2");
    EXPECT_EQ(runs, 2);
}

// Pauses with the terms of the test.
class Pausing final : public Tool {
public:
    explicit Pausing(Await await) : await_(await) {
        declaration_.name = "pausing";
        declaration_.may_pause = {PauseReason::tool_result, PauseReason::user_input,
                                  PauseReason::approval, PauseReason::elicitation};
    }
    [[nodiscard]] Declaration const& declaration() const override { return declaration_; }
    [[nodiscard]] RawOutcome execute(Call const&) const override {
        return Paused{await_, {}, {.without_end = true}};
    }

private:
    Await await_;
    Declaration declaration_;
};

// B4
TEST(MakeAgentTool, Awaits_ArePairsOfTheCoresTable) {
    for (Await const& await :
         {Await{await::Result{}}, Await{await::Result{.reenter = true}}, Await{await::Input{}},
          Await{await::Approval{}}, Await{await::Elicitation{}}}) {
        auto const made = make_agent_tool(std::make_shared<Pausing>(await));
        ASSERT_TRUE(made);
        agent::ToolCall call;
        call.input = Json::trusted("{}");
        auto const result = made->run(call, {});
        auto const& terms = std::get<session::PauseTerms>(result);
        EXPECT_TRUE(session::allowed(terms.reason, terms.continuation));
        EXPECT_EQ(session::text(terms.reason), text(reason(await)));
        EXPECT_EQ(terms.continuation == session::Continuation::reentry, reenters(await));
        EXPECT_EQ(terms.timeout, Duration::max());
    }
}

// Only the runtime can answer a hand-off.
TEST(MakeAgentTool, PauseForHandOff_IsRefused) {
    class HandsOver final : public Tool {
    public:
        HandsOver() {
            declaration_.name = "over";
            declaration_.may_pause = {PauseReason::handoff};
        }
        [[nodiscard]] Declaration const& declaration() const override { return declaration_; }
        [[nodiscard]] RawOutcome execute(Call const&) const override { return Failed{}; }

    private:
        Declaration declaration_;
    };
    auto const made = make_agent_tool(std::make_shared<HandsOver>());
    ASSERT_FALSE(made);
    EXPECT_TRUE(made.error().detail.contains("hand-off")) << made.error().detail;
}

// A pause is a type: no output of a tool is taken for one, whatever it contains.
TEST_F(TypedToolInASession, Output_IsNeverTakenForAPause) {
    add(tool("fetch", [](Call const&) {
        return Json::trusted(R"({"pending":{"externalRef":"x"},"status":"pending"})");
    }));
    says("fetch", "{}");
    begin();
    EXPECT_TRUE(state().calls.empty());
    EXPECT_TRUE(shown().output.text().starts_with(R"({"pending")"));
}

TEST(MakeAgentTool, AgentTool_HasTheDeclaredTerms) {
    auto const made = make_agent_tool(tool(
        "deploy", [](Release const&) -> Outcome<ReleaseState, Pending> { return ReleaseState{}; },
        {.description = "Deploys.",
         .crash = CrashPolicy::ask,
         .time_limit = 5s,
         .within = 1h,
         .gates = {"production"}}));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->name, "deploy");
    EXPECT_TRUE(made->description.starts_with("Deploys.\n\nThis tool may take long"));
    EXPECT_EQ(made->schema, schema_of<Release>());
    EXPECT_EQ(made->result_schema, schema_of<ReleaseState>());
    EXPECT_EQ(made->terms.crash, session::CrashPolicy::ask);
    EXPECT_TRUE(made->terms.may_pause_for(session::PauseReason::tool_result));
    EXPECT_EQ(made->terms.pause_timeout, Duration(1h));
    EXPECT_EQ(made->terms.time_limit, Duration(5s));
    EXPECT_EQ(made->terms.gates, std::vector<std::string>{"production"});
    EXPECT_EQ(make_agent_tool(nullptr).error().code, Code::bad_value);
    EXPECT_EQ(make_agent_tool(tool("no name", [] {})).error().code, Code::bad_value);
}

}  // namespace
}  // namespace dormouse::tools
