#include "session/tracing.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace dormouse::session {
namespace {

constexpr std::string_view sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

SessionId session_number(std::uint64_t number) { return SessionId::make(number, {}); }

TEST(Traceparent, Valid_RoundTrips) {
    auto const context = parse_traceparent(sent);
    ASSERT_TRUE(context);
    EXPECT_TRUE(context->sampled);
    EXPECT_EQ(text(*context), sent);
}

TEST(Traceparent, LaterVersion_IsReadAsFarAsThisOne) {
    auto const context = parse_traceparent("cc" + std::string(sent.substr(2)) + "-more");
    ASSERT_TRUE(context);
    EXPECT_EQ(text(*context), sent);
}

TEST(Traceparent, Malformed_IsIgnored) {
    std::string const good(sent);
    for (std::string const& wrong :
         {std::string(), good.substr(1), good + "-more", good + "x", "ff" + good.substr(2),
          "0x" + good.substr(2), "00-" + std::string(32, '0') + good.substr(35),
          good.substr(0, 36) + std::string(16, '0') + "-01", good.substr(0, 53) + "0g",
          "00-4BF92F3577B34DA6A3CE929D0E0E4736" + good.substr(35), "cc" + good.substr(2) + "more",
          " " + good, good.substr(0, 2) + "_" + good.substr(3)}) {
        EXPECT_FALSE(parse_traceparent(wrong)) << wrong;
    }
}

TEST(Traceparent, AnyBytes_AreReadAlikeOrRefused) {
    rc::check([] {
        std::string bytes = *rc::gen::arbitrary<std::string>();
        if (*rc::gen::arbitrary<bool>()) {
            bytes = sent;
            bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
        }
        auto const context = parse_traceparent(bytes);
        if (context) RC_ASSERT(parse_traceparent(text(*context)) == context);
    });
}

TEST(TraceOfTurn, Received_IsContinued) {
    auto const context = trace_of_turn({.on = true, .sampled = 0}, session_number(1), 1, sent);
    EXPECT_EQ(text(context), sent);
}

TEST(TraceOfTurn, NoneReceived_FollowsFromTheTurn) {
    TraceRules const rules{.on = true};
    auto const first = trace_of_turn(rules, session_number(1), 1, "");
    EXPECT_EQ(first, trace_of_turn(rules, session_number(1), 1, "malformed"));
    EXPECT_NE(first.trace, trace_of_turn(rules, session_number(1), 2, "").trace);
    EXPECT_NE(first.trace, trace_of_turn(rules, session_number(2), 1, "").trace);
    EXPECT_EQ(first.span, SpanId{});
    EXPECT_TRUE(first.sampled);
}

TEST(TraceOfTurn, Share_IsSampled) {
    auto const sampled = [](std::uint32_t share) {
        int count = 0;
        for (TurnNo turn = 1; turn <= 4'000; ++turn)
            count +=
                trace_of_turn({.on = true, .sampled = share}, session_number(7), turn, "").sampled;
        return count;
    };
    EXPECT_EQ(sampled(0), 0);
    EXPECT_EQ(sampled(TraceRules::all), 4'000);
    EXPECT_NEAR(sampled(TraceRules::all / 4), 1'000, 200);
}

TEST(TraceparentOf, Off_ReceivedIsPassedOnUnchanged) {
    AskModel ask{.turn = 1, .step = 1, .attempt = 1};
    EXPECT_EQ(traceparent_of({}, session_number(1), ask), "");
    ask.trace = sent;
    EXPECT_EQ(traceparent_of({}, session_number(1), ask), sent);
}

TEST(TraceparentOf, On_NamesTheSpanOfTheRun) {
    RunTool run{.pending = {session_number(1), 3, 2, {}}, .attempt = 4, .turn = 1};
    run.trace = sent;
    auto const context = parse_traceparent(traceparent_of({.on = true}, run));
    ASSERT_TRUE(context);
    EXPECT_EQ(context->trace, parse_traceparent(sent)->trace);
    EXPECT_EQ(context->span, tool_span(session_number(1), 3, 2, 4));
}

}  // namespace
}  // namespace dormouse::session
