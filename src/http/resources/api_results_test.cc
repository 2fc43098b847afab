#include "http/resources/testing/api_fixture.h"

#include "base/text/text.h"
#include "json/json.h"

// Tests results through the whole API: single, in batches, against schemas and by callback URL.
namespace dormouse::http {
namespace {

TEST_F(ApiTest, DuplicateResult_ReturnsTheFirstReceipt) {
    std::string const pending = waiting_call();
    HttpReply const applied = result(pending, R"({"ok":1})");
    EXPECT_EQ(applied.status, 200);
    EXPECT_EQ(member(applied, "/outcome"), "applied");
    HttpReply const again = result(pending, R"({ "ok" : 1.0 })");
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(member(again, "/duplicate"), "true");
    EXPECT_EQ(member(again, "/receipt/id"), member(applied, "/receipt/id"));
    HttpReply const other = result(pending, "2");
    EXPECT_EQ(other.status, 409);
    EXPECT_EQ(code(other), "conflict");
    EXPECT_EQ(member(other, "/digest"), member(applied, "/receipt/digest"));
}

TEST_F(ApiTest, UnknownAndForeignIds_AreNotFound) {
    std::string const pending = waiting_call();
    auto other = *PendingId::parse(pending);
    other.nonce[0] ^= 1;
    for (std::string const& id :
         {other.text(), std::string("pnd_x"), pending + "x", std::string("")}) {
        HttpReply const reply = result(id, "1");
        EXPECT_EQ(reply.status, 404) << id;
        EXPECT_EQ(member(reply, "/detail"), "This id was not found.");
    }
    for (std::string const& id : {SessionId::make(9, {}).text(), std::string("ses_x")}) {
        EXPECT_EQ(send("GET", "/api/sessions/" + id).status, 404);
        EXPECT_EQ(send("POST", prompt_path(id), R"({"text":"a"})").status, 404);
        EXPECT_EQ(send("GET", "/api/sessions/" + id + "/messages").status, 404);
    }
}

TEST_F(ApiTest, Result_OutputRequired_MayBeNull) {
    std::string const pending = waiting_call();
    HttpReply const missing = send("POST", "/async-tool/result",
                                   R"({"pendingID":")" + pending + R"(","result":{"title":"x"}})");
    EXPECT_EQ(missing.status, 400);
    EXPECT_EQ(member(missing, "/pointer"), "/result/output");
    EXPECT_EQ(member(result(pending, "null"), "/outcome"), "applied");
}

class SchemaTest : public ApiTest {
protected:
    // Returns a call that waits with this schema, or one that runs if there is none.
    std::string call_with(std::optional<std::string> schema) {
        (void)send("POST", prompt_path(create()), R"({"text":"please"})");
        effects.reply({session::testing::job()});
        loop.run();
        std::string const pending = effects.ran.back().run.pending.text();
        if (!schema) return pending;
        session::PauseTerms terms;
        terms.schema = Json::trusted(*schema);
        effects.finish(terms);
        loop.run();
        return pending;
    }
    static constexpr auto wants_url = R"({"type":"object","required":["url"]})";
};

TEST_F(SchemaTest, ResultNotMatching_Refused_CallStillWaits) {
    std::string const pending = call_with(wants_url);
    HttpReply const refused = result(pending, "{}");
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(code(refused), "invalid_result");
    EXPECT_NE(member(refused, "/errors/0/message"), "absent");
    EXPECT_EQ(member(send("GET", "/async-tool/pending/" + pending), "/status"), "waiting");
    EXPECT_EQ(result(pending, R"({"url":"x"})").status, 200);
    EXPECT_EQ(code(result(pending, "{}")), "conflict") << "a settled call is not validated again";
}

TEST_F(SchemaTest, EarlyResult_CheckedAgainstTheToolsSchema) {
    std::string const pending = call_with(std::nullopt);
    catalogue.declared = Json::trusted(wants_url);
    EXPECT_EQ(code(result(pending, "1")), "invalid_result");
    EXPECT_EQ(result(pending, R"({"url":"x"})").status, 200);
}

TEST_F(SchemaTest, Error_IsNotCheckedAgainstTheSchema) {
    std::string const pending = call_with(wants_url);
    EXPECT_EQ(
        send("POST", "/async-tool/error", R"({"pendingID":")" + pending + R"(","error":"no"})")
            .status,
        200);
}

class CapabilityTest : public ApiTest {
protected:
    std::string pending = waiting_call();
    std::string token = gate.capabilities().token(*PendingId::parse(pending));

