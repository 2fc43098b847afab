#include "store/sqlite/schema/short_form.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace dormouse::store::sqlite {
namespace {

SessionId const ours{Bits128{1, 2, 3}};
std::string const random_part = "3pRUQLfXXUT7McX83AKdoA";

std::string names_of(SessionId session, int call, std::string const& random) {
    auto const c = std::to_string(call);
    return R"("callID":"call_)" + c + R"(","pendingID":"pnd_)" + session.bare() + "_" + c + "_1_" +
           random + "\"";
}

std::string record(std::string const& type, std::string const& names) {
    return "[\"" + type + "\",17," + "{" + names + R"(,"epoch":1},1])";
}

void expect_kept(std::string const& frame) {
    EXPECT_EQ(short_form(ours, frame), frame);
    EXPECT_EQ(long_form(ours, frame), frame);
}

TEST(ShortForm, PauseOfACall_IsNamedOnce) {
    auto const names = names_of(ours, 12, random_part);
    auto const frame = "[" + record("tool_started", names) + "," + record("call_paused", names) +
                       "," + record("submitted", names) + "]";
    auto const stored = short_form(ours, frame);
    EXPECT_EQ(stored,
              "[ [\"tool_started\",17,{\"p\":0,\"epoch\":1},1],"
              "[\"call_paused\",17,{\"p\":\"12_1_" +
                  random_part +
                  "\",\"epoch\":1},1],"
                  "[\"submitted\",17,{\"callID\":\"call_12\",\"p\":\"1_" +
                  random_part + "\",\"epoch\":1},1]]");
    EXPECT_EQ(long_form(ours, stored), frame);
}

TEST(ShortForm, WhatEveryTurnRepeats_IsAbbreviated) {
    std::string const frame =
        R"([["turn_started",0,{"input":2,"cause":"prompt","digest":"demo-1"},1],)"
        R"(["model_requested",0,{"step":1,"attempt":1,"viewSeq":3,"epoch":12},1,"busy"],)"
        R"(["model_replied",5,{"step":1,"attempt":1,"parts":[{"type":"text","text":"x"}],)"
        R"("usage":{"inputTokens":2,"outputTokens":50}},1],)"
        R"(["turn_ended",0,{"finishReason":"stop","usage":{"inputTokens":2,"outputTokens":50}},1,)"
        R"("idle"]])";
    std::string const stored =
        R"([ ["turn_started",0,{"i":2,"d":"demo-1"},1],)"
        R"(["model_requested",0,{"m":[1,1,3,12]},1,"busy"],)"
        R"(["model_replied",5,{"s":[1,1],"parts":[{"type":"text","text":"x"}],"usage":[2,50]},1],)"
        R"(["turn_ended",0,{"finishReason":"stop","usage":[2,50]},1,"idle"]])";
    EXPECT_EQ(short_form(ours, frame), stored);
    EXPECT_EQ(long_form(ours, stored), frame);
}

TEST(ShortForm, UsageInContents_StaysAsItIs) {
    expect_kept(R"([["submitted",1,{"result":{"usage":{"inputTokens":2,"outputTokens":5}}},1]])");
}

TEST(ShortForm, CallsOfOneFrame_KeepTheirOwnNames) {
    auto const one = names_of(ours, 1, random_part);
    auto const two = names_of(ours, 2, std::string(22, 'x'));
    auto const frame = "[" + record("tool_started", one) + "," + record("tool_started", two) + "," +
                       record("call_paused", one) + "," + record("call_paused", two) + "]";
    EXPECT_LT(short_form(ours, frame).size(), frame.size());
    EXPECT_EQ(long_form(ours, short_form(ours, frame)), frame);
}

TEST(ShortForm, FrameWithoutNames_StaysAsItIs) {
    expect_kept("[]");
    expect_kept("");
    expect_kept("[[\"sealed\",0,{\"sealed\":\"AAAA\"}]]");
    expect_kept("[" + record("call_paused", names_of(SessionId{Bits128{9}}, 1, random_part)) + "]");
    expect_kept("[" + record("call_paused", names_of(ours, 1, "short")) + "]");
}

// The content that a client sent may be any text.
TEST(ShortForm, ContentThatLooksLikeAShortForm_StaysAsItIs) {
    auto const mixed = "[" + record("tool_started", R"("p":"1_1_)" + random_part + "\"") + "," +
                       record("call_paused", names_of(ours, 1, random_part)) + "]";
    expect_kept(mixed);
    for (std::string const frame : {"[ [1]]", "[ 1]", "[  [1]]", "[ "})
        EXPECT_EQ(long_form(ours, short_form(ours, frame)), frame);
}

TEST(ShortForm, StoredTextThatIsDamaged_IsRead) {
    for (std::string const stored : {"[ [", "[ [\"tool_started\",1,{\"p\":0}]]", "[ [\"a\",1,{\"p"})
        EXPECT_FALSE(long_form(ours, stored).empty());
}

RC_GTEST_PROP(ShortFormProperty, AnyTextOfThesePieces_IsReadAsItWas, ()) {
    std::vector<std::string> const pieces{
        "[",
        " ",
        "[\"",
        "tool_started",
        "call_paused",
        "\",0,{",
        "\"p\":0",
        "\"",
        "\"callID\":\"call_",
        "1",
        "\"p\":\"",
        "},1],",
        "]",
        names_of(ours, 1, random_part),
        random_part,
        "_1_",
        "[[",
        "\",\"pendingID\":\"pnd_",
        ours.bare(),
        record("tool_started", names_of(ours, 1, random_part)),
        record("call_paused", names_of(ours, 1, random_part)),
        ",\"r\":",
        R"(,"reason":"tool_result","placeholder":)",
        R"(["model_replied",1,{)",
        R"("step":1,"attempt":2,")",
        R"("s":[1,2],")",
        R"("usage":[2,5]},1)",
        R"("usage":{"inputTokens":2,"outputTokens":5}},1)",
        R"(["model_requested",1,{"m":[1,2,3,4]})",
        R"(["model_requested",1,{"step":1,"attempt":2,"viewSeq":3,"epoch":4})"};
    auto const chosen = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces));
    std::string frame;
    for (auto const& piece : chosen) frame += piece;
    for (auto const& text : {frame, "[[" + frame, "[" + frame})
        RC_ASSERT(long_form(ours, short_form(ours, text)) == text);
}

}  // namespace
}  // namespace dormouse::store::sqlite
