#include "server/api_fixture.h"

#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <functional>

// Requests as values through the whole API, without sockets.
namespace dormouse::server {
namespace {

TEST_F(ApiTest, UnknownPathsAndMethodsAreToldApart) {
    EXPECT_EQ(code(send("GET", "/nowhere")), "not_found");
    EXPECT_EQ(code(send("GET", "/api/sessions/")), "not_found");
    HttpReply const wrong = send("PUT", "/api/sessions/ses_1");
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(header(wrong, "Allow"), "GET, HEAD, PATCH, DELETE");
    EXPECT_EQ(header(send("GET", "/async-tool/result"), "Allow"), "POST");
}

TEST_F(ApiTest, HeadIsAskedAsGet) {
    EXPECT_EQ(send("HEAD", "/healthz").status, 200);
    EXPECT_EQ(send("HEAD", "/async-tool/result").status, 405);
}

TEST_F(ApiTest, ABodyThatIsNoJsonIsRefusedBeforeAnythingElse) {
    EXPECT_EQ(code(send("POST", "/async-tool/result", "{")), "bad_json");
    EXPECT_EQ(code(send("POST", "/async-tool/result", std::string(65, '[') + std::string(65, ']'))),
              "bad_json");
    EXPECT_EQ(code(send("POST", "/async-tool/result", R"({"a":1,"a":2})")), "bad_number_or_key");
    EXPECT_EQ(code(send("POST", "/async-tool/result", "[]")), "bad_value");
}

TEST_F(ApiTest, ARouteSaysHowLargeItsBodyMayBe) {
    EXPECT_EQ(api.body_limit("POST", "/async-tool/result"), std::size_t{8} << 20);
    EXPECT_EQ(api.body_limit("POST", "/api/sessions/ses_x/prompt"), std::size_t{8} << 20);
    EXPECT_EQ(api.body_limit("PATCH", "/api/sessions/ses_x"), std::size_t{1} << 20);
    EXPECT_EQ(api.body_limit("POST", "/nowhere"), std::size_t{1} << 20);
}

TEST_F(ApiTest, TheGateStandsBeforeEverything) {
    HttpRequest head;
    head.path = "/nowhere";
    head.headers = {{"host", "evil.org"}};
    auto const refused = api.refuse(head);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 421);
    head.headers = {{"host", "localhost:3676"}, {"authorization", "Bearer s3cret"}};
    EXPECT_FALSE(api.refuse(head));
}

TEST_F(ApiTest, ASessionIsMadeAndFound) {
    HttpReply const made =
        send("POST", sessions, R"({"agentID":"demo","title":"Ship","labels":{"a":"b"}})");
    EXPECT_EQ(made.status, 201);
    std::string const path = "/api/sessions/" + member(made, "/id");
    EXPECT_EQ(header(made, "Location"), path);
    EXPECT_EQ(header(made, "ETag"), "\"1\"");
    HttpReply const found = send("GET", path);
    EXPECT_EQ(found.status, 200);
    EXPECT_EQ(found.body, made.body);
    EXPECT_EQ(send("DELETE", path).status, 204);
    EXPECT_EQ(send("GET", path).status, 404);
}

TEST_F(ApiTest, WhatCanNotBeMadeIsRefusedWithItsPlace) {
    EXPECT_EQ(member(send("POST", sessions, R"({"agentID":"nobody"})"), "/pointer"), "/agentID");
    EXPECT_EQ(member(send("POST", sessions), "/pointer"), "/agentID");  // no body means {}
    HttpReply const typo = send("POST", sessions, R"({"agentId":"demo"})");
    EXPECT_EQ(code(typo), "unknown_field");
    EXPECT_EQ(member(typo, "/nearest"), "agentID");
    EXPECT_EQ(
        member(send("POST", sessions, R"({"agentID":"demo","prompt":{"text":7}})"), "/pointer"),
        "/prompt/text");
    EXPECT_EQ(send("POST", "/api/projects/a%20b/sessions", R"({"agentID":"demo"})").status, 400);
    EXPECT_TRUE(journal.disk->sessions.empty());
}

TEST_F(ApiTest, AKeyMakesCreatingSafeToRepeatQuotedOrBare) {
    std::string const first = create({{"idempotency-key", "k1"}});
    EXPECT_EQ(create({{"idempotency-key", "\"k1\""}}), first);
    EXPECT_NE(create({{"idempotency-key", "k2"}}), first);
    HttpReply const other =
        send("POST", sessions, R"({"agentID":"demo","title":"x"})", {{"idempotency-key", "k1"}});
    EXPECT_EQ(code(other), "idempotency_mismatch");
    HttpReply const spaced =
        send("POST", sessions, "{ \"agentID\" : \"demo\" }", {{"idempotency-key", "k1"}});
    EXPECT_EQ(member(spaced, "/id"), first);  // the same body, written otherwise
}

TEST_F(ApiTest, APromptIsTakenAndSaysWhatItWaitsBehind) {
    std::string const session = create();
    HttpReply const first = send("POST", prompt_path(session), R"({"text":"hello"})");
    EXPECT_EQ(first.status, 202);
    EXPECT_EQ(member(first, "/queuedBehind"), "null");
    EXPECT_TRUE(member(first, "/turnID").ends_with("_1"));
    HttpReply const second =
        send("POST", prompt_path(session), R"({"parts":[{"type":"text","text":"more"}]})");
    EXPECT_EQ(member(second, "/queuedBehind"), member(first, "/turnID"));
    HttpReply const busy = send("POST", prompt_path(session), R"({"text":"now","when":"reject"})");
    EXPECT_EQ(busy.status, 409);
    EXPECT_EQ(code(busy), "session_busy");
    EXPECT_EQ(code(send("POST", prompt_path(session), R"({"text":"now","when":"soon"})")),
              "bad_value");
    EXPECT_EQ(code(send("POST", prompt_path(session), R"({"text":"a","parts":[]})")), "bad_value");
    EXPECT_EQ(code(send("POST", prompt_path(session), "{}")), "bad_value");
}

TEST_F(ApiTest, AResultIsAppliedOnceAndItsRepeatsMeetTheReceipt) {
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

TEST_F(ApiTest, UnknownAndForeignIdsLookTheSame) {
    std::string const pending = waiting_call();
    auto other = *PendingId::parse(pending);
    other.nonce[0] ^= 1;
    for (std::string const& id :
         {other.text(), std::string("pnd_x"), pending + "x", std::string("")}) {
        HttpReply const reply = result(id, "1");
        EXPECT_EQ(reply.status, 404) << id;
        EXPECT_EQ(member(reply, "/detail"), "There is nothing with this id.");
    }
    for (std::string const& id : {SessionId::make(9, {}).text(), std::string("ses_x")}) {
        EXPECT_EQ(send("GET", "/api/sessions/" + id).status, 404);
        EXPECT_EQ(send("POST", prompt_path(id), R"({"text":"a"})").status, 404);
        EXPECT_EQ(send("GET", "/api/sessions/" + id + "/messages").status, 404);
    }
}

TEST_F(ApiTest, AResultMustHaveAnOutputThatMayBeNull) {
    std::string const pending = waiting_call();
    HttpReply const missing = send("POST", "/async-tool/result",
                                   R"({"pendingID":")" + pending + R"(","result":{"title":"x"}})");
    EXPECT_EQ(missing.status, 400);
    EXPECT_EQ(member(missing, "/pointer"), "/result/output");
    EXPECT_EQ(member(result(pending, "null"), "/outcome"), "applied");
}

TEST_F(ApiTest, AFailedStoreIsSaidAsSuch) {
    std::string const session = create();
    journal.fault = runner::testing::Fault::lost;
    HttpReply const reply = send("POST", prompt_path(session), R"({"text":"hello"})");
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(code(reply), "store_unavailable");
    EXPECT_EQ(header(reply, "Retry-After"), "1");
    EXPECT_EQ(send("POST", prompt_path(session), R"({"text":"hello"})").status, 202);
}

TEST_F(ApiTest, ReadyIsSaidOnceTheFirstScanIsDone) {
    EXPECT_EQ(code(send("GET", "/readyz")), "recovering");
    runner->start();
    loop.run();
    EXPECT_EQ(send("GET", "/readyz").status, 200);
    runner->drain([] {});
    EXPECT_EQ(code(send("GET", "/readyz")), "draining");
    EXPECT_EQ(send("GET", "/healthz").status, 200);
}

TEST_F(ApiTest, EventsArePagedOldestFirst) {
    std::string const session = create();
    for (int i = 0; i < 5; ++i) {
        (void)send("PATCH", "/api/sessions/" + session,
                   R"({"title":"t)" + std::to_string(i) + "\"}");
    }
    std::string const path = "/api/sessions/" + session + "/events";
    HttpReply const page = send("GET", path + "?limit=2");
    EXPECT_EQ(member(page, "/items/0/seq"), "1");
    EXPECT_EQ(member(page, "/items/1/seq"), "2");
    EXPECT_EQ(member(page, "/next"), "2");
    HttpReply const rest = send("GET", path + "?cursor=2");
    EXPECT_EQ(member(rest, "/items/0/seq"), "3");
    EXPECT_EQ(member(rest, "/next"), "null");
    EXPECT_EQ(code(send("GET", path + "?cursor=x")), "bad_cursor");
    EXPECT_EQ(code(send("GET", path + "?limit=0")), "bad_value");
    EXPECT_EQ(code(send("GET", path + "?limit=201")), "bad_value");
}

class SchemaTest : public ApiTest {
protected:
    // A call that waits with this schema, or runs when there is none.
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

TEST_F(SchemaTest, AResultThatDoesNotFitIsRefusedAndTheCallGoesOnWaiting) {
    std::string const pending = call_with(wants_url);
    HttpReply const refused = result(pending, "{}");
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(code(refused), "invalid_result");
    EXPECT_NE(member(refused, "/errors/0/message"), "absent");
    EXPECT_EQ(member(send("GET", "/async-tool/pending/" + pending), "/status"), "waiting");
    EXPECT_EQ(result(pending, R"({"url":"x"})").status, 200);
    EXPECT_EQ(code(result(pending, "{}")), "conflict") << "what is settled is not measured again";
}

TEST_F(SchemaTest, AnEarlyResultIsMeasuredByWhatTheToolDeclares) {
    std::string const pending = call_with(std::nullopt);
    catalogue.declared = Json::trusted(wants_url);
    EXPECT_EQ(code(result(pending, "1")), "invalid_result");
    EXPECT_EQ(result(pending, R"({"url":"x"})").status, 200);
}

TEST_F(SchemaTest, AnErrorFitsEverySchema) {
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

TEST_F(CapabilityTest, ACallbackSettlesItsCallAndIsToldLittle) {
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

TEST_F(CapabilityTest, ItsBodyIsOneOutcomeAndItsPendingIDMayBeLeftOut) {
    EXPECT_EQ(code(call_back("{}")), "bad_value");
    EXPECT_EQ(code(call_back(R"({"result":{"output":1},"error":"x"})")), "bad_value");
    EXPECT_EQ(code(call_back(R"({"result":{"output":1},"sessionID":"x"})")), "unknown_field");
    EXPECT_EQ(code(call_back(R"({"result":{}})")), "bad_value");
    std::string const other = waiting_call();
    EXPECT_EQ(code(call_back(R"({"error":"x","pendingID":")" + other + "\"}")), "not_found");
    EXPECT_EQ(call_back(R"({"error":"x","pendingID":")" + pending + "\"}").status, 200);
}

TEST_F(CapabilityTest, AsATokenItIsForItsOwnCall) {
    Headers const bearer{{"authorization", "Bearer " + token}};
    std::string const other = waiting_call();
    EXPECT_EQ(code(ask("POST", "/async-tool/result",
                       R"({"pendingID":")" + other + R"(","result":{"output":1}})", bearer)),
              "not_found");
    EXPECT_EQ(ask("POST", "/async-tool/progress", R"({"payload":1})", bearer).status, 200);
    EXPECT_EQ(ask("POST", "/async-tool/result", R"({"result":{"output":1}})", bearer).status, 200);
}

TEST_F(CapabilityTest, AGetShowsAndNeverSettles) {
    HttpReply const shown = ask("GET", "/c/" + token);
    EXPECT_EQ(shown.status, 200);
    EXPECT_EQ(member(shown, "/status"), "waiting");
    EXPECT_EQ(member(shown, "/receipt"), "null");
    EXPECT_EQ(member(shown, "/input"), "absent");
    EXPECT_EQ(member(send("GET", "/async-tool/pending/" + pending), "/status"), "waiting");
    (void)call_back(R"({"result":{"output":1}})");
    EXPECT_EQ(member(ask("GET", "/c/" + token), "/receipt/status"), "completed");
}

class ArtifactTest : public ApiTest {
protected:
    // The id of the artifact that the newest large result was put aside into.
    std::string put_aside(std::string const& pending, std::string const& output) {
        EXPECT_EQ(result(pending, output).status, 200);
        effects.reply();
        loop.run();
        session_path = "/api/sessions/" + PendingId::parse(pending)->session.text();
        return member(send("GET", session_path + "/messages"), "/items/1/parts/1/state/artifactID");
    }
    HttpReply fetch(std::string const& artifact, Headers headers = {}) {
        return send("GET", "/api/artifacts/" + artifact, "", std::move(headers));
    }
    std::string const text = std::string(std::size_t{1} << 20, 'x');
    std::string session_path;
};

TEST_F(ArtifactTest, AResultOverTheLimitIsFetchedWholeAndItsRepeatsMeetTheReceipt) {
    std::string const pending = waiting_call();
    std::string const artifact = put_aside(pending, json::quote(text));
    HttpReply const whole = fetch(artifact);
    EXPECT_EQ(whole.status, 200);
    EXPECT_EQ(whole.body, text);
    EXPECT_EQ(whole.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(header(whole, "Content-Disposition"), "inline; filename=\"output.txt\"");
    EXPECT_EQ(header(whole, "ETag"), "\"" + hex(sha256(text)) + "\"");
    HttpReply const messages = send("GET", session_path + "/messages");
    EXPECT_EQ(member(messages, "/items/1/parts/1/state/output/artifactID"), artifact);
    EXPECT_EQ(member(messages, "/items/1/parts/1/state/output/bytes"), "1048576");
    HttpReply const again = result(pending, json::quote(text));
    EXPECT_EQ(member(again, "/outcome"), "duplicate");
    std::string const digest =
        digest_text(sha256(json::canonical_object("output", Json::trusted(json::quote(text)))));
    EXPECT_EQ(member(again, "/receipt/digest"), digest);
    HttpReply const other = result(pending, json::quote(text + "y"));
    EXPECT_EQ(code(other), "conflict");
    EXPECT_EQ(member(other, "/digest"), digest);
}

TEST_F(ArtifactTest, WhatABrowserMightRunIsForDownloadOnly) {
    std::string const artifact = put_aside(waiting_call(), "[" + json::quote(text) + "]");
    HttpReply const whole = fetch(artifact);
    EXPECT_EQ(whole.content_type, "application/json");
    EXPECT_EQ(header(whole, "Content-Disposition"), "attachment; filename=\"output.json\"");
    EXPECT_EQ(header(whole, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(whole, "Content-Security-Policy"), "default-src 'none'; sandbox");
}

TEST_F(ArtifactTest, ItsTagIsItsDigestAndSparesTheBytes) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    std::string const tag = header(fetch(artifact), "ETag");
    HttpReply const known = fetch(artifact, {{"if-none-match", tag}});
    EXPECT_EQ(known.status, 304);
    EXPECT_EQ(known.body, "");
    EXPECT_EQ(header(known, "ETag"), tag);
    EXPECT_EQ(fetch(artifact, {{"if-none-match", "\"other\""}}).status, 200);
}

TEST_F(ArtifactTest, AnythingElseIsNotFound) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    std::string const before = artifact.substr(0, artifact.rfind('_') + 1);
    for (std::string const& id : {std::string("art_1"), artifact + "0", before + "1", before + "0",
                                  before + "18446744073709551615", "msg" + artifact.substr(3)}) {
        EXPECT_EQ(code(fetch(id)), "not_found") << id;
    }
    (void)send("DELETE", session_path);
    EXPECT_EQ(code(fetch(artifact)), "not_found");
}

TEST_F(ArtifactTest, BytesThatAreGoneFromTheStoreAreDamageAndNamed) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    for (auto& [id, kept] : journal.disk->sessions) kept.artifacts.clear();
    HttpReply const damaged = fetch(artifact);
    EXPECT_EQ(damaged.status, 500);
    EXPECT_TRUE(member(damaged, "/detail").contains(artifact));
    EXPECT_EQ(send("POST", session_path + "/fork", "{}").status, 500);
}

TEST_F(ArtifactTest, LargeBody_ReadInPieces) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    EXPECT_EQ(fetch(artifact).body, text);
    EXPECT_EQ(pieces, 4);
}

