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

// What the source reads of its sample.
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

TEST(Sample, NameInsideTheOutput_BothReadBack) {
    Source const source{.id = "ci", .pending = "/job/args/0", .output = "/job"};
    auto const read =
        read_back(source, {.pending = call, .output = Json::trusted(R"({"state":"up"})")});
    EXPECT_EQ(read.pending, call);
    EXPECT_EQ(read.output.text(), R"({"args":{"0":"pnd_1"},"state":"up"})");
}

TEST(Sample, WhatTheSourceCannotSay_IsRefused) {
    EXPECT_EQ(payload({.id = "gh", .external_ref = "/id"}, {.pending = call}),
              "refused: this source finds a call by its externalRef, and pnd_1 has none");
    EXPECT_EQ(payload({.id = "ci", .output = "/out"}, {.pending = call, .error = "no"}),
              "refused: this source carries no errors: it has no pointer \"error\"");
}

}  // namespace
}  // namespace dormouse::webhook
