#include "http/resources/rights.h"

#include "http/resources/testing/api_fixture.h"

namespace dormouse::http {
namespace {

TEST_F(ApiTest, Head_BodyNotAccepted_RefusedAtOnce) {
    port::TokenRow reader{.id = "tok_r", .kind = "token", .name = "r", .role = "read"};
    reader.secret = sha256("dm_reader");
    gate.tokens().add(reader);
    auto const refused = [this](std::vector<std::string> segments, std::string const& token,
                                Headers more = {}) {
        HttpRequest head;
        head.method = "POST";
        head.segments = std::move(segments);
        for (std::string const& one : head.segments) head.path += "/" + one;
        head.headers = {{"host", "localhost:3676"},
                        {"content-type", "application/json"},
                        {"content-length", "1000000"}};
        if (!token.empty()) head.headers.emplace_back("authorization", "Bearer " + token);
        head.headers.insert(head.headers.end(), more.begin(), more.end());
        auto const reply = api.refuse(head);
        return reply ? reply->status : 0;
    };
    EXPECT_EQ(refused({"async-tool", "result"}, "dm_reader"), 403);
    EXPECT_EQ(refused({"async-tool", "result"}, "s3cret"), 0);
    EXPECT_EQ(refused({"async-tool", "webhook"}, ""), 401) << "no signature";
    EXPECT_EQ(refused({"async-tool", "webhook"}, "", {{"x-webhook-signature", "aa"}}), 0);
    EXPECT_EQ(refused({"async-tool", "webhook", "none"}, ""), 404);
    EXPECT_EQ(refused({"nowhere"}, "s3cret"), 404);
    EXPECT_EQ(refused({"healthz"}, ""), 405);
    EXPECT_EQ(refused({"sign-in"}, ""), 0);
    EXPECT_EQ(api.body_limit("POST", "/sign-in"), 4'096U);
}

class TokenTest : public ApiTest {
protected:
    // Adds a token to the store and returns its secret.
    std::string token(std::string const& name, std::string const& role,
                      std::vector<std::string> projects = {}) {
        port::TokenRow row{.id = "tok_" + name, .kind = "token", .name = name, .role = role};
        row.projects = std::move(projects);
        row.secret = sha256("dm_" + name);
        gate.tokens().add(row);
        journal.disk->tokens[row.id] = row;
        return "dm_" + name;
    }
    HttpReply as(std::string const& secret, std::string method, std::string path,
                 std::string body = "", Headers more = {}) {
        more.emplace_back("authorization", "Bearer " + secret);
        return send(std::move(method), std::move(path), std::move(body), std::move(more));
    }
};

TEST_F(TokenTest, Revocation_StoreFails_TokenStaysAndIsRevokedLater) {
    std::string const secret = token("carol", "read");
    journal.disk->takes_tokens = false;
    EXPECT_EQ(code(send("DELETE", "/api/tokens/tok_carol")), "store_full");
    EXPECT_TRUE(gate.tokens().find_id("tok_carol"));
    EXPECT_EQ(as(secret, "GET", "/api/agents").status, 200);
    journal.disk->takes_tokens = true;
    EXPECT_EQ(send("DELETE", "/api/tokens/tok_carol").status, 204);
    EXPECT_FALSE(gate.tokens().find_id("tok_carol"));
    EXPECT_EQ(code(send("DELETE", "/api/tokens/tok_carol")), "not_found");
}

TEST_F(TokenTest, Metrics_TokenOfOneProject_Refused) {
    std::string const bound = token("bound", "admin", {"default"});
    EXPECT_EQ(code(as(bound, "GET", "/metrics")), "forbidden");
    EXPECT_EQ(as(token("reader", "read"), "GET", "/metrics").status, 200);
}

TEST_F(TokenTest, ForeignAndUnknownIds_WrongBody_LookTheSame) {
    std::string const foreign = token("elsewhere", "operate", {"another"});
    std::string const here = waiting_call();
    auto unknown = *PendingId::parse(here);
    unknown.session = SessionId::make(99, {});
    for (std::string const& body :
         {std::string(R"("result":1)"), std::string(R"("result":{"output":1},"x":1)")}) {
        auto const sent = [&](std::string const& id) {
            return as(foreign, "POST", "/async-tool/result",
                      R"({"pendingID":")" + id + R"(",)" + body + "}");
        };
        EXPECT_EQ(sent(here).status, 404);
        EXPECT_EQ(sent(here).body, sent(unknown.text()).body);
    }
    std::string const session = PendingId::parse(here)->session.text();
    EXPECT_EQ(as(foreign, "POST", prompt_path(session), "{").status, 404);
    EXPECT_EQ(as(foreign, "POST", prompt_path(unknown.session.text()), "{").status, 404);
}

TEST_F(TokenTest, QuestionToARole_HigherRoleMayAnswer) {
    (void)send("POST", prompt_path(create()), R"({"text":"please"})");
    effects.reply({session::testing::job()});
    loop.run();
    std::string const pending = effects.ran.back().run.pending.text();
    session::PauseTerms terms;
    terms.answer.from = {"role:answer"};
    effects.finish(terms);
    loop.run();
    std::string const body = R"({"pendingID":")" + pending + R"(","result":{"output":1}})";
    EXPECT_EQ(as(token("reader", "read"), "POST", "/async-tool/result", body).status, 403);
    HttpReply const applied = as(token("op", "operate"), "POST", "/async-tool/result", body);
    EXPECT_EQ(member(applied, "/outcome"), "applied") << applied.body;
}

TEST_F(TokenTest, Page_TokenInPlaceOfCookie_HasNoForm) {
    std::string const pending = waiting_call();
    HttpReply const page = send("GET", "/a/" + pending);
    EXPECT_EQ(page.status, 200);
    EXPECT_FALSE(page.body.contains("<form"));
}

TEST_F(TokenTest, Progress_TooOftenForOneCall_Limited) {
    std::string const body =
        R"({"pendingID":")" + waiting_call() + R"(","payload":1,"key":"same"})";
    std::string detail;
    for (int i = 0; i < 210 && detail.empty(); ++i) {
        HttpReply const reply = send("POST", "/async-tool/progress", body);
        if (reply.status == 429) detail = member(reply, "/detail");
    }
    EXPECT_EQ(detail, "Too many outcomes in one second.");
}

}  // namespace
}  // namespace dormouse::http
