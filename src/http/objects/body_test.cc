#include "http/objects/body.h"

#include <gtest/gtest.h>

namespace dormouse::server {
namespace {

constexpr std::string_view sample =
    R"({"text":"hi","count":3,"real":1.5,"yes":true,"list":[1],"map":{"a":1},"nothing":null})";

// A body that knows the fields of the sample and those after them.
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

TEST(Body, GivesEachFieldInItsType) {
    Body body = body_of(sample);
    EXPECT_EQ(body.string("text"), "hi");
    EXPECT_EQ(body.integer("count"), 3);
    EXPECT_EQ(body.boolean("yes"), true);
    EXPECT_EQ(body.array("list")->size(), 1U);
    EXPECT_EQ((*body.object("map"))["a"].integer(), 1);
    EXPECT_EQ(body.any("map")->text(), R"({"a":1})");
    EXPECT_EQ(body.required_string("text"), "hi");
    body.require("nothing");
    EXPECT_FALSE(body.error());
}

TEST(Body, AbsentAndNullAreTheSameButForAny) {
    Body body = body_of(sample);
    EXPECT_FALSE(body.string("nothing") || body.integer("nothing") || body.boolean("nothing"));
    EXPECT_FALSE(body.object("nothing") || body.array("absent") || body.string("absent"));
    EXPECT_EQ(body.any("nothing")->text(), "null");
    EXPECT_FALSE(body.any("absent"));
    EXPECT_FALSE(body.error());
}

TEST(Body, AnUnknownFieldIsRefusedWithTheNearestName) {
    Body const near = body_of(R"({"txet":1})");
    EXPECT_EQ(code(near), "unknown_field");
    EXPECT_EQ(extra(near, "field"), "/txet");
    EXPECT_EQ(extra(near, "nearest"), "text");
    EXPECT_NE(near.error()->detail.find("Did you mean 'text'?"), std::string::npos);
    Body const far = body_of(R"({"zzzzzzzz":1})", "/prompt");
    EXPECT_EQ(extra(far, "field"), "/prompt/zzzzzzzz");
    EXPECT_TRUE(json::View(far.error()->extra)["nearest"].is_null());
}

TEST(Body, AWrongTypeIsRefusedWithItsPlace) {
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

TEST(Body, WhatIsNoObjectIsRefused) {
    for (std::string_view const text : {"[]", "7", "null", "\"x\""}) {
        Body const body = body_of(text);
        EXPECT_EQ(code(body), "bad_value") << text;
        EXPECT_EQ(extra(body, "why"), "must be a JSON object");
    }
}

TEST(Body, WhatMustBeThereIsMissed) {
    Body body = body_of("{}");
    EXPECT_EQ(body.required_string("text"), "");
    EXPECT_EQ(extra(body, "pointer"), "/text");
    Body other = body_of("{}");
    other.require("map");
    EXPECT_EQ(extra(other, "pointer"), "/map");
}

TEST(Body, TheFirstErrorWins) {
    Body body = body_of(R"({"text":7,"count":"x"})");
    (void)body.integer("count");
    (void)body.string("text");
    body.refuse("yes", "too late");
    EXPECT_EQ(extra(body, "pointer"), "/count");
}

TEST(Body, ValuesAreTakenWithoutWhiteSpace) {
    Body body = body_of("{\"map\" : {\n \"a\" : [ 1 , 2 ] } }");
    EXPECT_EQ(body.any("map")->text(), R"({"a":[1,2]})");
}

}  // namespace
}  // namespace dormouse::server