    HttpReply ask(std::string method, std::string path, std::string body = "",
                  Headers headers = {{"authorization", "none"}}) {
        return send(std::move(method), std::move(path), std::move(body), std::move(headers));
    }
    HttpReply call_back(std::string body) { return ask("POST", "/c/" + token, std::move(body)); }
};

TEST_F(CapabilityTest, Callback_SettlesItsCall_GetsBriefReceipt) {
    HttpReply const applied = call_back(R"({"result":{"output":"ok"}})");
    EXPECT_EQ(applied.status, 200);
    EXPECT_EQ(member(applied, "/outcome"), "applied");
    EXPECT_EQ(member(applied, "/receipt/status"), "completed");
    EXPECT_EQ(member(applied, "/receipt/by"), "absent");
    EXPECT_EQ(member(call_back(R"({"result":{"output":"ok"}})"), "/duplicate"), "true");
    HttpReply const other = call_back(R"({"error":"no"})");
    EXPECT_EQ(code(other), "conflict");
    EXPECT_NE(member(other, "/receipt/digest"), "absent");
    EXPECT_EQ(member(other, "/receipt/by"), "absent");
    EXPECT_EQ(member(other, "/receipt/receiptID"), "absent");
    EXPECT_EQ(member(other, "/instance"), "/c/…") << "problems are logged";
}

TEST_F(CapabilityTest, Body_HasOneOutcome_PendingIDOptional) {
    EXPECT_EQ(code(call_back("{}")), "bad_value");
    EXPECT_EQ(code(call_back(R"({"result":{"output":1},"error":"x"})")), "bad_value");
    EXPECT_EQ(code(call_back(R"({"result":{"output":1},"sessionID":"x"})")), "unknown_field");
    EXPECT_EQ(code(call_back(R"({"result":{}})")), "bad_value");
    std::string const other = waiting_call();
    EXPECT_EQ(code(call_back(R"({"error":"x","pendingID":")" + other + "\"}")), "not_found");
    EXPECT_EQ(call_back(R"({"error":"x","pendingID":")" + pending + "\"}").status, 200);
}

TEST_F(CapabilityTest, AsToken_AllowsItsOwnCallOnly) {
    Headers const bearer{{"authorization", "Bearer " + token}};
    std::string const other = waiting_call();
    EXPECT_EQ(code(ask("POST", "/async-tool/result",
                       R"({"pendingID":")" + other + R"(","result":{"output":1}})", bearer)),
              "not_found");
    EXPECT_EQ(ask("POST", "/async-tool/progress", R"({"payload":1})", bearer).status, 200);
    EXPECT_EQ(ask("POST", "/async-tool/result", R"({"result":{"output":1}})", bearer).status, 200);
}

TEST_F(CapabilityTest, Get_ShowsAndNeverSettles) {
    HttpReply const shown = ask("GET", "/c/" + token);
    EXPECT_EQ(shown.status, 200);
    EXPECT_EQ(member(shown, "/status"), "waiting");
    EXPECT_EQ(member(shown, "/receipt"), "null");
    EXPECT_EQ(member(shown, "/input"), "absent");
    EXPECT_EQ(member(send("GET", "/async-tool/pending/" + pending), "/status"), "waiting");
    (void)call_back(R"({"result":{"output":1}})");
    EXPECT_EQ(member(ask("GET", "/c/" + token), "/receipt/status"), "completed");
}

TEST_F(ApiTest, Batch_OneAppendPerSession_OneOutcomePerItem) {
    std::string const first = waiting_call();
    std::string const other = waiting_call();
    auto const session = PendingId::parse(first)->session;
    auto const frames = [&] { return journal.store->page(session, 1, SIZE_MAX)->size(); };
    std::size_t const before = frames();
    auto const item = [](std::string const& id, std::string const& output) {
        return R"({"pendingID":")" + id + R"(","result":{"output":)" + output + "}}";
    };
    HttpReply const reply =
        send("POST", "/async-tool/results",
             R"({"items":[)" + item(first, "1") + "," + item(first, "1") + "," + item(first, "2") +
                 "," + item(other, "3") + "," + item("pnd_nothing", "4") + "]}");
    ASSERT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(member(reply, "/items/0/answer/outcome"), "applied");
    EXPECT_EQ(member(reply, "/items/1/answer/outcome"), "duplicate");
    EXPECT_EQ(member(reply, "/items/2/status"), "409");
    EXPECT_EQ(member(reply, "/items/2/problem/code"), "conflict");
    EXPECT_EQ(member(reply, "/items/2/answer"), "null");
    EXPECT_EQ(member(reply, "/items/3/answer/outcome"), "applied");
    EXPECT_EQ(member(reply, "/items/4/problem/code"), "not_found");
    EXPECT_EQ(frames(), before + 1);
}

TEST_F(ApiTest, Batch_OneBadItem_ChangesNothing) {
    std::string const pending = waiting_call();
    std::string const good = R"({"pendingID":")" + pending + R"(","result":{"output":1}})";
    for (std::string const bad : {R"({"pendingID":"x","result":{}})", R"({"pendingID":"x"})",
                                  R"({"pendingID":"x","result":{"output":1},"error":"e"})", "7"}) {
        HttpReply const reply =
            send("POST", "/async-tool/results", R"({"items":[)" + good + "," + bad + "]}");
        EXPECT_EQ(reply.status, 400) << reply.body;
        EXPECT_TRUE(member(reply, "/pointer").starts_with("/items/1")) << reply.body;
    }
    EXPECT_EQ(member(send("GET", "/async-tool/pending/" + pending), "/status"), "waiting");
}

}  // namespace
}  // namespace dormouse::http