TEST_F(ArtifactTest, DamagedBytes_NeverGivenOutWhole) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    for (auto& [id, kept] : journal.disk->sessions) {
        for (auto& [seq, bytes] : kept.artifacts) {
            std::string other = *bytes;
            other[10] = 'y';
            bytes = std::make_shared<std::string const>(other);
        }
    }
    EXPECT_LT(fetch(artifact).body.size(), text.size());
}

TEST_F(ArtifactTest, Head_ReadsNoBytes) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    for (auto& [id, kept] : journal.disk->sessions) kept.artifacts.clear();
    HttpRequest request;
    request.method = "GET";
    request.head_only = true;
    request.path = "/api/artifacts/" + artifact;
    request.segments = {"api", "artifacts", artifact};
    request.headers = {{"host", "localhost:3676"}, {"authorization", "Bearer s3cret"}};
    api.handle(std::move(request), std::make_shared<FakeResponder>(replies));
    loop.run();
    EXPECT_EQ(replies.back().status, 200);
    EXPECT_EQ(replies.back().source->size(), text.size());
}

TEST_F(ArtifactTest, AForkHasItsOwnAlsoWhenTheOriginalIsGone) {
    std::string const artifact = put_aside(waiting_call(), json::quote(text));
    HttpReply const forked = send("POST", session_path + "/fork", "{}");
    EXPECT_EQ(forked.status, 201);
    std::string const fork = "/api/sessions/" + member(forked, "/id");
    std::string const at = "/items/1/parts/1/state";
    std::string const own = member(send("GET", fork + "/messages"), at + "/artifactID");
    EXPECT_NE(own, artifact);
    EXPECT_EQ(member(send("GET", fork + "/messages"), at + "/output/artifactID"), own);
    HttpReply const second = send("POST", fork + "/fork", "{}");
    EXPECT_EQ(second.status, 201);
    (void)send("DELETE", session_path);
    EXPECT_EQ(fetch(own).body, text);
    (void)send("DELETE", fork);
    std::string const last = "/api/sessions/" + member(second, "/id");
    EXPECT_EQ(fetch(member(send("GET", last + "/messages"), at + "/artifactID")).body, text);
}

