#include "cli/client/failure.h"

#include "json/json.h"

#include <gtest/gtest.h>

#include <map>

namespace dormouse::cli {
namespace {

std::string problem(std::string_view code, int status, std::string const& extra = "") {
    return R"({"type":"/errors/x","title":"A title","status":)" + std::to_string(status) +
           R"(,"code":")" + std::string(code) +
           R"(","detail":"what happened","next":"retry","retryAfter":null)" + extra + "}";
}

TEST(Failure, EveryCode_HasTheExitStatusOfItsRow) {
    for (CodeInfo const& row : codes()) {
        auto const failed = failure_of_reply(row.http, problem(row.text, row.http));
        EXPECT_EQ(failed.exit, row.exit) << row.text;
        EXPECT_EQ(code_of(failed), row.text);
    }
}

TEST(Failure, ExitStatuses_AreTheDocumentedOnes) {
    std::map<std::string, int> const documented{
        {"not_found", status::not_found},
        {"conflict", status::conflict},
        {"wrong_state", status::conflict},
        {"session_busy", status::refused},
        {"expired", status::gone},
        {"cancelled", status::gone},
        {"unauthenticated", status::not_allowed},
        {"forbidden", status::not_allowed},
        {"rate_limited", status::refused},
        {"store_unavailable", status::refused},
        {"draining", status::refused},
        {"internal", status::failed},
        {"newer_format", status::newer},
    };
    for (auto const& [code, exit] : documented) {
        EXPECT_EQ(failure_of_reply(500, problem(code, 500)).exit, exit) << code;
    }
}

TEST(Failure, WrongKind_OnlyAnOutcomeGetsTheAdviceForCalls) {
    auto const at = [](std::string const& path) {
        return text(
            failure_of_reply(422, problem("wrong_kind", 422, R"(,"instance":")" + path + "\"")));
    };
    EXPECT_TRUE(at("/async-tool/result").contains("Approvals take approve or deny"));
    EXPECT_FALSE(at("/async-tool/pending/pnd_1/reassign").contains("Approvals take"));
    EXPECT_FALSE(at("/api/sessions/ses_1").contains("Approvals take"));
}

TEST(Failure, UnknownCode_ExitFollowsHttpStatus) {
    EXPECT_EQ(failure_of_reply(404, problem("from_a_later_release", 404)).exit, status::not_found);
    EXPECT_EQ(failure_of_reply(503, problem("from_a_later_release", 503)).exit, status::refused);
    EXPECT_EQ(failure_of_reply(418, problem("from_a_later_release", 418)).exit, status::failed);
}

TEST(Failure, Problem_SaysWhatWhereAndWhatToDo) {
    auto const failed = failure_of_reply(404, problem("not_found", 404));
    EXPECT_EQ(text(failed),
              "dormouse: A title: what happened (not_found)\n"
              "  See what there is: dormouse sessions, dormouse pending.\n");
}

TEST(Failure, SessionBusy_OnlyAPromptIsQueued) {
    auto const at = [](std::string const& path) {
        return text(
            failure_of_reply(409, problem("session_busy", 409, R"(,"instance":")" + path + "\"")));
    };
    EXPECT_TRUE(at("/api/sessions/ses_1/prompt").contains("--when queue"));
    EXPECT_TRUE(at("/api/sessions/ses_1/redact").contains("dormouse cancel SESSION"));
}

TEST(Failure, Conflict_PointsAtTheSettledCall) {
    auto const failed =
        failure_of_reply(409, problem("conflict", 409, R"(,"receipt":{"pendingID":"pnd_1"})"));
    EXPECT_EQ(failed.remedy, "See who settled it and how: dormouse explain pnd_1.");
}

TEST(Failure, WrongField_IsNamedWithTheNearest) {
    auto const failed = failure_of_reply(
        400, problem("unknown_field", 400, R"(,"field":"agentId","nearest":"agentID")"));
    EXPECT_NE(failed.what.find("Field: agentId. Did you mean agentID?"), std::string::npos);
}

TEST(Failure, InvalidResult_ListsSchemaErrors) {
    auto const failed = failure_of_reply(
        422,
        problem("invalid_result", 422, R"(,"errors":[{"pointer":"/url","message":"is missing"}])"));
    EXPECT_NE(failed.what.find("/url: is missing"), std::string::npos);
}

TEST(Failure, OnlyErrorThatTheDetailHas_IsNotRepeated) {
    auto const what = [](std::string const& detail) {
        auto const body = R"({"code":"invalid_result","title":"A title","detail":")" + detail +
                          R"(","errors":[{"pointer":"/content/raise","message":"must be 1"}]})";
        return failure_of_reply(422, body).what;
    };
    EXPECT_EQ(what("The answer's content.raise must be 1."),
              "The answer's content.raise must be 1. (invalid_result)");
    EXPECT_EQ(what("Not valid."), "Not valid. (invalid_result)\n  /content/raise: must be 1");
}

TEST(Failure, MistakesOfAReload_ComeAfterTheCode) {
    auto const failed = failure_of_reply(
        400, R"({"code":"bad_value","title":"A title","detail":"The file has mistakes.",)"
             R"("instance":"/api/reload","mistakes":["a:1: x","a:2: y"],"next":"fix"})");
    EXPECT_EQ(failed.what, "The file has mistakes. (bad_value)\n  a:1: x\n  a:2: y");
    EXPECT_EQ(failed.remedy, "Correct the file, then: dormouse reload.");
}

TEST(Failure, WebhookForACallOfPeople_NamesTheirCommands) {
    auto const failed =
        failure_of_reply(403, problem("forbidden", 403, R"(,"instance":"/async-tool/webhook/ci")"));
    EXPECT_EQ(failed.remedy, "Settle it yourself: dormouse approve, deny or answer CALL.");
}

TEST(Failure, RetryAfter_IsShown) {
    auto const body = R"({"code":"overloaded","title":"Busy","next":"retry","retryAfter":1500})";
    EXPECT_EQ(failure_of_reply(503, body).remedy, "Try again in 2 s.");
}

TEST(Failure, OtherReply_PointsAtTheAddress) {
    auto const failed = failure_of_reply(502, "<html>Bad gateway</html>");
    EXPECT_EQ(failed.exit, status::failed);
    EXPECT_NE(failed.remedy.find("--server"), std::string::npos);
}

TEST(Failure, ControlCharacters_DoNotReachTheTerminal) {
    auto const body = R"({"code":"internal","title":"a\u001b[31mb","next":"stop"})";
    EXPECT_EQ(text(failure_of_reply(500, body)).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace dormouse::cli
