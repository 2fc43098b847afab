#include "webhook/source.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::webhook {
namespace {

std::string reading(Source const& source, std::string const& body) {
    auto const payload = read_payload(source, json::check(body).value());
    if (!payload) return "! " + payload.error().detail;
    if (payload->ignored) return "ignored";
    std::string out = payload->pending + "|" + payload->reference + "|";
    out += payload->error ? "error " + *payload->error : std::string(payload->output.text());
    return out + "|" + payload->title + "|" + std::string(payload->metadata.text());
}

TEST(Payload, Payload_NotMapped_HasTheFormOfAResult) {
    Source const source{.id = "ci"};
    EXPECT_EQ(reading(source, R"({"pendingID":"pnd_1","result":{"output": {"a": 1},"title":"T"}})"),
              R"(pnd_1||{"a":1}|T|null)");
    EXPECT_EQ(reading(source, R"({"pendingID":"pnd_1","error":"no room","more":1})"),
              "pnd_1||error no room||null");
    EXPECT_EQ(reading(source, R"({"pendingID":"pnd_1","result":{"output":null},"error":null})"),
              "pnd_1||null||null");
    for (char const* const bad :
         {R"({"result":{"output":1}})", R"({"pendingID":"p"})", R"({"pendingID":"p","error":5})",
          R"({"pendingID":"p","result":{"output":1},"error":"e"})",
          R"({"pendingID":"p","result":{}})", R"({"pendingID":"p","result":5})",
          R"({"pendingID":"p","result":{"output":1,"title":5}})", "[]", "5", R"("text")"})
        EXPECT_TRUE(reading(source, bad).starts_with("! /")) << bad;
}

TEST(Payload, Payload_Mapped_IsFoundByPointers) {
    Source source{.id = "gh", .external_ref = "/run/id", .output = "/run", .title = "/run/name"};
    EXPECT_EQ(reading(source, R"({"run":{"id":4711,"name":"build"}})"),
              R"(|4711|{"id":4711,"name":"build"}|build|null)");
    EXPECT_EQ(reading(source, R"({"run":{"id":""}})").substr(0, 9), "! /run/id");
    source.error = "/run/error";
    EXPECT_EQ(reading(source, R"({"run":{"id":"r","error":{"code":3}}})"),
              R"(|r|error {"code":3}||null)");
    EXPECT_EQ(reading(source, R"({"run":{"id":"r","error":null}})"),
              R"(|r|{"id":"r","error":null}||null)");
    source.output = "/out";
    EXPECT_EQ(reading(source, R"({"run":{"id":"r"}})"),
              "! /out is missing: it is the call's output");
    source.pending = "/pendingID";
    EXPECT_EQ(reading(source, R"({"pendingID":"pnd_1","run":{"id":"r"},"out":1})"),
              "pnd_1||1||null");
}

TEST(Payload, Payload_WhenDoesNotMatch_IsIgnored) {
    Source const source{.id = "gh",
                        .external_ref = "/run/id",
                        .output = "/run/conclusion",
                        .when = {{"/action", "completed"}}};
    EXPECT_EQ(reading(source, R"({"zen":"Keep it logically awesome."})"), "ignored");
    EXPECT_EQ(reading(source, R"({"action":"requested","run":{"id":1}})"), "ignored");
    EXPECT_EQ(reading(source, R"({"action":"completed","run":{"id":1,"conclusion":"success"}})"),
              R"(|1|"success"||null)");
}

std::string form(std::string const& body) {
    auto const json = form_to_json(body);
    return json ? std::string(json->text()) : "! " + json.error().detail;
}

TEST(Form, Form_BecomesAnObjectOfStrings) {
    EXPECT_EQ(form(""), "{}");
    EXPECT_EQ(form("command=%2Fdo&text=a+b%22c&x"), R"({"command":"/do","text":"a b\"c","x":""})");
    EXPECT_EQ(form("payload=%7B%22a%22%3A1%7D&b=2"), R"({"payload":{"a":1},"b":"2"})");
    for (char const* const bad : {"a=1&a=2", "a=%", "a=%1", "a=%zz", "a=%ff", "payload=%7B"})
        EXPECT_TRUE(form(bad).starts_with("! ")) << bad;
    std::string many;
    for (int i = 0; i < 65; ++i) many += "f" + std::to_string(i) + "=1&";
    EXPECT_TRUE(form(many).starts_with("! "));
}

}  // namespace
}  // namespace dormouse::webhook