// 8 artifacts of 8 MiB are 64 MiB; one byte more is too much for a fork, and not for a session.
TEST_F(ArtifactTest, AForkCopiesAtMost64MiB) {
    auto const bytes = std::make_shared<std::string const>(std::string(std::size_t{8} << 20, 'x'));
    session::Artifact const large{"x.txt", "text/plain", bytes, sha256(*bytes)};
    session::Artifact const small{"y.txt", "text/plain", std::make_shared<std::string const>("y"),
                                  sha256("y")};
    session_path = "/api/sessions/" + create();
    (void)send("POST", session_path + "/prompt", R"({"text":"please"})");
    effects.reply({session::testing::plain()});
    loop.run();
    session::ToolOutcome::Done done{Json::trusted("1"), {}, {}, {std::vector(8, large), false}};
    effects.finish(done);
    loop.run();
    effects.reply({session::testing::plain()});
    loop.run();
    EXPECT_EQ(send("POST", session_path + "/fork", "{}").status, 201);
    done.attached.list = {small};
    effects.finish(done);
    loop.run();
    effects.reply();
    loop.run();
    HttpReply const refused = send("POST", session_path + "/fork", "{}");
    EXPECT_EQ(code(refused), "too_large");
    EXPECT_EQ(member(refused, "/limit"), "fork_artifact_bytes");
}

