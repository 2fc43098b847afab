#include "telemetry/tracer.h"

#include "runner/testing/world.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::telemetry {
namespace {

using namespace dormouse::session;
using runner::testing::TestClock;
using runner::testing::TestEntropy;
using runner::testing::TestLoop;

// A journal of which it matters only whether it is read: no answer comes.
class UnansweredJournal final : public port::Journal {
public:
    void commit(std::vector<port::Append> /*appends*/,
                port::Fn<void(std::vector<port::AppendResult>)> /*done*/) override {}
    void write(port::Fn<Result<void>(port::Store&)> /*work*/,
               port::Fn<void(Result<void>)> /*done*/) override {}
    void read(port::ReadKey /*key*/, port::Fn<void(port::Store&)> /*work*/,
              port::Fn<void()> /*done*/) override {
        ++reads;
    }

    int reads = 0;
};

// Keeps the bodies that are sent.
class Sent final : public port::HttpClient {
public:
    port::HttpId start(port::HttpRequest request, port::HttpCallbacks /*callbacks*/) override {
        text += request.body;
        return 1;
    }
    void cancel(port::HttpId /*id*/) override {}

    std::string text;
};

class TracerTest : public testing::Test {
protected:
    Tracer::Records record(std::initializer_list<Event::Body> bodies) {
        Tracer::Records out;
        for (Event::Body const& body : bodies) {
            Seq const seq = all.size() + 1;
            out.push_back(std::make_shared<wire::Record const>(wire::Record{
                {seq, from_ms(static_cast<std::int64_t>(seq)), seq > 1 ? 1U : 0U, {}, body}, ""}));
            all.push_back(out.back());
        }
        return out;
    }
    // A turn with a call that paused, and the request after its result: what wakes the session.
    Tracer::Records woken() {
        ModelReplied reply{.step = 1, .attempt = 1};
        reply.calls = {{.model_id = "c1", .tool = "deploy", .input = Json()}};
        reply.first_call = 1;
        record({TurnStarted{.turn = 1, .input = 1}, ModelRequested{.step = 1, .attempt = 1}, reply,
                ToolStarted{.pending = pending, .attempt = 1},
                CallPaused{.pending = pending, .terms = PauseTerms()}});
        state.turn = OpenTurn{.no = 1, .input = 1};
        Submitted result{};
        result.receipt.pending = pending;
        return record({result, ModelRequested{.step = 2, .attempt = 1}});
    }
    Tracer::Records answered() {
        return record({ModelReplied{.step = 2, .attempt = 1}, TurnEnded{.turn = 1}});
    }
    std::string sent() {
        loop.advance(Exporter::collect_for);
        return http.text;
    }

    SessionId const id = SessionId::make(7, {});
    PendingId const pending{id, 1, 1, {}};
    State state{.id = id};
    Tracer::Records all;
    TestLoop loop;
    TestClock clock{loop};
    TestEntropy entropy;
    Sent http;
    UnansweredJournal journal;
    Exporter exporter{{loop, clock, entropy, http}, {.url = "http://collector/v1/traces"}};
    Tracer tracer{journal, exporter, {.rules = {.on = true}}};
};

TEST_F(TracerTest, WokenSession_ContinuesWithTheRecordsInMemory) {
    auto const first = woken();
    tracer.appended(state, first, all);
    auto const last = answered();
    tracer.appended(state, last, all);
    EXPECT_EQ(journal.reads, 0);
    std::string const spans = sent();
    EXPECT_NE(spans.find("\"chat\""), std::string::npos);
    EXPECT_NE(spans.find("invoke_agent"), std::string::npos);
    EXPECT_NE(spans.find("\"paused_call\""), std::string::npos);
    EXPECT_EQ(spans.find("execute_tool"), std::string::npos) << "given when it paused";
}

TEST_F(TracerTest, EarlierEventsNotInMemory_AreRead) {
    auto const first = woken();
    tracer.appended(state, first, {all.begin() + 2, all.end()});
    EXPECT_EQ(journal.reads, 1);
}

TEST_F(TracerTest, TurnNotSampled_ReadsNothing) {
    Tracer none{journal, exporter, {.rules = {.on = true, .sampled = 0}}};
    auto const first = woken();
    none.appended(state, first, {});
    none.appended(state, answered(), all);
    EXPECT_EQ(journal.reads, 0);
    EXPECT_EQ(sent(), "");
}

}  // namespace
}  // namespace dormouse::telemetry
