#include "webhook/sample.h"

#include "json/json.h"

#include <gtest/gtest.h>

#include <string>

namespace dormouse::webhook {
namespace {

constexpr char const* call = "pnd_1";

std::string payload(Source const& source, Sample const& sample) {
    auto const made = sample_payload(source, sample);
    return made ? std::string(made->text()) : "refused: " + made.error().detail;
}

// Returns what the source reads from its sample.
Payload read_back(Source const& source, Sample const& sample) {
    auto const made = sample_payload(source, sample);
    EXPECT_TRUE(made);
    auto const read = read_payload(source, made ? *made : Json());
    EXPECT_TRUE(read) << (made ? made->text() : "");
    return read ? *read : Payload{};
}

TEST(Sample, NoPointers_BodyOfResultOrError) {
    Source const source{.id = "ci"};
    EXPECT_EQ(payload(source, {.pending = call, .output = Json::trusted("7")}),
              R"({"pendingID":"pnd_1","result":{"output":7}})");
    EXPECT_EQ(read_back(source, {.pending = call, .error = "no room"}).error, "no room");
}

TEST(Sample, Pointers_ReadBack) {
    Source const source{.id = "gh",
                        .external_ref = "/run/id",
                        .output = "/run/how~1it ended",
                        .error = "/failure",
                        .when = {{"/action", "completed"}, {"/run/attempt", "2"}}};
    auto const good = read_back(
        source, {.pending = call, .reference = "r-1", .output = Json::trusted(R"({"a":[1]})")});
    EXPECT_FALSE(good.ignored);
    EXPECT_EQ(good.reference, "r-1");
    EXPECT_EQ(good.output.text(), R"({"a":[1]})");
    EXPECT_EQ(read_back(source, {.reference = "r-1", .error = "no"}).error, "no");
}

TEST(Sample, SlackWithFields_IsTheFormThatSlackSends) {
    Source const button{.id = "s",
                        .kind = Kind::slack,
                        .pending = "/payload/actions/0/block_id",
                        .output = "/payload/actions/0/value"};
    auto const made = sample_payload(button, {.pending = call, .output = Json::trusted("\"a b\"")});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->text(), R"({"payload":{"actions":[{"block_id":"pnd_1","value":"a b"}]}})");
    auto const body = sample_body(Kind::slack, *made);
    EXPECT_TRUE(body.starts_with("payload=%7B")) << body;
    auto const form = form_to_json(body);
    ASSERT_TRUE(form);
    auto const read = read_payload(button, *form);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->pending, call);
    EXPECT_EQ(read->output.text(), R"("a b")");
    EXPECT_EQ(sample_body(Kind::hmac, *made), made->text());
}

TEST(Sample, SlackCommandAndEvent_AreAFormAndJson) {
    auto const body = [](std::string text) {
        return sample_body(Kind::slack, Json::trusted(std::move(text)));
    };
    EXPECT_EQ(body(R"({"command":"/ok","text":"a&b"})"), "command=%2Fok&text=a%26b");
    EXPECT_EQ(body(R"({"event":{"text":"a"}})"), R"({"event":{"text":"a"}})");
    EXPECT_EQ(body(R"({"text":7})"), R"({"text":7})");
}

TEST(Sample, Press_IsSlacksBlockAction) {
    auto const form = form_to_json(sample_press({"U1", call, "sha256:ab", false}));
    ASSERT_TRUE(form);
    EXPECT_EQ(form->text(),
              R"({"payload":{"type":"block_actions","user":{"id":"U1"},"actions":[{"type":)"
              R"("button","action_id":"deny","value":"pnd_1 sha256:ab"}]}})");
}

TEST(Sample, NameInsideTheOutput_BothReadBack) {
    Source const source{.id = "ci", .pending = "/job/args/0", .output = "/job"};
    auto const read =
        read_back(source, {.pending = call, .output = Json::trusted(R"({"state":"up"})")});
    EXPECT_EQ(read.pending, call);
    EXPECT_EQ(read.output.text(), R"({"args":["pnd_1"],"state":"up"})");
}

TEST(Sample, WhatTheSourceCannotSay_IsRefused) {
    EXPECT_EQ(payload({.id = "gh", .external_ref = "/id"}, {.pending = call}),
              "refused: this source finds a call by its externalRef, and pnd_1 has none");
    EXPECT_EQ(payload({.id = "ci", .output = "/out"}, {.pending = call, .error = "no"}),
              "refused: this source carries no errors: it has no pointer \"error\"");
}

}  // namespace
}  // namespace dormouse::webhook