TEST_F(ApiTest, ABatchIsOneAppendForEachSessionAndAnOutcomeForEachItem) {
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

TEST_F(ApiTest, MailToSeveral_StoreFull_IsThat503AndTheRepeatDelivers) {
    for (char const* alias : {"alice", "bob"})
        (void)send("POST", sessions, R"({"agentID":"demo","alias":")" + std::string(alias) + "\"}");
    Headers const key{{"idempotency-key", "\"k1\""}};
    std::string const mail = R"({"to":["alice","bob"],"text":"hello"})";
    journal.fault = runner::testing::Fault::lost;
    journal.fault_code = Code::store_full;
    auto const refused = send("POST", "/api/mail", mail, key);
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(code(refused), "store_full");
    EXPECT_EQ(header(refused, "Retry-After"), "1");
    EXPECT_EQ(member(refused, "/receivers/0/status"), "failed");
    EXPECT_EQ(member(refused, "/receivers/1/status"), "delivered");
    auto const repeated = send("POST", "/api/mail", mail, key);
    EXPECT_EQ(repeated.status, 202);
    EXPECT_EQ(member(repeated, "/receivers/0/status"), "delivered");
    EXPECT_EQ(member(repeated, "/receivers/1/status"), "delivered");
    runner->drain([] {});
    EXPECT_EQ(send("POST", "/api/mail", mail, key).status, 503) << "it may have been delivered";
}

