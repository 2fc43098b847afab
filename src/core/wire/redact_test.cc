#include "wire/redact.h"

#include "wire/journal/record.h"
#include "wire/testing/story.h"

#include <gtest/gtest.h>

namespace dormouse::wire {
namespace {

using namespace session;

constexpr char secret[] = "hunter2";

Json secret_parts(std::string const& text) {
    return Json::trusted(R"([{"type":"text","text":)" + json::quote(text) + "}]");
}

Event event_of(Seq seq, Event::Body body) { return {seq, from_ms(1'000), 1, {}, std::move(body)}; }

RedactionTarget target() {
    RedactionTarget out;
    out.message = 5;
    out.calls = {1};
    out.artifacts = {4};
    out.placeholder = "[removed]";
    return out;
}

std::string data_of(Event const& event) {
    auto const out = redacted(event, target());
    return out ? record({}, *out)->data : "unchanged";
}

TEST(Redact, Placeholder_NamesPersonAndDay) {
    EXPECT_EQ(redaction_placeholder({ActorType::token, "alice"}, from_ms(1'764'277'200'000)),
              "[removed by alice on 2025-11-27]");
}

TEST(Redact, Message_LosesPartsAndArgumentsAndOutcomes) {
    CallSpec spec{.tool = "deploy", .input = Json::trusted(R"({"key":"hunter2"})")};
    ModelReplied reply{.parts = secret_parts(secret), .calls = {spec}, .first_call = 1};
    ToolFinished finished{.call = 1, .output = Json::trusted("\"hunter2\""), .title = secret};
    Submission what{.output = Json::trusted("\"hunter2\""), .reason = secret};
    std::vector<Event> const events{event_of(5, InputReceived{.parts = secret_parts(secret)}),
                                    event_of(5, reply),
                                    event_of(6, finished),
                                    event_of(7, Submitted{{.pending = {.call = 1}}, what}),
                                    event_of(8, ToolFailed{.call = 1, .error = secret}),
                                    event_of(9, Note{.call = 1, .text = secret}),
                                    event_of(4, ArtifactEmitted{.name = secret})};
    for (Event const& event : events) {
        SCOPED_TRACE(type_name(event.body));
        auto const data = data_of(event);
        EXPECT_EQ(data.find(secret), std::string::npos) << data;
        EXPECT_NE(data, "unchanged");
    }
}

TEST(Redact, OtherMessagesAndCalls_StayAsTheyAre) {
    EXPECT_EQ(data_of(event_of(6, InputReceived{.parts = secret_parts(secret)})), "unchanged");
    EXPECT_EQ(data_of(event_of(6, ToolFinished{.call = 2})), "unchanged");
    EXPECT_EQ(data_of(event_of(6, ArtifactEmitted{.call = 1})), "unchanged");
    EXPECT_EQ(data_of(event_of(6, TurnEnded{})), "unchanged");
}

TEST(Redact, Again_ChangesNothingMore) {
    auto const once = redacted(event_of(5, InputReceived{.parts = secret_parts(secret)}), target());
    auto const twice = redacted(*once, target());
    EXPECT_EQ(record({}, *once)->data, record({}, *twice)->data);
}

}  // namespace
}  // namespace dormouse::wire
