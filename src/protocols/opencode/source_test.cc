#include "opencode/source.h"

#include <gtest/gtest.h>

namespace dormouse::opencode {
namespace {

Json exported(std::string const& messages) {
    return Json::trusted(R"({"info":{"id":"ses_1","title":"T","directory":"/d",)"
                         R"("time":{"created":7}},"messages":[)" +
                         messages + "]}");
}

std::string message(std::string const& id, int created, std::string const& parts,
                    std::string const& role = "user") {
    return R"({"info":{"id":")" + id + R"(","role":")" + role + R"(","time":{"created":)" +
           std::to_string(created) + R"(}},"parts":[)" + parts + "]}";
}

TEST(Export, Messages_AreOrderedByTimeNotById) {
    auto const session = read_export(exported(
        message("msg_a", 2, "") + "," + message("msg_c", 1, "") + "," + message("msg_b", 1, "")));
    ASSERT_TRUE(session);
    EXPECT_EQ(session->id, "ses_1");
    EXPECT_EQ(session->created, 7);
    ASSERT_EQ(session->messages.size(), 3U);
    EXPECT_EQ(session->messages[0].id, "msg_b");
    EXPECT_EQ(session->messages[1].id, "msg_c");
    EXPECT_EQ(session->messages[2].id, "msg_a");
}

TEST(Export, Export_Invalid_IsAnError) {
    for (auto const* const text : {"{}", "[]", R"({"info":{"id":"a"}})", R"({"messages":[]})"})
        EXPECT_FALSE(read_export(Json::trusted(text))) << text;
}

TEST(Body, Import_KeepsTextAndToolsOnly) {
    auto const session = read_export(exported(
        message("m", 3,
                R"({"id":"p1","type":"text","text":"hi"},{"type":"step-start"},)"
                R"({"type":"text","text":"note","ignored":true},)"
                R"({"type":"file","filename":"a.png","mime":"image/png"},)"
                R"({"id":"p4","type":"tool","tool":"t","state":{"status":"pending"}},)"
                R"({"type":"tool","tool":"t","callID":"c","state":{"status":"error","input":{},)"
                R"("error":"no"}})",
                "assistant") +
        "," + message("empty", 4, R"({"type":"snapshot"})")));
    ASSERT_TRUE(session);
    EXPECT_EQ(import_body(*session, "ops").json.text(),
              R"({"agentID":"ops","title":"T","source":"opencode:ses_1","cwd":"/d","messages":[)"
              R"({"role":"assistant","at":3,"parts":[{"type":"text","text":"hi"},)"
              R"({"type":"text","text":"[a.png]"},)"
              R"({"type":"tool","tool":"t","callID":"p4","input":{},"error":"It had not ended."},)"
              R"({"type":"tool","tool":"t","callID":"c","input":{},"error":"no"}]}]})");
}

TEST(Body, Import_HasFilesOfMessagesAndTools) {
    auto const session = read_export(exported(message(
        "m", 3,
        R"({"type":"file","filename":"a.txt","mime":"text/plain","url":"data:,hi"},)"
        R"({"type":"file","filename":"b.txt","url":"data:;base64,*"},)"
        R"({"type":"tool","tool":"read","callID":"c","state":{"status":"completed","input":{},)"
        R"("output":"","attachments":[{"type":"file","mime":"text/css","url":"data:,p"}]}})")));
    ASSERT_TRUE(session);
    auto const body = import_body(*session, "ops");
    EXPECT_EQ(body.files, 2U);
    EXPECT_EQ(body.left_out,
              (std::vector<std::string>{"b.txt of message m in session ses_1 (not a data: URL)"}));
    auto const parts = json::View(body.json)["messages"];
    std::string kinds;
    parts.elements([&](json::View one) {
        one["parts"].elements([&](json::View part) { kinds += part["type"].string_or("?") + " "; });
    });
    EXPECT_EQ(kinds, "file text tool file ");
}

}  // namespace
}  // namespace dormouse::opencode
