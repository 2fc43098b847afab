#include "base/test_wait.h"
#include "runtime/testing/runtime_fixture.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

// Artifacts of typed tools, webhook URLs, lists of pending calls, validators, and gates of a tool
// that continues.
namespace dormouse::runtime {
namespace {

class LibraryTest : public RuntimeTest {
protected:
    std::vector<Event> emitted(SessionId session) {
        std::vector<Event> out;
        auto const all = runtime->events(session).value();
        for (Event const& event : all)
            if (event.type == "artifact_emitted") out.push_back(event);
        return out;
    }
};

TEST_F(LibraryTest, Artifacts_AreStoredWithTheOutcome) {
    std::string const binary("\0\x01\xff\n", 4);
    settings.tools[1] = tool("now", [&](Work const& work) -> dormouse::Outcome<Outcome> {
        return Done{Outcome{work.target}}
            .with({"report.txt", "all well", "text/plain"})
            .with({"image.bin", binary});
    });
    on_disk();
    open();
    auto const asleep = start("mixed");
    auto const events = emitted(asleep.id);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_TRUE(events[0].data.text().contains(R"("name":"report.txt","mime":"text/plain")"));
    EXPECT_TRUE(events[0].data.text().contains(R"("callID":"call_1")"));
    open();
    auto const text = runtime->artifact(asleep.id, events[0].seq);
    ASSERT_TRUE(text) << text.error().detail;
    EXPECT_EQ(text->bytes, "all well");
    EXPECT_EQ(text->name, "report.txt");
    auto const bytes = runtime->artifact(asleep.id, events[1].seq);
    EXPECT_EQ(bytes.value().bytes, binary);
    EXPECT_EQ(bytes.value().mime, "application/octet-stream");
    EXPECT_EQ(code_of(runtime->artifact(asleep.id, events[0].seq - 1)), "not_found");
    EXPECT_EQ(code_of(runtime->artifact(asleep.id, 9'999)), "not_found");
}

// `dormouse restore` leaves this file.
TEST_F(LibraryTest, RestoredDirectory_RunsNothingUntilItIsReleased) {
    on_disk();
    open();
    EXPECT_FALSE(runtime->held().value());
    EXPECT_EQ(code_of(runtime->release()), "wrong_state");
    auto const asleep = start("job");
    runtime.reset();
    std::ofstream(std::filesystem::path(settings.store) / "held") << "a test";
    open();
    EXPECT_TRUE(runtime->held().value());
    ASSERT_TRUE(runtime->submit(asleep.pending.at(0).id, output("live")));
    EXPECT_EQ(count(asleep.id, "turn_ended"), 0U);
    ASSERT_TRUE(runtime->release());
    EXPECT_FALSE(runtime->held().value());
    EXPECT_TRUE(at_rest(asleep.id).pending.empty());
    EXPECT_EQ(count(asleep.id, "turn_ended"), 1U);
    open();
    EXPECT_FALSE(runtime->held().value());
}

TEST_F(LibraryTest, ArtifactsAfterAPause_AreStored) {
    settings.tools[4] = tool(
        "guarded_job",
        [](Work const&) -> dormouse::Outcome<Outcome, NeedApproval> {
            return NeedApproval<Outcome>{{"asked"}, "Print it?"};
        },
        [](Work const&, Call const& call) -> dormouse::Outcome<Outcome> {
            if (!call.resumed()->approved) return Failed{"not printed"};
            return Done{Outcome{"printed"}}.with({"page.txt", "text", "text/plain"});
        });
    settings.gates.clear();
    open();
    auto const call = start("steps").pending.at(0);
    EXPECT_TRUE(emitted(call.id.session).empty());
    ASSERT_TRUE(runtime->decide(call.id, {.approved = true}));
    at_rest(call.id.session);
    ASSERT_EQ(emitted(call.id.session).size(), 1U);
    EXPECT_EQ(runtime->artifact(call.id.session, emitted(call.id.session)[0].seq).value().bytes,
              "text");
}

TEST_F(LibraryTest, InvalidArtifact_FailsTheTool) {
    for (auto const& [artifact, why] :
         {std::pair(Artifact{"../etc/passwd", "x"}, "name of an artifact"),
          {Artifact{"", "x"}, "name of an artifact"},
          {Artifact{"a.txt", "x", "no type"}, "mime of an artifact"},
          {Artifact{"a.bin", std::string((9U << 20U), 'x')}, "Nothing of this outcome was kept"}}) {
        settings.tools[1] = tool("now", [artifact](Work const&) -> dormouse::Outcome<Outcome> {
            return Done{Outcome{"ok"}}.with(artifact);
        });
        open();
        auto const asleep = start("mixed");
        EXPECT_TRUE(emitted(asleep.id).empty());
        bool seen = false;
        auto const all_of_them = runtime->events(asleep.id).value();
        for (Event const& event : all_of_them) seen = seen || event.data.text().contains(why);
        EXPECT_TRUE(seen) << why;
    }
}

TEST_F(LibraryTest, Pause_KeepsItsWebhookUrl) {
    std::string url = "https://ci.example.org/hook?x=1";
    settings.tools[0] = tool("job", [&](Work const&) -> dormouse::Outcome<Outcome, Pending> {
        return Pending<Outcome>{{"queued"}, {.ref = "j", .webhook_url = url}};
    });
    open();
    EXPECT_EQ(start("job").pending.at(0).webhook_url, url);
    for (std::string const& wrong : {"ftp://example.org", "/hook", "https://u:p@example.org/"}) {
        url = wrong;
        auto const view = start("job");
        EXPECT_TRUE(view.pending.empty()) << wrong;
        bool seen = false;
        auto const all_of_them = runtime->events(view.id).value();
        for (Event const& event : all_of_them)
            seen = seen || event.data.text().contains("webhook_url");
        EXPECT_TRUE(seen) << wrong;
    }
}

// A8
TEST_F(LibraryTest, Waiting_ListsCallsOfAllSessions) {
    on_disk();
    open();
    auto const one = start("twice"), two = start("ask"), three = start("guarded");
    ASSERT_TRUE(runtime->create({.agent = "ops", .prompt = "job", .project = "other"}));
    open();  // no session is in memory
    auto const all = runtime->waiting().value();
    ASSERT_EQ(all.calls.size(), 4U);
    EXPECT_EQ(all.calls[0].id, three.pending[0].id) << "newest first";
    EXPECT_EQ(all.calls[0].message, "Really?");
    EXPECT_EQ(all.calls[0].gate, "guard");
    EXPECT_EQ(all.calls[1].id, two.pending[0].id);
    EXPECT_EQ(all.calls[3].id, one.pending[0].id);
    EXPECT_FALSE(all.next);
    EXPECT_EQ(runtime->waiting({.tool = "ask"}).value().calls.size(), 1U);
    EXPECT_EQ(runtime->waiting({.reason = PauseReason::approval}).value().calls.size(), 1U);
    EXPECT_EQ(runtime->waiting({.session = one.id}).value().calls.size(), 2U);
    EXPECT_EQ(runtime->waiting({.project = "nobody's"}).value().calls.size(), 0U);
    EXPECT_EQ(code_of(runtime->waiting({.limit = 0})), "bad_value");
    EXPECT_EQ(code_of(runtime->waiting({.session = SessionId::make(77, {})})), "not_found");
    ASSERT_TRUE(runtime->submit(job, one.pending[0].id, {"live"}));
    EXPECT_EQ(runtime->waiting({.tool = "job"}).value().calls.size(), 1U);
}

TEST_F(LibraryTest, Waiting_Pages_HaveEachCallOnce) {
    open();
    for (int i = 0; i < 5; ++i) start("twice");
    for (auto const& session : {std::optional<SessionId>(), std::optional(start("twice").id)}) {
        WaitingFilter filter{.session = session, .limit = 1};
        std::vector<PendingId> seen;
        for (int i = 0; i < 40; ++i) {
            auto const page = runtime->waiting(filter).value();
            for (PendingCall const& call : page.calls) seen.push_back(call.id);
            if (!page.next) break;
            filter.after = page.next;
        }
        EXPECT_EQ(seen.size(), session ? 2U : 12U);
        std::ranges::sort(seen);
        EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end());
    }
}

TEST_F(LibraryTest, PausedSession_AcceptsOutcomes_ContinuesWhenResumed) {
    open();
    auto const asleep = start("job");
    ASSERT_TRUE(runtime->pause(asleep.id));
    EXPECT_EQ(code_of(runtime->pause(asleep.id)), "wrong_state");
    auto const requests = script.asked();
    ASSERT_TRUE(runtime->submit(job, asleep.pending[0].id, {"live"}));
    EXPECT_EQ(runtime->session(asleep.id)->lifecycle, "paused");
    EXPECT_EQ(script.asked(), requests);
    ASSERT_TRUE(runtime->resume(asleep.id));
    EXPECT_EQ(at_rest(asleep.id).lifecycle, "active");
    wait_while([&] { return runtime->last_reply(asleep.id).value() != "Done."; });
    EXPECT_EQ(runtime->last_reply(asleep.id).value(), "Done.");
    EXPECT_EQ(code_of(runtime->resume(asleep.id)), "wrong_state");
}

// A6: results from any interface, not only the typed one.
TEST_F(LibraryTest, Validator_ChecksSubmittedResults) {
    std::atomic<int> validated = 0;
    settings.tools[0] =
        tool("job",
             [](Work const&) -> dormouse::Outcome<Outcome, Pending> {
                 return Pending<Outcome>{{"queued"}, {.ref = "j"}};
             },
             {.validate = [&](Outcome const& outcome) -> std::optional<std::string> {
                 ++validated;
                 if (outcome.status == "boom") throw std::runtime_error("no luck");
                 if (outcome.status != "live") return "status must be live";
                 return std::nullopt;
             }});
    open();
    auto const call = start("job").pending.at(0);
    auto const refused = runtime->submit(call.id, output("dead"));
    EXPECT_EQ(code_of(refused), "invalid_result");
    EXPECT_TRUE(refused.error().extra.text().contains("status must be live"));
    EXPECT_EQ(code_of(runtime->submit(call.id, output("boom"))), "invalid_result");
    EXPECT_EQ(at_rest(call.id.session).pending.size(), 1U) << "it still waits";
    auto const batch = runtime->submit_all({{.pending = call.id, .output = output("dead")}});
    EXPECT_EQ(code_of(batch[0]), "invalid_result");
    EXPECT_TRUE(runtime->submit(call.id, output("live")));
    int const before = validated;
    EXPECT_TRUE(runtime->submit(call.id, output("live"))->duplicate);
    EXPECT_EQ(validated, before) << "a closed call is not validated again";
    EXPECT_TRUE(runtime->submit(call.id, output("live"))->duplicate);
}

TEST_F(LibraryTest, TwoResultsValidatedAtOnce_OneWins) {
    std::atomic<int> validated = 0;
    settings.tools[0] = tool("job",
                             [](Work const&) -> dormouse::Outcome<Outcome, Pending> {
                                 return Pending<Outcome>{{"queued"}, {.ref = "j"}};
                             },
                             {.validate = [&](Outcome const&) -> std::optional<std::string> {
                                 ++validated;
                                 // a validator may block
                                 wait_while([&] { return validated < 2; });
                                 return std::nullopt;
                             }});
    open();
    auto const call = start("job").pending.at(0);
    Result<Submitted> a = dormouse::fail(Code::internal, ""), b = a;
    {
        std::jthread const first([&] { a = runtime->submit(call.id, output("a")); });
        std::jthread const second([&] { b = runtime->submit(call.id, output("b")); });
    }
    EXPECT_NE(a.has_value(), b.has_value());
    EXPECT_EQ(code_of(a ? b : a), "conflict");
}

// B11
TEST_F(LibraryTest, EditedArguments_PassTheGatesAgain) {
    std::vector<std::string> targets;
    std::string ran;
    settings.gates = {{.name = "guard",
                       .decide = [&](Call const& call) -> GateDecision {
                           targets.push_back(call.input<Work>()->target);
                           if (targets.back() == "moon") return Deny{"not the moon"};
                           return Allow{};
                       },
                       .tools = {"guarded_job"}}};
    settings.tools[4] = tool(
        "guarded_job",
        [](Work const&) -> dormouse::Outcome<Outcome, NeedApproval> {
            return NeedApproval<Outcome>{{"asked"}, "Really?"};
        },
        [&](Work const& work, Call const&) -> dormouse::Outcome<Outcome> {
            ran = work.target;
            return Outcome{"ran"};
        });
    open();
    auto const plain = start("steps").pending.at(0);
    ASSERT_TRUE(runtime->decide(plain.id, {.approved = true}));
    at_rest(plain.id.session);
    EXPECT_EQ(targets, (std::vector<std::string>{"A"}))
        << "a decision that holds is not asked for again";
    EXPECT_EQ(std::exchange(ran, ""), "A");

    auto const edited = start("steps").pending.at(0);
    ASSERT_TRUE(runtime->decide(edited.id, {.approved = true, .arguments = input("B")}));
    at_rest(edited.id.session);
    EXPECT_EQ(targets, (std::vector<std::string>{"A", "A", "B"}));
    EXPECT_EQ(std::exchange(ran, ""), "B");

    auto const refused = start("steps").pending.at(0);
    ASSERT_TRUE(runtime->decide(refused.id, {.approved = true, .arguments = input("moon")}));
    at_rest(refused.id.session);
    EXPECT_EQ(ran, "") << "the gate denied these";
}

TEST_F(LibraryTest, ConflictAndCancelled_HoldTheReceiptOfWhatStays) {
    open();
    auto const calls = start("twice").pending;
    ASSERT_EQ(calls.size(), 2U);
    auto const stands = runtime->submit(job, calls[0].id, {"live"});
    ASSERT_TRUE(stands) << stands.error().detail;
    auto const other = runtime->submit(job, calls[0].id, {"dead"});
    ASSERT_EQ(code_of(other), "conflict");
    EXPECT_TRUE(other.error().extra.text().contains(digest_text(stands->digest)));
    EXPECT_TRUE(other.error().extra.text().contains(R"("receipt":{"id":"rcp_)"));
    ASSERT_TRUE(runtime->cancel(calls[1].id));
    auto const late = runtime->submit(job, calls[1].id, {"live"});
    ASSERT_EQ(code_of(late), "cancelled");
    EXPECT_TRUE(late.error().extra.text().contains(R"("status":"cancelled")"));
}

TEST_F(LibraryTest, CancelAndProgress_OfASettledCall_HoldItsReceipt) {
    open();
    auto const calls = start("twice").pending;
    ASSERT_EQ(calls.size(), 2U);
    auto const stands = runtime->submit(job, calls[0].id, {"live"});
    ASSERT_TRUE(stands) << stands.error().detail;
    auto const expect_receipt = [&](Error const& error) {
        EXPECT_EQ(error.code, Code::conflict);
        EXPECT_TRUE(error.extra.text().contains(digest_text(stands->digest)));
        EXPECT_TRUE(error.extra.text().contains(R"("receipt":{"id":"rcp_)"));
        EXPECT_FALSE(error.detail.contains("payload")) << error.detail;
    };
    auto const cancelled = runtime->cancel(calls[0].id);
    ASSERT_FALSE(cancelled);
    expect_receipt(cancelled.error());
    auto const noted = runtime->progress(calls[0].id, output("half"));
    ASSERT_FALSE(noted);
    expect_receipt(noted.error());
    auto const once = runtime->cancel(calls[1].id);
    ASSERT_TRUE(once);
    auto const again = runtime->cancel(calls[1].id);
    ASSERT_TRUE(again) << "a repeated cancel is a duplicate";
    EXPECT_TRUE(again->duplicate);
    EXPECT_EQ(again->digest, once->digest);
    auto const late = runtime->progress(calls[1].id, output("half"));
    ASSERT_EQ(code_of(late), "cancelled");
    EXPECT_TRUE(late.error().extra.text().contains(R"("status":"cancelled")"));
}

TEST_F(LibraryTest, CancelWithAReason_ShowsItToModelAndReaders) {
    open();
    auto const call = start("job").pending.at(0);
    CancelOptions options{.by = "ann", .reason = "another branch"};
    auto const receipt = runtime->cancel(call.id, options);
    ASSERT_TRUE(receipt) << receipt.error().detail;
    EXPECT_EQ(receipt->by.name, "ann");
    EXPECT_EQ(runtime->call(call.id)->cancel_reason, "another branch");
    options.reason = std::string(1'001, 'x');
    EXPECT_EQ(code_of(runtime->cancel(call.id, options)), "bad_value");
    EXPECT_EQ(code_of(runtime->cancel(call.id.session, options)), "bad_value");
    options.reason = "\xff";
    EXPECT_EQ(code_of(runtime->cancel(call.id.session, options)), "bad_value");
}

TEST_F(LibraryTest, Call_ThatWaitsOrWasSettled_IsRead) {
    open();
    auto const call = start("job").pending.at(0);
    auto const waits = runtime->call(call.id);
    ASSERT_TRUE(waits) << waits.error().detail;
    EXPECT_FALSE(waits->receipt);
    EXPECT_EQ(waits->call.tool, "job");
    EXPECT_EQ(waits->call.external_ref, "job-A");
    SubmitOptions options{.by = "ann", .title = "It is live", .delivery_id = "msg-7"};
    options.metadata = output("by hand");
    ASSERT_TRUE(runtime->submit(job, call.id, {"live"}, options));
    auto const settled = runtime->call(call.id).value();
    ASSERT_TRUE(settled.receipt);
    EXPECT_EQ(settled.receipt->status, CallStatus::completed);
    EXPECT_EQ(settled.receipt->by.name, "ann");
    EXPECT_EQ(settled.output, output("live"));
    EXPECT_EQ(settled.title, "It is live");
    EXPECT_EQ(settled.metadata, output("by hand"));
    PendingId unknown = call.id;
    unknown.generation += 7;
    EXPECT_EQ(code_of(runtime->call(unknown)), "not_found");
}

TEST_F(LibraryTest, Metadata_Differs_IsStillADuplicate) {
    open();
    auto const call = start("job").pending.at(0);
    SubmitOptions first, second;
    first.metadata = output("one");
    second.metadata = output("two");
    ASSERT_TRUE(runtime->submit(call.id, output("live"), first));
    EXPECT_TRUE(runtime->submit(call.id, output("live"), second).value().duplicate);
    EXPECT_EQ(runtime->call(call.id)->metadata, output("one"));
    std::promise<std::string> promise;
    runtime->submit(call.id, output("dead"), SubmitOptions{},
                    [&](Result<Submitted> const& receipt) { promise.set_value(code_of(receipt)); });
    EXPECT_EQ(promise.get_future().get(), "conflict");
}

}  // namespace
}  // namespace dormouse::runtime
