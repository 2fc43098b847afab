#include "acp_agent/ask.h"

#include <gtest/gtest.h>

namespace dormouse::acp_agent {
namespace {

AcpAsk ask_of(std::string const& more, bool forms = false, bool of_doubt = false) {
    std::string const call =
        R"({"id":"pnd_1","callID":"call_1","tool":"t","input":{},)"
        R"("inputDigest":"sha256:x","reason":"elicitation","message":"Where?",)" +
        more + "}";
    return acp_ask("ses_1", json::View(call), of_doubt, forms);
}

std::string const region =
    R"("form":{"type":"object","properties":{"region":{"type":"string","enum":["eu","us"]}}})";
std::string const name = R"("form":{"type":"object","properties":{"name":{"type":"string"}}})";
std::string const count = R"("form":{"type":"object","properties":{"n":{"type":"integer"}}})";
std::string const two =
    R"("form":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}})";

std::string text(AcpAsk const& ask, std::string const& answer) {
    auto const out = acp_decision(ask, json::View(answer));
    return out ? std::string(json::View(*out)["approved"].raw()) + " " +
                     std::string(json::View(*out)["content"].raw())
               : "nothing";
}

TEST(AcpAsk, Way_FitsWhatTheEditorCanShow) {
    EXPECT_EQ(ask_of(region, true).choice, AcpChoice::form);
    EXPECT_EQ(ask_of(region).choice, AcpChoice::choices);
    EXPECT_EQ(ask_of(name).choice, AcpChoice::words);
    EXPECT_EQ(ask_of(two).choice, AcpChoice::words);
    EXPECT_EQ(ask_of(R"("form":null)").choice, AcpChoice::allow);
    EXPECT_EQ(ask_of(R"("form":null)", false, true).choice, AcpChoice::choices);
    EXPECT_EQ(
        ask_of(R"("form":{"type":"object","properties":{"a":{"type":"object"}}})", true).choice,
        AcpChoice::words);
}

TEST(AcpAsk, Choice_BecomesTheContent) {
    AcpAsk const ask = ask_of(region);
    std::string const call = R"({"callID":"call_1","tool":"t","input":{}})";
    AcpQuestion const question = acp_question(ask, json::View(call));
    EXPECT_EQ(question.method, "session/request_permission");
    json::View const options = json::View(question.params)["options"];
    EXPECT_EQ(options.size(), 3U);
    EXPECT_EQ(options.at_pointer("/1/name").string_or(""), "us");
    EXPECT_EQ(text(ask, R"({"outcome":{"outcome":"selected","optionId":"choice-1"}})"),
              R"(true {"region":"us"})");
    EXPECT_EQ(text(ask, R"({"outcome":{"outcome":"selected","optionId":"deny"}})"), "false ");
    EXPECT_EQ(text(ask, R"({"outcome":{"outcome":"selected","optionId":"approve"}})"), "nothing");
    EXPECT_EQ(text(ask, R"({"outcome":{"outcome":"cancelled"}})"), "nothing");
}

TEST(AcpAsk, Form_IsAcceptedDeclinedOrCancelled) {
    AcpAsk const ask = ask_of(two, true);
    std::string const call = R"({"callID":"call_1","tool":"t"})";
    EXPECT_EQ(acp_question(ask, json::View(call)).method, "elicitation/create");
    EXPECT_EQ(text(ask, R"({"action":"accept","content":{"a":"x","b":1}})"),
              R"(true {"a":"x","b":1})");
    EXPECT_EQ(text(ask, R"({"action":"decline"})"), "false ");
    EXPECT_EQ(text(ask, R"({"action":"cancel"})"), "nothing");
}

TEST(AcpAsk, Text_BecomesTheContentIfItFits) {
    auto const content = [](std::string const& form, std::string const& words) {
        auto const body = acp_decision_in_words(ask_of(form), words);
        return body ? std::string(json::View(*body)["content"].raw()) : body.error();
    };
    EXPECT_EQ(content(name, "Ann \"B\""), R"({"name":"Ann \"B\""})");
    EXPECT_EQ(content(count, "7"), R"({"n":7})");
    EXPECT_EQ(content(count, "seven"), "The answer must be JSON of type integer.");
    EXPECT_EQ(content(two, R"({"a":"x","b":2})"), R"({"a":"x","b":2})");
    EXPECT_NE(content(two, "x").find("JSON object"), std::string::npos);
    EXPECT_NE(acp_words_of(ask_of(two)).find("\"b\", number"), std::string::npos);
}

}  // namespace
}  // namespace dormouse::acp_agent