// The repeat and the deletion are judged in one append.
TEST_F(ApiTest, CreateRepeatedDuringDeletion_SaysSessionGone) {
    Headers const key{{"idempotency-key", "\"k1\""}};
    auto const id = SessionId::parse(create(key)).value();
    journal.hold = true;
    runner->command(id, session::Change{"shuts the lane", {}, {}, {}}, ann(),
                    [](Result<session::Answer>) {});
    loop.run();
    std::function<void(int)> later = [&](int turns) {
        if (turns > 0) return loop.post([&later, turns] { later(turns - 1); });
        runner->command(id, session::Delete{}, ann(), [](Result<session::Answer>) {});
        journal.hold = false;
        journal.release();
    };
    later(20);
    EXPECT_EQ(code(send("POST", sessions, R"({"agentID":"demo"})", key)), "session_gone");
}

TEST_F(ApiTest, ABatchWithOneBadItemChangesNothing) {
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

TEST_F(ApiTest, ThePathsOfSessionManagersSpeakTheirOwnSpelling) {
    std::string const path = "/api/projects/default/acp/session";
    HttpReply const made = send("POST", path, R"({"agentId":"demo","labels":{"fooID":"x"}})");
    ASSERT_EQ(made.status, 201) << made.body;
    std::string const id = member(made, "/id");
    EXPECT_EQ(header(made, "Location"), path + "/" + id);
    EXPECT_EQ(member(made, "/projectId"), "default");
    EXPECT_EQ(member(made, "/workingDirectory"), "null");
    EXPECT_NE(member(made, "/createdAt"), "absent");
    EXPECT_EQ(member(made, "/projectID"), "absent");
    EXPECT_EQ(member(made, "/labels/fooID"), "x") << "what people wrote stays";
    EXPECT_EQ(member(send("GET", path), "/items/0/agentId"), "demo");
    EXPECT_EQ(member(send("POST", path + "/" + id + "/prompt", R"({"text":"x"})"), "/queuedBehind"),
              "null");
    EXPECT_EQ(send("GET", "/api/projects/other/acp/session/" + id).status, 404);
    EXPECT_EQ(member(send("POST", path, R"({"agentID":"demo"})"), "/nearest"), "agentId");
    EXPECT_EQ(member(send("POST", path, R"({"agentId":"nobody"})"), "/pointer"), "/agentId");
    EXPECT_EQ(send("DELETE", path + "/" + id).status, 204);
    EXPECT_EQ(send("GET", "/api/sessions/" + id).status, 404);
}

// A session with `turns` turns, of which each said `bytes`.
class PagesTest : public ApiTest {
protected:
    std::string talk(int turns, std::size_t bytes) {
        std::string const id = create();
        std::string const text(bytes, 'x');
        for (int i = 0; i < turns; ++i) {
            (void)send("POST", prompt_path(id), R"({"text":")" + std::to_string(i) + text + "\"}");
            effects.reply({});
            loop.run();
        }
        return "/api/sessions/" + id;
    }
    // All ids of a list, by pages.
    std::vector<std::string> ids(std::string const& path, int limit) {
        std::vector<std::string> out;
        std::optional<std::string> cursor = "";
        while (cursor) {
            HttpReply const page = list(path, limit, *cursor);
            EXPECT_EQ(page.status, 200) << page.body;
            json::View(page.body)["items"].elements(
                [&](json::View item) { out.push_back(item["id"].string_or("")); });
            cursor = json::View(page.body)["next"].string();
        }
        return out;
    }
    HttpReply list(std::string const& path, int limit, std::string const& cursor) {
        HttpRequest request;
        request.query.emplace_back("limit", std::to_string(limit));
        if (!cursor.empty()) request.query.emplace_back("cursor", cursor);
        return send_with(std::move(request), path);
    }
    HttpReply send_with(HttpRequest request, std::string const& path) {
        request.method = "GET";
        request.path = path;
        for (std::size_t at = 1; at <= path.size();) {
            std::size_t const end = std::min(path.find('/', at), path.size());
            request.segments.push_back(path.substr(at, end - at));
            at = end + 1;
        }
        request.headers = {{"host", "localhost:3676"}, {"authorization", "Bearer s3cret"}};
        request.id = "req_1";
        api.handle(std::move(request), std::make_shared<FakeResponder>(replies));
        loop.run();
        return replies.back();
    }
};

