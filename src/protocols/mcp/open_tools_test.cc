#include "mcp/face.h"

#include "json/json.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

namespace dormouse::mcp {
namespace {

// Keeps the requests to the API; each is answered by answer().
class OpenTools : public ::testing::Test {
protected:
    OpenTools() {
        auto access = std::make_shared<ApiAccess>();
        access->ask = [this](ApiRequest request, ApiDone done) {
            requests.push_back(std::move(request));
            open.push_back(std::move(done));
        };
        access->now = [this] { return now; };
        access->wait_seconds = 50;
        face = std::make_shared<Face>(FaceSettings{.project = "p", .version = "1"}, access);
    }
    void call(std::string const& name, std::string const& arguments) {
        auto const message =
            rpc::read(
                {.text = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" +
                         name + R"(","arguments":)" + arguments + "}}"})
                .messages.front();
        face->answer(message, Era::with_initialize, ticket,
                     [this](Face::Answer got) { answer_of_tool = std::move(got); });
    }
    void answer(ApiAnswer answer) {
        auto done = std::move(open.front());
        open.pop_front();
        done(std::move(answer));
    }
    static ApiAnswer json(std::string text) { return Json::trusted(std::move(text)); }
    // The text of the tool's answer; empty: there is none yet.
    [[nodiscard]] std::string text() const {
        if (!answer_of_tool || !*answer_of_tool) return {};
        return json::View(**answer_of_tool).at_pointer("/content/0/text").string_or("");
    }
    void ask_permission() {
        call("approve",
             R"({"tool_name":"Bash tool","input":{"command": "ls"},"tool_use_id":"t1"})");
        answer(json(R"({"pendingID":"pnd_1"})"));
    }

    Time now{};
    TicketPtr ticket = std::make_shared<Ticket>();
    std::vector<ApiRequest> requests;
    std::deque<ApiDone> open;
    std::optional<Face::Answer> answer_of_tool;
    std::shared_ptr<Face> face;
};

TEST_F(OpenTools, Permission_Approved_AllowsTheInput) {
    ask_permission();
    EXPECT_EQ(requests[0].target, "/api/pending?project=p");
    EXPECT_EQ(requests[0].key, "mcp-approve-t1");
    EXPECT_EQ(json::View(requests[0].body)["tool"].string_or(""), "Bash_tool");
    EXPECT_EQ(requests[1].target, "/api/pending/pnd_1?wait=50");
    answer(json(R"({"status":"waiting"})"));
    answer(json(R"({"status":"completed","reason":"approval","input":{"command":"ls"},)"
                R"("decision":{"approved":true,"arguments":null}})"));
    EXPECT_EQ(text(), R"({"behavior":"allow","updatedInput":{"command":"ls"}})");
}

TEST_F(OpenTools, Permission_OtherThanApproved_Denies) {
    for (auto const* const call : {
             R"({"status":"expired","decision":null})",
             R"({"status":"cancelled","decision":null})",
             R"({"status":"completed","decision":{"approved":true,"arguments":{"command":"rm"}}})",
             R"({"status":"failed","decision":{"approved":false,"reason":"no"}})",
             R"({"status":"completed"})",
         }) {
        ask_permission();
        answer(json(R"({"reason":"approval",)" + std::string(call).substr(1)));
        EXPECT_TRUE(text().starts_with(R"({"behavior":"deny","message":")")) << call << text();
    }
}

TEST_F(OpenTools, Permission_ClientLeaves_IsCancelled) {
    ask_permission();
    ticket->gone = [] { return true; };
    answer(json(R"({"status":"waiting"})"));
    EXPECT_EQ(requests.back().method, "DELETE");
    EXPECT_EQ(text(), "");
    answer(json("{}"));
    EXPECT_TRUE(text().contains("withdrawn"));
}

TEST_F(OpenTools, Permission_ServerAway_WaitsOn) {
    ask_permission();
    answer(std::unexpected(Refusal{.what = "away", .away = true}));
    EXPECT_EQ(text(), "");
    answer(std::unexpected(Refusal{.what = "it is gone"}));
    EXPECT_EQ(text(), "it is gone");
}

TEST_F(OpenTools, Question_TimeOver_StillWaits) {
    call("ask_human", R"({"question":"Which?","wait":90000})");
    answer(json(R"({"pendingID":"pnd_1"})"));
    EXPECT_EQ(requests[1].target, "/api/pending/pnd_1?wait=50");
    now += std::chrono::seconds(50);
    answer(json(R"({"id":"pnd_1","status":"waiting"})"));
    EXPECT_EQ(requests[2].target, "/api/pending/pnd_1?wait=40");
    now += std::chrono::seconds(40);
    answer(json(R"({"id":"pnd_1","status":"waiting"})"));
    EXPECT_TRUE(text().contains("collect_answer again with id pnd_1"));
}

TEST_F(OpenTools, Arguments_OfOtherTypes_AreRefused) {
    call("approve", R"({"tool_name":"x","input":3})");
    EXPECT_TRUE(text().contains("input is invalid"));
    call("ask_human", R"({"question":")" + std::string(16'385, 'x') + R"("})");
    EXPECT_EQ(text(), "question must be at most 16384 bytes");
    EXPECT_TRUE(requests.empty());
}

}  // namespace
}  // namespace dormouse::mcp
