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
    out.messages = {5};
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

std::string data_of(Event const& event, RedactionTarget what) {
    what.placeholder = "[removed]";
    auto const out = redacted(event, what);
    return out ? record({}, *out)->data : "unchanged";
}

TEST(Redact, Mail_LosesItsTextAtBothSides) {
    Mail mail{.to_alias = "bob", .text = secret};
    for (Event const& event : {event_of(5, MailSent{.text = secret}),
                               event_of(5, MailReceived{.mail = mail, .number = 1})}) {
        auto const data = data_of(event, {.messages = {5}});
        EXPECT_EQ(data.find(secret), std::string::npos) << data;
        EXPECT_NE(data.find("[removed]"), std::string::npos) << data;
        EXPECT_EQ(data_of(event, {.messages = {6}}), "unchanged");
    }
}

TEST(Redact, Task_LosesPromptsResultsAndErrors) {
    TaskStarted started{.task = 2, .description = secret, .parts = secret_parts(secret)};
    TaskChanged resumed{.task = 2, .parts = secret_parts(secret)};
    TaskChanged changed{.task = 2, .result = Json::trusted("\"hunter2\""), .error = secret};
    changed.progress = secret;
    for (Event const& event : {event_of(5, started), event_of(6, resumed), event_of(7, changed)}) {
        auto const data = data_of(event, {.tasks = {2}});
        EXPECT_EQ(data.find(secret), std::string::npos) << data;
        EXPECT_NE(data.find("[removed]"), std::string::npos) << data;
        EXPECT_EQ(data_of(event, {.tasks = {1}}), "unchanged");
    }
}

TEST(Redact, Report_OfAnAgent_LosesTextTitleAndOutput) {
    AgentUpdate update{.message = 5, .what = {AgentOutputKind::message, secret_parts(secret)}};
    AgentUpdate ran{.message = 5,
                    .what = {AgentOutputKind::tool, Json::trusted(R"({"output":"hunter2"})"), false,
                             "t", secret, AgentToolStatus::completed}};
    for (Event const& event :
         {event_of(5, update), event_of(5, ran), event_of(5, AgentDetached{.lost = {secret}})}) {
        auto const data = data_of(event, {.messages = {5}});
        EXPECT_EQ(data.find(secret), std::string::npos) << data;
        EXPECT_NE(data.find("[removed]"), std::string::npos) << data;
    }
}

TEST(Redact, CopiedMessage_LosesItsPartsAndOthersStay) {
    std::string const one =
        R"({"id":"msg_a","sessionID":"ses_a","role":"user","parts":[{"id":"prt_a_0",)"
        R"("type":"text","text":"hunter2"}],"time":{"created":1}})";
    std::string const other = R"({"id":"msg_b","parts":[{"type":"text","text":"hunter2 too"}]})";
    Forked const forked{.messages = Json::trusted("[" + one + "," + other + "]"),
                        .message_count = 2};
    auto const out = redacted(event_of(2, forked), {.copied = "msg_a", .placeholder = "[removed]"});
    ASSERT_TRUE(out);
    Json const after = std::get<Forked>(out->body).messages;
    EXPECT_TRUE(json::check(after.text()));
    EXPECT_TRUE(copied_message(after, "msg_b").raw() == other);
    json::View const gone = copied_message(after, "msg_a");
    EXPECT_EQ(gone["role"].string_or(""), "user");
    EXPECT_EQ(gone.raw().find(secret), std::string::npos) << gone.raw();
    EXPECT_EQ(data_of(event_of(2, forked), {.copied = "msg_c"}), "unchanged");
}

TEST(Redact, Again_ChangesNothingMore) {
    auto const once = redacted(event_of(5, InputReceived{.parts = secret_parts(secret)}), target());
    auto const twice = redacted(*once, target());
    EXPECT_EQ(record({}, *once)->data, record({}, *twice)->data);
}

}  // namespace
}  // namespace dormouse::wire