TEST_F(PagesTest, OfAnySizeTellTheSame) {
    std::string const session = talk(7, 1);
    for (std::string const what : {"/messages", "/turns"}) {
        auto const whole = ids(session + what, 200);
        EXPECT_EQ(whole.size(), what == "/turns" ? 7U : 14U);
        for (int limit = 1; limit < 16; ++limit)
            EXPECT_EQ(ids(session + what, limit), whole) << what << limit;
    }
}

// What a page reads does not grow with the session.
TEST_F(PagesTest, ReadOnlyTheirOwnPartOfTheJournal) {
    std::string const session = talk(600, 4'000);  // 2.4 MB and more
    for (std::string const what : {"/messages", "/turns"}) {
        journal.store->bytes_read = 0;
        HttpReply const first = list(session + what, 5, "");
        EXPECT_EQ(json::View(first.body)["items"].size(), 5U);
        EXPECT_LE(journal.store->bytes_read, runner::Runner::page_bytes + 8'000) << what;
        std::string cursor = json::View(first.body)["next"].string_or("");
        for (int i = 0; i < 20; ++i) {
            HttpReply const page = list(session + what, 5, cursor);
            cursor = json::View(page.body)["next"].string_or("");
        }
        journal.store->bytes_read = 0;
        EXPECT_EQ(list(session + what, 5, cursor).status, 200);
        EXPECT_LE(journal.store->bytes_read, runner::Runner::page_bytes + 8'000) << what;
    }
}

// Nor does what one call costs: showing it, and the repeat of its result.
TEST_F(PagesTest, PendingCall_LongSession_ReadsItsOwnPartOnly) {
    std::string const pending = waiting_call();
    ASSERT_EQ(result(pending, "1").status, 200);
    effects.reply({});
    loop.run();
    std::string const session = PendingId::parse(pending)->session.text();
    for (int i = 0; i < 600; ++i) {
        (void)send("POST", prompt_path(session), R"({"text":")" + std::string(2'000, 'x') + "\"}");
        effects.reply({});
        loop.run();
    }
    auto const bytes = [&](auto question, int status) {
        journal.store->bytes_read = 0;
        EXPECT_EQ(question().status, status);
        return journal.store->bytes_read;
    };
    EXPECT_LE(bytes([&] { return send("GET", "/async-tool/pending/" + pending); }, 200), 200'000U);
    EXPECT_LE(bytes([&] { return result(pending, "1"); }, 200), 200'000U);
    EXPECT_LE(bytes([&] { return result(pending, "2"); }, 409), 200'000U);
    auto const shown = send("GET", "/async-tool/pending/" + pending);
    EXPECT_EQ(member(shown, "/result/output"), "1");
    EXPECT_EQ(member(shown, "/tool"), "deploy");
    EXPECT_EQ(member(shown, "/receipt/consumed/step"), "2");
    EXPECT_EQ(member(result(pending, "1"), "/receipt/consumed/step"), "2");
}

// A page in the past with a call that still waits reads up to its pause, and no further.
TEST_F(PagesTest, ACallThatWaitsIsShownWithoutReadingAllThatCameAfterIt) {
    std::string const id = create();
    (void)send("POST", prompt_path(id), R"({"text":"please"})");
    effects.reply({session::testing::job()});
    loop.run();
    effects.finish(session::PauseTerms());
    loop.run();
    for (int i = 0; i < 40; ++i) {
        (void)send("POST", prompt_path(id),
                   R"({"when":"steer","text":")" + std::string(60'000, 'x') + "\"}");
        effects.reply({});
        loop.run();
    }
    journal.store->bytes_read = 0;
    HttpReply const page = list("/api/sessions/" + id + "/messages", 2, "");
    EXPECT_TRUE(page.body.contains("waiting_async")) << page.body.substr(0, 600);
    EXPECT_LE(journal.store->bytes_read, runner::Runner::page_bytes + 100'000);
    EXPECT_EQ(ids("/api/sessions/" + id + "/messages", 50).size(), 82U);
    EXPECT_EQ(ids("/api/sessions/" + id + "/turns", 50).size(), 1U);
}

TEST_F(PagesTest, ACursorThatIsNoneIsRefused) {
    std::string const session = talk(1, 1);
    for (std::string const cursor : {"x", "0", "-1", "999", "c", "cx"}) {
        for (std::string const what : {"/messages", "/turns"})
            EXPECT_EQ(code(list(session + what, 5, cursor)), "bad_cursor") << cursor;
    }
}

}  // namespace
}  // namespace dormouse::server
