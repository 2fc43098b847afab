#include "telemetry/turn_spans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::telemetry {
namespace {

using namespace dormouse::session;

constexpr std::string_view sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
SessionId const id = SessionId::make(7, {});

PendingId pending(CallNo call, Generation generation = 1) { return {id, call, generation, {}}; }

// The events of a session, each a second after the one before.
class Story {
public:
    Story& add(Event::Body body, std::optional<Activity> activity = {}) {
        Seq const seq = events.size() + 1;
        events.push_back(
            {seq, from_ms(static_cast<std::int64_t>(seq) * 1'000), 1, activity, std::move(body)});
        return *this;
    }
    Story& begin() { return add(TurnStarted{.turn = 1, .input = 1}, Activity::busy); }
    Story& ask(std::uint32_t step, std::uint32_t attempt = 1) {
        return add(ModelRequested{.step = step, .attempt = attempt});
    }
    Story& call(std::uint32_t step) {
        ModelReplied reply{.step = step, .attempt = 1};
        reply.calls = {{.model_id = "c1", .tool = "deploy", .input = Json::trusted(R"({"a":1})")}};
        reply.first_call = 1;
        reply.usage.input_tokens = 10;
        return add(std::move(reply));
    }
    Story& answer(std::uint32_t step) { return add(ModelReplied{.step = step, .attempt = 1}); }
    Story& pause() {
        return add(CallPaused{.pending = pending(1), .terms = PauseTerms()},
                   Activity::waiting_async);
    }
    Story& outcome(std::string trace = {}) {
        Submitted settled{};
        settled.receipt.pending = pending(1);
        settled.trace.parent = std::move(trace);
        return add(std::move(settled), Activity::busy);
    }
    Story& end() { return add(TurnEnded{.turn = 1}, Activity::idle); }

    std::vector<Event> events;
};

// A turn that pauses once: events 1 to 9.
Story paused_once() {
    Story story;
    story.begin().ask(1).call(1).add(ToolStarted{.pending = pending(1), .attempt = 1});
    return story.pause().outcome().ask(2).answer(2).end();
}

using Value = std::variant<std::string, std::int64_t, std::vector<std::string>>;

Value owned(Attribute const& attribute) {
    if (auto const* const text = std::get_if<std::string_view>(&attribute.value))
        return std::string(*text);
    if (auto const* const number = std::get_if<std::int64_t>(&attribute.value)) return *number;
    auto const& texts = std::get<std::span<std::string_view const>>(attribute.value);
    return std::vector<std::string>(texts.begin(), texts.end());
}

// A span that owns its texts.
struct Kept {
    TraceId trace{};
    SpanId id{};
    SpanId parent{};
    std::string name;
    SpanKind kind{};
    Time start{};
    Time end{};
    std::map<std::string, Value> attributes = {};
    std::map<std::string, SpanId> links = {};  // by relation
    std::optional<std::string> error = {};
    std::string why = {};
    std::string state = {};
    friend bool operator==(Kept const&, Kept const&) = default;
};

Kept kept(Span const& span) {
    Kept out{span.trace, span.id,    span.parent, std::string(span.operation),
             span.kind,  span.start, span.end};
    if (!span.object.empty()) out.name.append(" ").append(span.object);
    for (Attribute const& one : span.attributes)
        EXPECT_TRUE(out.attributes.emplace(one.key, owned(one)).second) << one.key << " twice";
    for (Link const& link : span.links) out.links.emplace(link.relation, link.span);
    if (span.error) out.error = std::string(*span.error);
    out.why = span.why;
    out.state = span.state;
    return out;
}

class TurnSpansTest : public testing::Test {
protected:
    std::vector<Kept> spans(std::vector<Event> const& events) {
        TurnSpans turn(options, facts);
        std::vector<Kept> out;
        for (Event const& event : events) turn.apply(event, into(out));
        return out;
    }
    static SpanSink into(std::vector<Kept>& out) {
        return [&out](Span const& span) { out.push_back(kept(span)); };
    }
    static Kept named(std::vector<Kept> const& spans, std::string const& name, int nth = 0) {
        for (Kept const& span : spans)
            if (span.name == name && nth-- == 0) return span;
        ADD_FAILURE() << "no span " << name;
        return {};
    }
    static bool has(Kept const& span, std::string const& key, Value const& value) {
        auto const found = span.attributes.find(key);
        return found != span.attributes.end() && found->second == value;
    }
    static SpanId linked(Kept const& span, std::string const& relation) {
        auto const link = span.links.find(relation);
        return link == span.links.end() ? SpanId{} : link->second;
    }

    SpanOptions options{.rules = {.on = true}};
    SessionFacts facts{.session = id, .project = "default", .agent = "ops"};
};

TEST_F(TurnSpansTest, Pause_EndsTheSpanAndALinkedOneFollows) {
    auto const all = spans(paused_once().events);
    auto const first = named(all, "invoke_agent ops", 0);
    auto const second = named(all, "invoke_agent ops", 1);
    EXPECT_EQ(first.id, turn_span(id, 1));
    EXPECT_EQ(second.id, resumed_span(id, 1, 6));
    EXPECT_EQ(first.trace, second.trace);
    EXPECT_EQ(first.end, from_ms(5'000));
    EXPECT_EQ(second.start, from_ms(6'000));
    EXPECT_EQ(linked(second, "resumes"), first.id);
    EXPECT_TRUE(has(first, "dormouse.turn.outcome", "paused"));
    EXPECT_TRUE(has(second, "dormouse.turn.outcome", "stop"));
    EXPECT_TRUE(has(second, "dormouse.turn.part", std::int64_t{2}));
}

TEST_F(TurnSpansTest, Children_BelongToThePartInWhichTheyBegan) {
    auto const all = spans(paused_once().events);
    EXPECT_EQ(named(all, "chat", 0).parent, turn_span(id, 1));
    EXPECT_EQ(named(all, "chat", 1).parent, resumed_span(id, 1, 6));
    auto const tool = named(all, "execute_tool deploy");
    EXPECT_EQ(tool.parent, turn_span(id, 1));
    EXPECT_EQ(tool.id, session::tool_span(id, 1, 1, 1));
    EXPECT_EQ(tool.start, from_ms(4'000));
    EXPECT_EQ(tool.end, from_ms(5'000));
    EXPECT_EQ(linked(named(all, "invoke_agent ops", 1), "paused_call"), tool.id);
}

TEST_F(TurnSpansTest, ReadAgainAtAnyEvent_GivesTheSameSpans) {
    auto const events = paused_once().events;
    auto const all = spans(events);
    for (std::size_t cut = 1; cut < events.size(); ++cut) {
        TurnSpans before(options, facts);
        TurnSpans after(options, facts);
        std::vector<Kept> out;
        std::vector<Kept> unused;
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (i < cut) before.apply(events[i], into(out));
            after.apply(events[i], into(i < cut ? unused : out));
        }
        EXPECT_EQ(out, all) << cut;
    }
}

TEST_F(TurnSpansTest, ReceivedContext_IsTheParent) {
    facts.received[1] = {std::string(sent), "a=1"};
    auto const context = parse_traceparent(sent);
    for (Kept const& span : spans(paused_once().events)) EXPECT_EQ(span.trace, context->trace);
    EXPECT_EQ(named(spans(paused_once().events), "invoke_agent ops", 0).parent, context->span);
    EXPECT_EQ(named(spans(paused_once().events), "invoke_agent ops", 1).parent, context->span);
}

TEST_F(TurnSpansTest, ContextOfAnOutcome_IsLinked) {
    Story story;
    story.begin().ask(1).call(1).pause().outcome(std::string(sent)).ask(2).answer(2).end();
    auto const second = named(spans(story.events), "invoke_agent ops", 1);
    EXPECT_EQ(linked(second, "outcome"), parse_traceparent(sent)->span);
}

TEST_F(TurnSpansTest, Tracestate_IsOfEachSpan) {
    facts.received[1] = {std::string(sent), "a=1"};
    for (Kept const& span : spans(paused_once().events)) EXPECT_EQ(span.state, "a=1");
}

TEST_F(TurnSpansTest, MailReadByTheTurn_IsLinked) {
    Mail mail;
    mail.trace.parent = sent;
    Story story;
    story.begin().ask(1).add(MailReceived{.mail = mail}).answer(1).end();
    EXPECT_EQ(linked(named(spans(story.events), "invoke_agent ops"), "mail"),
              parse_traceparent(sent)->span);
}

TEST_F(TurnSpansTest, SentMailAndBegunTask_AreSpansOfTheTurn) {
    auto const from = [](Seq seq) {
        return passed_on({.on = true}, id, 1, {}, sent_span(id, seq));
    };
    Story story;
    story.begin().ask(1);
    story.add(MailSent{.to = {{SessionId::make(8, {})}}, .trace = from(3)});
    story.add(TaskStarted{.task = 2, .trace = from(4)});
    story.add(MailSent{.to = {{SessionId::make(8, {})}}, .trace = {std::string(sent), ""}});
    auto const all = spans(story.answer(1).end().events);
    auto const mail = named(all, "send mail");
    EXPECT_EQ(mail.id, sent_span(id, 3));
    EXPECT_EQ(mail.parent, turn_span(id, 1));
    EXPECT_EQ(mail.kind, SpanKind::producer);
    EXPECT_TRUE(has(mail, "messaging.system", "dormouse"));
    EXPECT_EQ(named(all, "send task").id, sent_span(id, 4));
    EXPECT_EQ(std::ranges::count(all, "send mail", &Kept::name), 1) << "a client's own context";
}

TEST_F(TurnSpansTest, NotSampled_GivesNothing) {
    options.rules.sampled = 0;
    EXPECT_TRUE(spans(paused_once().events).empty());
}

TEST_F(TurnSpansTest, Crash_ClosesWhatWasCutOff) {
    Story story;
    story.begin().ask(1, 1).ask(1, 2).call(1);
    story.add(ToolStarted{.pending = pending(1), .attempt = 1});
    story.add(ToolStarted{.pending = pending(1), .attempt = 2});
    story.add(ToolFinished{.call = 1, .attempt = 2}).ask(2).answer(2).end();
    auto const all = spans(story.events);
    EXPECT_EQ(named(all, "chat", 0).error, "interrupted");
    EXPECT_EQ(named(all, "chat", 1).error, std::nullopt);
    EXPECT_EQ(named(all, "execute_tool deploy", 0).error, "interrupted");
    auto const second = named(all, "execute_tool deploy", 1);
    EXPECT_EQ(second.error, std::nullopt);
    EXPECT_EQ(linked(second, "earlier_run"), session::tool_span(id, 1, 1, 1));
}

TEST_F(TurnSpansTest, CancelWhilePaused_EndsTheTurn) {
    Story story;
    story.begin().ask(1).call(1).pause();
    story.add(Cancelled{.call = 1}).add(TurnEnded{.turn = 1, .finish = FinishReason::cancelled});
    auto const last = named(spans(story.events), "invoke_agent ops", 1);
    EXPECT_TRUE(has(last, "dormouse.turn.outcome", "cancelled"));
    EXPECT_EQ(linked(last, "resumes"), turn_span(id, 1));
}

TEST_F(TurnSpansTest, FailedModel_HasItsCode) {
    Story story;
    story.begin().ask(1).add(ModelFailed{.step = 1, .attempt = 1, .error = {"busy", "secret"}});
    auto const chat = named(spans(story.events), "chat");
    EXPECT_EQ(chat.error, "busy");
    EXPECT_EQ(chat.why, "");
}

TEST_F(TurnSpansTest, Content_IsThereOnRequestOnly) {
    auto const shows = [&] {
        return has(named(spans(paused_once().events), "execute_tool deploy"),
                   "gen_ai.tool.call.arguments", R"({"a":1})");
    };
    EXPECT_FALSE(shows());
    options.content = true;
    EXPECT_TRUE(shows());
}

TEST_F(TurnSpansTest, Model_IsNamed) {
    options.model_of = [](std::string const&) { return ModelName{"openai", "gpt"}; };
    auto const chat = named(spans(paused_once().events), "chat gpt");
    EXPECT_TRUE(has(chat, "gen_ai.provider.name", "openai"));
    EXPECT_TRUE(has(chat, "gen_ai.usage.input_tokens", std::int64_t{10}));
    EXPECT_TRUE(
        has(chat, "gen_ai.response.finish_reasons", std::vector<std::string>{"tool_calls"}));
}

TEST_F(TurnSpansTest, JoinedInTheMiddle_LinksToTheTurn) {
    auto const events = paused_once().events;
    TurnSpans turn(options, facts);
    std::vector<Kept> out;
    turn.join(1, events[6]);
    for (std::size_t i = 6; i < events.size(); ++i) turn.apply(events[i], into(out));
    EXPECT_EQ(linked(named(out, "invoke_agent ops"), "turn"), turn_span(id, 1));
}

TEST(SpanOfDelivery, Attempt_IsAChildOfTheTurn) {
    std::vector<Kept> given;
    SpanSink const sink = [&](Span const& span) { given.push_back(kept(span)); };
    Delivery delivery{.session = id, .event = 3, .n = 1'000, .attempt = 2, .target = "https://a"};
    give_span(delivery, sink);
    delivery.trace.parent = std::string(sent.substr(0, sent.size() - 1)) + "0";
    give_span(delivery, sink);
    EXPECT_TRUE(given.empty());
    delivery.trace.parent = sent;
    delivery.status = 503;
    give_span(delivery, sink);
    ASSERT_EQ(given.size(), 1U);
    EXPECT_EQ(given[0].parent, parse_traceparent(sent)->span);
    EXPECT_EQ(given[0].id, delivery_span(id, 3, 1'000, 2));
    EXPECT_EQ(given[0].name, "send https://a");
    EXPECT_EQ(given[0].error, "503");
}

}  // namespace
}  // namespace dormouse::telemetry
