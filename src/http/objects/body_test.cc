#include "http/objects/body.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

constexpr std::string_view sample =
    R"({"text":"hi","count":3,"real":1.5,"yes":true,"list":[1],"map":{"a":1},"nothing":null})";

// Returns a body that knows the members of the sample and those after them.
Body body_of(std::string_view text, std::string pointer = "") {
    return Body(json::View(text), std::move(pointer),
                {"text", "count", "real", "yes", "list", "map", "nothing", "absent"});
}
std::string code(Body const& body) {
    return body.error() ? std::string(info(body.error()->code).text) : "";
}
std::string extra(Body const& body, std::string_view name) {
    return json::View(body.error()->extra)[name].string_or("?");
}

TEST(Body, Members_AreReadInTheirTypes) {
    Body body = body_of(sample);
    EXPECT_EQ(body.string("text"), "hi");
    EXPECT_EQ(body.integer("count"), 3);
    EXPECT_EQ(body.boolean("yes"), true);
    EXPECT_EQ(body.array("list")->size(), 1U);
    EXPECT_EQ((*body.object("map"))["a"].integer(), 1);
    EXPECT_EQ(body.any("map")->text(), R"({"a":1})");
    EXPECT_EQ(body.required_string("text"), "hi");
    EXPECT_FALSE(body.error());
}

TEST(Body, AbsentAndNull_AreEqualExceptForAny) {
    Body body = body_of(sample);
    EXPECT_FALSE(body.string("nothing") || body.integer("nothing") || body.boolean("nothing"));
    EXPECT_FALSE(body.object("nothing") || body.array("absent") || body.string("absent"));
    EXPECT_EQ(body.any("nothing")->text(), "null");
    EXPECT_FALSE(body.any("absent"));
    EXPECT_FALSE(body.error());
}

TEST(Body, UnknownMember_IsRefusedWithTheNearestName) {
    Body const near = body_of(R"({"txet":1})");
    EXPECT_EQ(code(near), "unknown_field");
    EXPECT_EQ(extra(near, "field"), "/txet");
    EXPECT_EQ(extra(near, "nearest"), "text");
    EXPECT_NE(near.error()->detail.find("Did you mean 'text'?"), std::string::npos);
    Body const far = body_of(R"({"zzzzzzzz":1})", "/prompt");
    EXPECT_EQ(extra(far, "field"), "/prompt/zzzzzzzz");
    EXPECT_TRUE(json::View(far.error()->extra)["nearest"].is_null());
}

TEST(Body, WrongType_IsRefusedWithItsPointer) {
    for (std::string_view const text : {R"({"text":7})", R"({"text":[]})", R"({"text":true})"}) {
        Body body = body_of(text, "/parts/0");
        EXPECT_FALSE(body.string("text"));
        EXPECT_EQ(code(body), "bad_value");
        EXPECT_EQ(extra(body, "pointer"), "/parts/0/text");
        EXPECT_EQ(extra(body, "why"), "must be a string");
    }
    Body body = body_of(sample);
    EXPECT_FALSE(body.integer("real"));
    EXPECT_EQ(extra(body, "why"), "must be an integer");
}

TEST(Body, NotAnObject_IsRefused) {
    for (std::string_view const text : {"[]", "7", "null", "\"x\""}) {
        Body const body = body_of(text);
        EXPECT_EQ(code(body), "bad_value") << text;
        EXPECT_EQ(extra(body, "why"), "must be a JSON object");
    }
}

TEST(Body, MissingRequiredMember_IsRefused) {
    Body body = body_of("{}");
    EXPECT_EQ(body.required_string("text"), "");
    EXPECT_EQ(extra(body, "pointer"), "/text");
}

// Why a body is refused by its table; empty: it is not.
std::string why(std::string_view text, Request const& request) {
    Body const body(json::View(text), request);
    return body.error() ? extra(body, "why") : "";
}

TEST(Body, MissingOrOutOfBounds_IsRefused) {
    std::string const many(1'001, 'x');
    EXPECT_EQ(why("{}", claim_request), "");
    EXPECT_EQ(why(R"({"forMs":-1})", claim_request), "must be 0 (given back) to 3600000");
    EXPECT_EQ(why(R"({"forMs":1.5})", claim_request), "must be an integer");
    EXPECT_EQ(why(R"({"seq":0})", fork_request), "must be 1 or more");
    EXPECT_EQ(why(R"({"title":")" + many + "\"}", fork_request), "must be at most 1000 bytes");
    EXPECT_EQ(why("{}", task_resume_request), "is missing: it must be a string");
    EXPECT_EQ(why(R"({"message":""})", task_resume_request), "must not be empty");
    EXPECT_EQ(why(R"({"question":"q","choices":[]})", ask_request), "must have 1 to 20 members");
    EXPECT_EQ(why(R"({"completedAfterMs":-1})", retention_request), "must be 0 to 3162240000000");
    EXPECT_EQ(why(R"({"when":"later"})", prompt_request),
              "must be queue, steer, interrupt or reject");
    EXPECT_EQ(why(R"({"pendingID":"p"})", result_request), "is missing");
    EXPECT_EQ(why(R"({"pendingID":"p","result":null})", result_request),
              "must be an object with output");
    EXPECT_EQ(why(R"({"pendingID":"p"})", decision_request), "is missing: true or false");
    EXPECT_EQ(why(R"({"pendingID":"p","payload":null})", progress_request), "");
}

TEST(Body, SeveralErrors_FirstWins) {
    Body body = body_of(R"({"text":7,"count":"x"})");
    (void)body.integer("count");
    (void)body.string("text");
    body.refuse("yes", "too late");
    EXPECT_EQ(extra(body, "pointer"), "/count");
}

TEST(Body, AnyValue_HasNoInsignificantWhiteSpace) {
    Body body = body_of("{\"map\" : {\n \"a\" : [ 1 , 2 ] } }");
    EXPECT_EQ(body.any("map")->text(), R"({"a":[1,2]})");
}

}  // namespace
}  // namespace dormouse::http
