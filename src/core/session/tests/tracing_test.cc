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

TEST(PassedOn, Off_ReceivedIsPassedOnUnchanged) {
    AskModel ask{.turn = 1, .step = 1, .attempt = 1};
    EXPECT_EQ(passed_on({}, session_number(1), ask), TraceHeaders{});
    ask.trace = {std::string(sent), "a=1"};
    EXPECT_EQ(passed_on({}, session_number(1), ask), ask.trace);
}

TEST(PassedOn, On_NamesTheSpanOfTheRun) {
    RunTool run{.pending = {session_number(1), 3, 2, {}}, .attempt = 4, .turn = 1};
    run.trace = {std::string(sent), "a=1"};
    auto const headers = passed_on({.on = true}, run);
    auto const context = parse_traceparent(headers.parent);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->trace, parse_traceparent(sent)->trace);
    EXPECT_EQ(context->span, tool_span(session_number(1), 3, 2, 4));
    EXPECT_EQ(headers.state, "a=1");
}

TEST(PassedOn, Gate_GetsTheFirstSpanOfTheTurn) {
    AskGate ask{.call = 1, .gate = "g", .turn = 5};
    auto const context = parse_traceparent(passed_on({.on = true}, session_number(1), ask).parent);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->span, turn_span(session_number(1), 5));
}

std::string members(int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += (i == 0 ? "k" : ",k") + std::to_string(i) + "=v";
    return out;
}

TEST(Tracestate, Valid_IsKeptWithoutSpaceAndEmptyMembers) {
    EXPECT_EQ(checked_tracestate("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"),
              "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7");
    EXPECT_EQ(checked_tracestate(" a=1 ,, \tb=x y\t,"), "a=1,b=x y");
    EXPECT_EQ(checked_tracestate("0tenant@sys=1,a_-*/9=!~"), "0tenant@sys=1,a_-*/9=!~");
    EXPECT_EQ(checked_tracestate(members(32)), members(32));
    EXPECT_EQ(checked_tracestate("a=" + std::string(256, 'v')).size(), 258U);
}

TEST(Tracestate, Malformed_IsDropped) {
    for (std::string const& wrong :
         {std::string("a"), std::string("=1"), std::string("A=1"), std::string("a="),
          std::string("a=1=2"), std::string("1a=1"), std::string("a@=1"), std::string("@a=1"),
          std::string("a@1=1"), std::string("a b=1"), std::string("a=1,a=2"), std::string("a=\x7f"),
          std::string("a=\n"), "a=" + std::string(257, 'v'), "t@" + std::string(15, 's') + "=1",
          members(33),
          "a=" + std::string(200, 'v') + ",b=" + std::string(200, 'v') +
              ",c=" + std::string(110, 'v')})
        EXPECT_EQ(checked_tracestate(wrong), "") << wrong;
}

TEST(Tracestate, AnyBytes_AreDroppedOrReadAlike) {
    rc::check([](std::string const& bytes) {
        std::string const once = checked_tracestate(bytes);
        RC_ASSERT(checked_tracestate(once) == once);
    });
}

TEST(ReadTrace, BadState_LeavesTheParent) {
    std::string const parent(sent);
    EXPECT_EQ(read_trace(parent, "a=1"), (TraceHeaders{parent, "a=1"}));
    EXPECT_EQ(read_trace(parent, "A"), (TraceHeaders{parent, ""}));
    EXPECT_EQ(read_trace("malformed", "a=1"), TraceHeaders{});
}

}  // namespace
}  // namespace dormouse::session
