#include "runner/repair/verify.h"
#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"

// Outputs over the limit are stored whole, in the append of their outcome.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using testing::Fault;
using LaneTest = testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>>;

class Artifacts : public LaneTest {
protected:
    // 2 MiB of one character, with the digest of the whole output.
    static Submission large(char c) {
        Submission what = result(std::string(std::size_t{2} << 20, c));
        return what;
    }
    store::MemoryDisk::Session& on_disk() { return host.store.disk->sessions.at(1); }
    // The number of the only ArtifactEmitted event; 0 if there is not exactly one.
    [[nodiscard]] Seq emitted() {
        std::vector<Seq> seqs;
        auto const records = read_records(*host.store.store, id, 1, stored_head());
        for (wire::RecordPtr const& record : records.value()) {
            if (std::holds_alternative<ArtifactEmitted>(record->event.body))
                seqs.push_back(record->event.seq);
        }
        return seqs.size() == 1 ? seqs.front() : 0;
    }
    [[nodiscard]] std::string found() {
        auto const report = verify(*host.store.store, [](std::uint64_t) {});
        std::string out;
        for (Finding const& finding : report.value_or(VerifyReport()).findings) out += finding.what;
        return report ? out : report.error().detail;
    }
};

TEST_F(Artifacts, LargeResult_IsSettledOnceUnderItsFullDigest) {
    PendingId const pending = waiting_call();
    Submission const whole = large('x');
    EXPECT_EQ(ask(submit(pending, whole)), "applied");
    for (bool const again : {false, true}) {
        if (again) restart();
        EXPECT_EQ(ask(submit(pending, whole)), "duplicate");
        ASSERT_TRUE(last.receipt);
        EXPECT_EQ(last.receipt->digest, whole.digest);
        EXPECT_EQ(ask(submit(pending, large('y'))), "conflict");
    }
    ASSERT_NE(emitted(), 0U);
    EXPECT_EQ(*on_disk().artifacts.at(emitted()), std::string(std::size_t{2} << 20, 'x'));
    EXPECT_EQ(stored().artifact_bytes, std::size_t{2} << 20);
    EXPECT_EQ(found(), "");
}

TEST_F(Artifacts, BytesAndOutcome_AreOneAppend) {
    PendingId const pending = waiting_call();
    host.store.fault = Fault::lost;
    EXPECT_EQ(ask(submit(pending, large('x'))), "store_unavailable");
    EXPECT_TRUE(on_disk().artifacts.empty());
    EXPECT_EQ(emitted(), 0U);
    host.store.fault = Fault::hidden;
    EXPECT_EQ(ask(submit(pending, large('x'))), "store_unavailable");
    EXPECT_EQ(on_disk().artifacts.size(), 1U);
    EXPECT_NE(emitted(), 0U);
    EXPECT_EQ(ask(submit(pending, large('x'))), "duplicate");
    EXPECT_EQ(on_disk().artifacts.size(), 1U);
    EXPECT_EQ(found(), "");
}

TEST_F(Artifacts, LargeResult_ModelSeesBothEndsAndTheId) {
    PendingId const pending = waiting_call();
    ASSERT_EQ(ask(submit(pending, large('x'))), "applied");
    auto const& messages = host.work.requests.back().request.view.messages;
    std::string seen;
    for (ViewMessage const& message : messages) {
        for (auto const& call : message.calls) seen += call.output.text();
    }
    EXPECT_TRUE(seen.starts_with(R"({"truncated":true,"head":"xxx)")) << seen.substr(0, 100);
    EXPECT_TRUE(seen.ends_with(R"("bytes":2097152,"artifactID":")" +
                               numbered_id("art_", id, emitted()) + "\"}"))
        << seen.substr(seen.size() - 100);
    EXPECT_LT(seen.size(), 10'000U);
}

TEST_F(Artifacts, Verify_FindsTheirDamage) {
    PendingId const pending = waiting_call();
    ASSERT_EQ(ask(submit(pending, large('x'))), "applied");
    std::string const place = "artifact of event " + std::to_string(emitted()) + ": ";
    auto& bytes = on_disk().artifacts.at(emitted());
    bytes = std::make_shared<std::string const>(std::string(std::size_t{2} << 20, 'y'));
    EXPECT_EQ(found(), place + "differs from its digest in the journal");
    on_disk().artifacts.clear();
    EXPECT_EQ(found(), place + "missing");
}

TEST_F(Artifacts, DeletedSession_DeletesThem) {
    PendingId const pending = waiting_call();
    ASSERT_EQ(ask(submit(pending, large('x'))), "applied");
    ASSERT_EQ(ask(Delete{}), "applied");
    EXPECT_TRUE(on_disk().artifacts.empty());
    EXPECT_EQ(found(), "");
}

// A prompt with one file.
Prompt with_file(std::string const& bytes) {
    Prompt prompt;
    prompt.parts = Json::trusted(R"([{"type":"file","mime":"text/plain","bytes":)" +
                                 std::to_string(bytes.size()) + "}]");
    prompt.files = {
        {{"a.txt", "text/plain", std::make_shared<std::string const>(bytes), sha256(bytes)},
         prompt.parts.size() - 2}};
    prompt.only_text = false;
    return prompt;
}

TEST_F(Artifacts, Model_GetsTheFilesOfVisibleMessages) {
    (void)create();
    EXPECT_EQ(ask(with_file("one")), "applied");
    for (bool const again : {false, true}) {
        if (again) {
            restart();
            (void)ask(Tick{});  // repeats the request
        }
        auto const& view = host.work.requests.back().request.view;
        ASSERT_EQ(view.files.size(), 1U) << again;
        EXPECT_EQ(view.files.begin()->first, numbered_id("art_", id, emitted()));
        EXPECT_EQ(*view.files.begin()->second, "one");
        EXPECT_TRUE(view.messages.front().parts.text().contains(view.files.begin()->first));
    }
    EXPECT_EQ(found(), "");
}

TEST_F(Artifacts, MissingBytes_EndTheTurn) {
    (void)create();
    (void)ask(with_file("one"));
    restart();
    on_disk().artifacts.clear();
    (void)ask(Tick{});
    EXPECT_EQ(host.work.requests.size(), 1U);  // the one of the first process
    State const now = stored();
    EXPECT_FALSE(now.turn);
    ASSERT_TRUE(now.last_turn && now.last_turn->error);
    EXPECT_TRUE(now.last_turn->error->message.contains("dormouse verify"));
}

TEST_F(Artifacts, FileAndMessage_AreOneAppend) {
    (void)create();
    host.store.fault = Fault::lost;
    EXPECT_EQ(ask(with_file("one"), "key"), "store_unavailable");
    EXPECT_EQ(emitted(), 0U);
    EXPECT_TRUE(on_disk().artifacts.empty());
    EXPECT_EQ(ask(with_file("one"), "key"), "applied");
    EXPECT_EQ(ask(with_file("one"), "key"), "duplicate");
    EXPECT_EQ(on_disk().artifacts.size(), 1U);
    EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace dormouse::runner
