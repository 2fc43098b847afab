#include "http/objects/problem.h"

#include "json/json.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dormouse::http {
namespace {

HttpRequest request() {
    HttpRequest out;
    out.path = "/async-tool/pending/pnd_1";
    out.id = "req_9";
    return out;
}
std::string header(HttpReply const& reply, std::string_view name) {
    auto const found =
        std::ranges::find(reply.headers, name, &std::pair<std::string, std::string>::first);
    return found == reply.headers.end() ? "" : found->second;
}

TEST(Problem, EveryCode_HasEveryMember) {
    for (CodeInfo const& about : codes()) {
        HttpReply const reply = problem_reply({about.code}, request());
        EXPECT_EQ(reply.status, about.http);
        EXPECT_EQ(reply.content_type, "application/problem+json");
        ASSERT_TRUE(json::check(reply.body)) << reply.body;
        json::View const body(reply.body);
        EXPECT_EQ(body["type"].string(), "/errors/" + std::string(about.text));
        EXPECT_EQ(body["title"].string(), about.title);
        EXPECT_EQ(body["status"].integer(), about.http);
        EXPECT_EQ(body["code"].string(), about.text);
        EXPECT_EQ(body["detail"].string(), about.title);  // the default, if the error has no detail
        EXPECT_EQ(body["instance"].string(), "/async-tool/pending/pnd_1");
        EXPECT_EQ(body["next"].string(), text(about.next));
        EXPECT_EQ(body["requestID"].string(), "req_9");
        EXPECT_TRUE(body["retryAfter"].exists());
    }
}

TEST(Problem, RetryAfter_IsInHeaderAndBodyOrInNeither) {
    for (CodeInfo const& about : codes()) {
        bool const waits =
            about.http == 429 || (about.http == 503 && about.code != Code::newer_format);
        HttpReply const reply = problem_reply({about.code}, request());
        EXPECT_EQ(header(reply, "Retry-After"), waits ? "1" : "") << about.text;
        EXPECT_EQ(json::View(reply.body)["retryAfter"].is_null(), !waits) << about.text;
    }
    HttpReply const exact = problem_reply({Code::not_ready, "soon", {}, 1'500}, request());
    EXPECT_EQ(header(exact, "Retry-After"), "2");  // whole seconds, rounded up
    EXPECT_EQ(json::View(exact.body)["retryAfter"].integer(), 1'500);
}

TEST(Problem, ExtraMembers_AreNextToTheOthers) {
    Error error{Code::conflict, "Settled \"before\".",
                Json::trusted(R"({"digest":"sha256:x","receipt":{"id":"rcp_1"}})"), 0};
    HttpReply const reply = problem_reply(error, request());
    ASSERT_TRUE(json::check(reply.body));
    EXPECT_EQ(json::View(reply.body)["digest"].string(), "sha256:x");
    EXPECT_EQ(json::View(reply.body)["receipt"]["id"].string(), "rcp_1");
    EXPECT_EQ(json::View(reply.body)["detail"].string(), "Settled \"before\".");
}

TEST(Problem, Unauthenticated_SaysHowToSendAToken) {
    EXPECT_EQ(header(problem_reply({Code::unauthenticated}, request()), "WWW-Authenticate"),
              "Bearer realm=\"dormouse\"");
    EXPECT_EQ(header(problem_reply({Code::forbidden}, request()), "WWW-Authenticate"), "");
}

TEST(Problem, CompletedSession_SuggestsReopen) {
    auto const next = [](std::string extra) {
        Error const error{Code::wrong_state, "", Json::trusted(std::move(extra)), 0};
        HttpReply const reply = problem_reply(error, request());
        return json::View(reply.body)["next"].string_or("");
    };
    EXPECT_EQ(next(R"({"from":"completed","move":"prompt"})"), "reopen");
    EXPECT_EQ(next(R"({"from":"completed","move":"pause"})"), "stop");
    EXPECT_EQ(next(R"({"from":"paused","move":"prompt"})"), "stop");
}

}  // namespace
}  // namespace dormouse::http
