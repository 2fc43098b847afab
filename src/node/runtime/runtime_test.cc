#include "base/test_wait.h"
#include "runtime/testing/runtime_fixture.h"
#include "store/sqlite/sqlite_store.h"

#include <thread>

// The rows T of docs/requirements.md ("Tests of the source of B").
namespace dormouse::runtime {
namespace {

TEST_F(RuntimeTest, ExternalResult_EndToEnd) {
    open();
    auto const asleep = start("job");
    ASSERT_EQ(asleep.pending.size(), 1U);
    PendingCall const& call = asleep.pending[0];
    EXPECT_EQ(asleep.activity, Activity::waiting_async);
    EXPECT_EQ(call.tool, "job");
    EXPECT_EQ(call.external_ref, "job-A");
    EXPECT_EQ(call.reason, PauseReason::tool_result);

    auto const receipt = runtime->submit(job, call.id, {"live"});
    ASSERT_TRUE(receipt) << receipt.error().detail;
    EXPECT_FALSE(receipt->duplicate);
    EXPECT_EQ(receipt->status, CallStatus::completed);
    auto const awake = at_rest(asleep.id);
    EXPECT_TRUE(awake.pending.empty());
    EXPECT_EQ(runtime->last_reply(asleep.id).value(), "Done.");

    auto const again = runtime->submit(job, call.id, {"live"});
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->duplicate);
    EXPECT_EQ(again->seq, receipt->seq);
    EXPECT_EQ(job_runs, 1);
}

TEST_F(RuntimeTest, SecondResult_IsAConflictAndChangesNothing) {
    open();
    auto const asleep = start("job");
    ASSERT_TRUE(runtime->submit(job, asleep.pending[0].id, {"live"}));
    auto const head = at_rest(asleep.id).head;
    EXPECT_EQ(code_of(runtime->submit(job, asleep.pending[0].id, {"dead"})), "conflict");
    // A note records the refused result; nothing that the model sees has changed.
    EXPECT_LE(at_rest(asleep.id).head, head + 1);
    EXPECT_EQ(runtime->last_reply(asleep.id).value(), "Done.");
}

TEST_F(RuntimeTest, Submission_IsDurableWhenItReturns) {
    on_disk();
    open();
    auto const asleep = start("job");
    ASSERT_TRUE(runtime->submit(job, asleep.pending[0].id, {"live"}));
    open();  // the model's reply comes from this process or the previous one
    EXPECT_TRUE(at_rest(asleep.id).pending.empty());
    EXPECT_EQ(runtime->last_reply(asleep.id).value(), "Done.");
    PendingId unknown = asleep.pending[0].id;
    unknown.nonce[0] ^= 1;
    EXPECT_EQ(code_of(runtime->submit(unknown, output("live"))), "not_found");
}

TEST_F(RuntimeTest, ApprovedTool_RunsOnce) {
    open();
    auto const asleep = start("guarded");
    ASSERT_EQ(asleep.pending.size(), 1U);
    EXPECT_EQ(asleep.pending[0].message, "Really?");
    EXPECT_EQ(asleep.pending[0].gate, "guard");
    EXPECT_EQ(asleep.pending[0].reason, PauseReason::approval);
    EXPECT_EQ(guarded_runs, 0);
    ASSERT_TRUE(runtime->decide(asleep.pending[0].id, {.approved = true}));
    at_rest(asleep.id);
    EXPECT_EQ(guarded_runs, 1);
    ASSERT_TRUE(runtime->decide(asleep.pending[0].id, {.approved = true})->duplicate);
    at_rest(asleep.id);
    EXPECT_EQ(guarded_runs, 1);
}

TEST_F(RuntimeTest, DeniedTool_DoesNotRun_ModelSeesTheReason) {
    open();
    auto const asleep = start("guarded");
    ASSERT_TRUE(
        runtime->decide(asleep.pending[0].id, {.approved = false, .reason = "it is Friday"}));
    at_rest(asleep.id);
    EXPECT_EQ(guarded_runs, 0);
    bool notified = false;
    auto const all_of_them = runtime->events(asleep.id).value();
    for (Event const& event : all_of_them)
        notified = notified || event.data.text().contains("it is Friday");
    EXPECT_TRUE(notified);
}

TEST_F(RuntimeTest, ApprovalThenJob_AreTwoPausesOfOneCall) {
    open();
    auto const first_call = start("both steps").pending.at(0);
    ASSERT_TRUE(runtime->decide(first_call.id, {.approved = true}));
    auto const waits = at_rest(first_call.id.session).pending.at(0);
    EXPECT_NE(waits.id, first_call.id);
    EXPECT_EQ(waits.id.call, first_call.id.call);
    EXPECT_EQ(waits.external_ref, "job-after");
    // A second "approve" finds the receipt of the first pause, and does not answer the second one.
    EXPECT_TRUE(runtime->decide(first_call.id, {.approved = true})->duplicate);
    EXPECT_EQ(at_rest(first_call.id.session).pending.at(0).id, waits.id);
    ASSERT_TRUE(runtime->submit(guarded_job, waits.id, {"live"}));
    EXPECT_TRUE(at_rest(first_call.id.session).pending.empty());
    EXPECT_EQ(job_runs, 1);
}

TEST_F(RuntimeTest, Decision_OtherDigest_IsRefused) {
    open();
    auto const call = start("guarded").pending.at(0);
    auto other = call.input_digest;
    other.back() = other.back() == '0' ? '1' : '0';
    EXPECT_EQ(code_of(runtime->decide(call.id, {.approved = true, .digest = other})),
              "input_changed");
    EXPECT_EQ(code_of(runtime->decide(call.id, {.approved = true, .digest = "nonsense"})),
              "bad_value");
    EXPECT_EQ(guarded_runs, 0);
    EXPECT_TRUE(runtime->decide(call.id, {.approved = true, .digest = call.input_digest}));
}

TEST_F(RuntimeTest, EditedArguments_AreCheckedAndReachTheTool) {
    std::string seen;
    settings.tools.back() = tool("guarded_job", [&seen](Work const& work) {
        seen = work.target;
        return Outcome{"ran"};
    });
    open();
    auto const call = start("both steps").pending.at(0);
    Json const wrong = to_json(Outcome{"no target"}).value();
    EXPECT_EQ(code_of(runtime->decide(call.id, {.approved = true, .arguments = wrong})),
              "invalid_arguments");
    ASSERT_TRUE(runtime->decide(call.id, {.approved = true, .arguments = input("edited")}));
    at_rest(call.id.session);
    EXPECT_EQ(seen, "edited");
}

TEST_F(RuntimeTest, ResultOfAnotherTool_IsRefused) {
    open();
    auto const call = start("job").pending.at(0);
    EXPECT_EQ(code_of(runtime->submit(guarded, call.id, {"live"})), "wrong_tool");
    EXPECT_EQ(code_of(runtime->submit(call.id, to_json(Work{"A"}).value())), "invalid_result");
    EXPECT_EQ(at_rest(call.id.session).pending.size(), 1U);
}

TEST_F(RuntimeTest, OneStep_SyncAndAsyncCalls_ContinuesAfterAll) {
    open();
    auto const asleep = start("mixed");
    ASSERT_EQ(asleep.pending.size(), 1U);
    EXPECT_EQ(asleep.pending[0].tool, "job");
    ASSERT_TRUE(runtime->submit(job, asleep.pending[0].id, {"live"}));
    EXPECT_EQ(at_rest(asleep.id).activity, Activity::idle);
}

TEST_F(RuntimeTest, Question_IsAnsweredByTheNextMessage) {
    open();
    auto const asleep = start("ask");
    ASSERT_EQ(asleep.pending.size(), 1U);
    EXPECT_EQ(asleep.pending[0].message, "Which A?");
    ASSERT_TRUE(runtime->prompt(asleep.id, "the red one"));
    EXPECT_TRUE(at_rest(asleep.id).pending.empty());
}

TEST_F(RuntimeTest, Expiry_IsReported_LateResultIsRefused) {
    within = Duration(150);
    open();
    auto const asleep = start("job");
    PendingId const id = asleep.pending.at(0).id;
    wait_while([&] { return !at_rest(asleep.id).pending.empty(); });
    EXPECT_EQ(at_rest(asleep.id).activity, Activity::idle);
    EXPECT_EQ(count(asleep.id, "expired"), 1U);
    EXPECT_EQ(code_of(runtime->submit(job, id, {"late"})), "expired");
    EXPECT_EQ(count(asleep.id, "note"), 1U);
}

TEST_F(RuntimeTest, ProgressWithAKey_IsRecordedOnce) {
    open();
    auto const call = start("job").pending.at(0);
    EXPECT_TRUE(runtime->progress(call.id, output("10 %"), "a"));
    EXPECT_TRUE(runtime->progress(call.id, output("10 %"), "a"));
    EXPECT_TRUE(runtime->progress(call.id, output("20 %")));
    EXPECT_EQ(count(call.id.session, "progressed"), 2U);
    ASSERT_TRUE(runtime->submit(job, call.id, {"live"}));
    EXPECT_NE(code_of(runtime->progress(call.id, output("99 %"))), "");
}

TEST_F(RuntimeTest, Cancel_EachKindOfPause_SettlesTheCall) {
    open();
    for (std::string const prompt : {"job", "ask", "guarded"}) {
        auto const call = start(prompt).pending.at(0);
        auto const receipt = runtime->cancel(call.id);
        ASSERT_TRUE(receipt) << prompt << ": " << receipt.error().detail;
        EXPECT_EQ(receipt->status, CallStatus::cancelled);
        EXPECT_EQ(at_rest(call.id.session).activity, Activity::idle) << prompt;
        EXPECT_TRUE(runtime->cancel(call.id)->duplicate);
        EXPECT_NE(code_of(runtime->submit(call.id, output("late"))), "") << prompt;
    }
    EXPECT_EQ(guarded_runs, 0);
}

TEST_F(RuntimeTest, CancelledTurn_CancelsAllItsCalls) {
    open();
    auto const asleep = start("twice");
    ASSERT_EQ(asleep.pending.size(), 2U);
    ASSERT_TRUE(runtime->cancel(asleep.id));
    auto const now = at_rest(asleep.id);
    EXPECT_TRUE(now.pending.empty());
    EXPECT_EQ(now.activity, Activity::idle);
}

TEST_F(RuntimeTest, Authorizer_SeesEachOperationFirst) {
    std::vector<std::string> seen;
    std::mutex mutex;
    settings.authorize = [&](Operation operation, std::string const& by,
                             PendingCall const& call) -> Result<void> {
        std::lock_guard const lock(mutex);
        seen.push_back(std::to_string(static_cast<int>(operation)) + by + call.tool);
        if (by == "mallory") return dormouse::fail(Code::not_an_answerer, "not you");
        return {};
    };
    open();
    auto const asleep = start("job");
    PendingId const id = asleep.pending.at(0).id;
    EXPECT_EQ(code_of(runtime->submit(id, output("x"), "mallory")), "not_an_answerer");
    EXPECT_EQ(code_of(runtime->progress(id, output("x"), "", "mallory")), "not_an_answerer");
    EXPECT_EQ(code_of(runtime->cancel(id, "mallory")), "not_an_answerer");
    EXPECT_EQ(code_of(runtime->prompt(asleep.id, "x", {.by = "mallory"})), "not_an_answerer");
    ASSERT_TRUE(runtime->submit(id, output("live"), "ann"));
    at_rest(asleep.id);
    // A caller without the right learns nothing about closed calls and cannot probe payloads.
    EXPECT_EQ(code_of(runtime->submit(id, output("live"), "mallory")), "not_an_answerer");
    PendingId unknown = id;
    unknown.nonce[3] ^= 7;
    EXPECT_EQ(code_of(runtime->submit(unknown, output("x"), "mallory")), "not_an_answerer");
    std::vector<std::string> const expected{"4program", "0malloryjob", "1malloryjob", "2malloryjob",
                                            "3mallory", "0annjob",     "0mallory",    "0mallory"};
    EXPECT_EQ(seen, expected);
}

TEST_F(RuntimeTest, Batch_PartlyRefused_AnswersEachOffer) {
    open();
    auto const asleep = start("twice");
    PendingId unknown = asleep.pending.at(0).id;
    unknown.nonce[0] ^= 1;
    auto const receipts = runtime->submit_all({{asleep.pending[0].id, output("one")},
                                               {unknown, output("x")},
                                               {asleep.pending[0].id, output("one")},
                                               {asleep.pending[0].id, output("another")},
                                               {asleep.pending[1].id, {}, "the disk is full"}});
    ASSERT_EQ(receipts.size(), 5U);
    EXPECT_TRUE(receipts[0] && !receipts[0]->duplicate);
    EXPECT_EQ(code_of(receipts[1]), "not_found");
    EXPECT_TRUE(receipts[2] && receipts[2]->duplicate);
    EXPECT_EQ(code_of(receipts[3]), "conflict");
    EXPECT_TRUE(receipts[4] && receipts[4]->status == CallStatus::failed);
    EXPECT_TRUE(at_rest(asleep.id).pending.empty());
    EXPECT_TRUE(runtime->submit_all({}).empty());
}

TEST_F(RuntimeTest, Batch_IsOneAppendForEachSession) {
    on_disk();
    open();
    auto const asleep = start("twice");
    std::vector<Offer> offers;
    for (PendingCall const& call : asleep.pending) offers.push_back({call.id, output("live")});
    for (auto const& receipt : runtime->submit_all(offers)) EXPECT_TRUE(receipt);
    runtime.reset();
    auto store = store::SqliteStore::open(settings.store);
    ASSERT_TRUE(store);
    auto const frames = (*store)->page(asleep.id, 1, std::size_t{1} << 20);
    ASSERT_TRUE(frames);
    std::size_t with_results = 0;
    for (port::Frame const& frame : *frames) with_results += frame.bytes.contains("\"submitted\"");
    EXPECT_EQ(with_results, 1U);
}

TEST_F(RuntimeTest, FiftyDuplicatesAtOnce_AreOneResult) {
    open();
    PendingId const id = start("job").pending.at(0).id;
    std::atomic<int> applied = 0, duplicates = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 50; ++i) {
        threads.emplace_back([&] {
            auto const receipt = runtime->submit(job, id, {"live"});
            ASSERT_TRUE(receipt) << receipt.error().detail;
            ++(receipt->duplicate ? duplicates : applied);
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(applied, 1);
    EXPECT_EQ(duplicates, 49);
    at_rest(id.session);
    EXPECT_EQ(count(id.session, "submitted"), 1U);
    EXPECT_EQ(count(id.session, "turn_ended"), 1U);
}

TEST_F(RuntimeTest, AbandonedReader_ChangesNothing) {
    open();
    auto const session = runtime->create({.agent = "ops"}).value();
    {
        std::atomic<int> seen = 0;
        auto const following = runtime->follow(session, 0, [&seen](Event const&) { ++seen; });
        ASSERT_TRUE(following);
    }
    auto const throws = runtime->follow(session, 0, [](Event const&) { throw 1; });
    ASSERT_TRUE(runtime->prompt(session, "job"));
    auto const asleep = at_rest(session);
    ASSERT_EQ(asleep.pending.size(), 1U);
    ASSERT_TRUE(runtime->submit(job, asleep.pending[0].id, {"live"}));
    EXPECT_TRUE(at_rest(session).pending.empty());
}

TEST_F(RuntimeTest, Follower_SeesEachEventOnceFromItsCursor) {
    open();
    auto const session = runtime->create({.agent = "ops"}).value();
    std::mutex mutex;
    std::vector<Seq> seen;
    std::atomic<Seq> newest = 0;
    auto const following = runtime->follow(session, 1, [&](Event const& event) {
        std::lock_guard const lock(mutex);
        seen.push_back(event.seq);
        newest = event.seq;
    });
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(runtime->prompt(session, "hello"));
    Seq const head = at_rest(session).head;
    wait_while([&] { return newest < head; });
    std::lock_guard const lock(mutex);
    ASSERT_EQ(seen.size(), head - 1);
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i + 2);
}

TEST_F(RuntimeTest, SecondRuntimeOnTheStore_IsRefused) {
    on_disk();
    open();
    auto const second = Runtime::open(settings);
    ASSERT_FALSE(second);
    EXPECT_TRUE(second.error().detail.contains("in use")) << second.error().detail;
}

TEST_F(RuntimeTest, StepLimitAndUsage_SurviveAPause) {
    on_disk();
    settings.agents[0].model = model_from(
        [](ModelQuestion const& question, std::stop_token const&) -> Result<ModelAnswer> {
            std::size_t const calls = question.messages.size();
            return ModelAnswer{"", {{"job", input(std::to_string(calls))}}, 100, 10};
        });
    settings.agents[0].step_limit = 3;
    open();
    auto view = start("go");
    for (int steps = 1; steps < 3; ++steps) {
        ASSERT_EQ(view.pending.size(), 1U) << steps;
        open();
        ASSERT_TRUE(runtime->submit(job, view.pending[0].id, {"live"}));
        view = at_rest(view.id);
    }
    ASSERT_EQ(view.pending.size(), 1U);
    EXPECT_EQ(view.input_tokens, 300U);
    ASSERT_TRUE(runtime->submit(job, view.pending[0].id, {"live"}));
    view = at_rest(view.id);
    EXPECT_EQ(view.activity, Activity::idle);
    EXPECT_EQ(view.output_tokens, 30U);
}

TEST_F(RuntimeTest, ToolThatThrows_ModelSeesItAndTurnContinues) {
    settings.tools.back() =
        tool("guarded_job", [](Work const&) -> Outcome { throw std::runtime_error("no route"); });
    settings.gates.clear();
    open();
    auto const view = start("both steps");
    EXPECT_EQ(view.activity, Activity::idle);
    EXPECT_EQ(runtime->last_reply(view.id).value(), "Done.");
}

TEST_F(RuntimeTest, GateThatThrows_Denies) {
    settings.gates[0].decide = [](Call const&) -> GateDecision {
        throw std::runtime_error("broken");
    };
    open();
    auto const view = start("guarded");
    EXPECT_EQ(view.activity, Activity::idle);
    EXPECT_EQ(guarded_runs, 0);
}

TEST_F(RuntimeTest, CreateWithAKey_Repeated_IsOneSession) {
    open();
    NewSession const request{.agent = "ops", .prompt = "job", .key = "order-1"};
    auto const first = runtime->create(request), second = runtime->create(request);
    EXPECT_EQ(first.value(), second.value());
    EXPECT_EQ(code_of(runtime->create({.agent = "ops", .prompt = "other", .key = "order-1"})),
              "idempotency_mismatch");
}

TEST_F(RuntimeTest, WrongSettings_AreReportedByName) {
    auto const refused = [this](std::string const& word) {
        auto const opened = Runtime::open(settings);
        ASSERT_FALSE(opened);
        EXPECT_TRUE(opened.error().detail.contains(word)) << opened.error().detail;
    };
    settings.agents[0].tools.push_back("jobb");
    refused("'jobb'");
    settings.agents[0].tools.pop_back();
    settings.tools.push_back(job);
    refused("'job'");
    settings.tools.pop_back();
    settings.gates.push_back(guard);
    refused("'guard'");
    settings.gates.pop_back();
    settings.agents[0].model = {};
    refused("a model");
}

TEST_F(RuntimeTest, Completions_MayBlock) {
    open();
    std::atomic<bool> ended = false;
    runtime->create({.agent = "ops", .prompt = "job"}, [&](Result<SessionId> session) {
        auto const view = runtime->wait_idle(session.value());
        ASSERT_TRUE(runtime->submit(job, view->pending.at(0).id, {"live"}));
        ended = true;
    });
    wait_while([&] { return !ended; });
    EXPECT_TRUE(ended);
}

TEST_F(RuntimeTest, EndOfTheRuntime_UnblocksATool) {
    std::atomic<bool> inside = false;
    std::atomic<Runtime*> face = nullptr;
    std::string refused;
    settings.tools.back() = tool("guarded_job", [&](Work const&, Call const& call) {
        inside = true;
        refused = code_of(face.load()->wait_idle(call.session(), Duration(60'000)));
        return Outcome{"ran"};
    });
    settings.gates.clear();
    open();
    face = &*runtime;
    ASSERT_TRUE(runtime->create({.agent = "ops", .prompt = "both steps"}));
    wait_while([&] { return !inside; });
    runtime.reset();
    EXPECT_EQ(refused, "draining");
}

}  // namespace
}  // namespace dormouse::runtime
