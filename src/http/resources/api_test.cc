#include "http/resources/testing/api_fixture.h"

#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>
#include <functional>

// Sends requests as values through the whole API, without sockets.
namespace dormouse::http {
namespace {
TEST_F(ApiTest, UnknownPathsAndMethods_HaveDifferentErrors) {
    EXPECT_EQ(code(send("GET", "/nowhere")), "not_found");
    EXPECT_EQ(code(send("GET", "/api/sessions/")), "not_found");
    HttpReply const wrong = send("PUT", "/api/sessions/ses_1");
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(header(wrong, "Allow"), "GET, HEAD, PATCH, DELETE");
    EXPECT_EQ(header(send("GET", "/async-tool/result"), "Allow"), "POST");
}

TEST_F(ApiTest, Head_IsAnsweredAsGet) {
    EXPECT_EQ(send("HEAD", "/healthz").status, 200);
    EXPECT_EQ(send("HEAD", "/async-tool/result").status, 405);
}

TEST_F(ApiTest, BodyNotJson_IsRefusedFirst) {
    EXPECT_EQ(code(send("POST", "/async-tool/result", "{")), "bad_json");
    EXPECT_EQ(code(send("POST", "/async-tool/result", std::string(65, '[') + std::string(65, ']'))),
              "bad_json");
    EXPECT_EQ(code(send("POST", "/async-tool/result", R"({"a":1,"a":2})")), "bad_number_or_key");
    EXPECT_EQ(code(send("POST", "/async-tool/result", "[]")), "bad_value");
}

TEST_F(ApiTest, Route_LimitsItsBody) {
    EXPECT_EQ(api.body_limit("POST", "/async-tool/result"), std::size_t{8} << 20);
    EXPECT_EQ(api.body_limit("POST", "/api/sessions/ses_x/prompt"), std::size_t{8} << 20);
    EXPECT_EQ(api.body_limit("PATCH", "/api/sessions/ses_x"), std::size_t{1} << 20);
    EXPECT_EQ(api.body_limit("POST", "/nowhere"), std::size_t{1} << 20);
}

TEST_F(ApiTest, Gate_IsCheckedFirst) {
    HttpRequest head;
    head.path = "/nowhere";
    head.headers = {{"host", "evil.org"}};
    auto const refused = api.refuse(head);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 421);
    head.headers = {{"host", "localhost:3676"}, {"authorization", "Bearer s3cret"}};
    EXPECT_FALSE(api.refuse(head));
}

TEST_F(ApiTest, CreatedSession_IsFound) {
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

TEST_F(ApiTest, InvalidSession_IsRefusedWithItsPointer) {
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

TEST_F(ApiTest, Create_SameKey_ReturnsTheFirstSession) {
    std::string const first = create({{"idempotency-key", "k1"}});
    EXPECT_EQ(create({{"idempotency-key", "\"k1\""}}), first);
    EXPECT_NE(create({{"idempotency-key", "k2"}}), first);
    HttpReply const other =
        send("POST", sessions, R"({"agentID":"demo","title":"x"})", {{"idempotency-key", "k1"}});
    EXPECT_EQ(code(other), "idempotency_mismatch");
    HttpReply const spaced =
        send("POST", sessions, "{ \"agentID\" : \"demo\" }", {{"idempotency-key", "k1"}});
    EXPECT_EQ(member(spaced, "/id"), first);  // the same body, formatted differently
}

TEST_F(ApiTest, Prompt_IsAccepted_NamesWhatItWaitsBehind) {
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

TEST_F(ApiTest, StoreFailed_IsReported) {
    std::string const session = create();
    journal.fault = runner::testing::Fault::lost;
    HttpReply const reply = send("POST", prompt_path(session), R"({"text":"hello"})");
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(code(reply), "store_unavailable");
    EXPECT_EQ(header(reply, "Retry-After"), "1");
    EXPECT_EQ(send("POST", prompt_path(session), R"({"text":"hello"})").status, 202);
}

TEST_F(ApiTest, Ready_AfterTheFirstScan) {
    EXPECT_EQ(code(send("GET", "/readyz")), "recovering");
    runner->start();
    loop.run();
    EXPECT_EQ(send("GET", "/readyz").status, 200);
    runner->drain([] {});
    EXPECT_EQ(code(send("GET", "/readyz")), "draining");
    EXPECT_EQ(send("GET", "/healthz").status, 200);
}

TEST_F(ApiTest, Events_ArePagedOldestFirst) {
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

TEST_F(ApiTest, MailToSeveral_StoreFull_Is503AndRepeatDelivers) {
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

// The repeat and the deletion are decided in one append.
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

TEST_F(ApiTest, SessionManagerPaths_UseTheirSpelling) {
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
    std::string const cancel = path + "/" + id + "/cancel";
    EXPECT_EQ(send("POST", cancel, R"({"all":true,"reason":"wrong place"})").status, 200);
    EXPECT_EQ(member(send("POST", cancel, R"({"pendingID":"pnd_x"})"), "/nearest"), "pendingId");
    EXPECT_EQ(send("DELETE", path + "/" + id).status, 204);
    EXPECT_EQ(send("GET", "/api/sessions/" + id).status, 404);
}

// Creates a session with `turns` turns of `bytes` each.
class PagesTest : public ApiTest {
protected:
    std::string talk(int turns, std::size_t bytes) {
        std::string const id = create();
        live_on(id, turns, bytes);
        return "/api/sessions/" + id;
    }
    // Adds few and long turns: with sanitizers a turn costs more, the more turns precede it.
    void live_on(std::string const& id, int turns, std::size_t bytes) {
        std::string const text(bytes, 'x');
        for (int i = 0; i < turns; ++i) {
            (void)send("POST", prompt_path(id), R"({"text":")" + std::to_string(i) + text + "\"}");
            effects.reply({});
            loop.run();
        }
    }
    // Returns all ids of a list, page by page.
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

TEST_F(PagesTest, AnyPageSize_ReturnsTheSameItems) {
    std::string const session = talk(7, 1);
    for (std::string const what : {"/messages", "/turns"}) {
        auto const whole = ids(session + what, 200);
        EXPECT_EQ(whole.size(), what == "/turns" ? 7U : 14U);
        for (int limit = 1; limit < 16; ++limit)
            EXPECT_EQ(ids(session + what, limit), whole) << what << limit;
    }
}

// A page reads the same amount, however long the session is.
TEST_F(PagesTest, LongSession_ReadTheirOwnPartOnly) {
    std::string const session = talk(150, 16'000);  // at least 2.4 MB
    for (std::string const what : {"/messages", "/turns"}) {
        journal.store->bytes_read = 0;
        HttpReply const first = list(session + what, 5, "");
        EXPECT_EQ(json::View(first.body)["items"].size(), 5U);
        EXPECT_LE(journal.store->bytes_read, runner::Runner::page_bytes + 24'000) << what;
        std::string cursor = json::View(first.body)["next"].string_or("");
        for (int i = 0; i < 20; ++i) {
            HttpReply const page = list(session + what, 5, cursor);
            cursor = json::View(page.body)["next"].string_or("");
        }
        journal.store->bytes_read = 0;
        EXPECT_EQ(list(session + what, 5, cursor).status, 200);
        EXPECT_LE(journal.store->bytes_read, runner::Runner::page_bytes + 24'000) << what;
    }
}

// So does one call: showing it, and repeating its result.
TEST_F(PagesTest, PendingCall_LongSession_ReadsItsOwnPartOnly) {
    std::string const pending = waiting_call();
    ASSERT_EQ(result(pending, "1").status, 200);
    effects.reply({});
    loop.run();
    std::string const session = PendingId::parse(pending)->session.text();
    live_on(session, 150, 8'000);
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

// So do lists of a session's calls, the page of one, and its explanation.
TEST_F(PagesTest, ListsOfCalls_LongSession_ReadTheirOwnPartOnly) {
    std::string const settled = waiting_call();
    ASSERT_EQ(result(settled, "1").status, 200);
    effects.reply({});
    loop.run();
    std::string const session = PendingId::parse(settled)->session.text();
    std::string const receipt =
        member(send("GET", "/async-tool/pending/" + settled), "/receipt/id");
    live_on(session, 150, 8'000);
    loop.advance(Duration(60'000));  // this process knows every change since then
    std::string const as_of =
        header(send("GET", "/async-tool/pending?sessionID=" + session), "Dormouse-As-Of");
    (void)send("POST", prompt_path(session), R"({"text":"please"})");
    effects.reply({session::testing::job()});
    loop.run();
    std::string const open = effects.ran.back().run.pending.text();
    effects.finish(session::PauseTerms());
    loop.run();

    auto const reads = [&](std::string const& path, std::string const& expected) {
        HttpRequest request;
        if (path.starts_with("/async-tool/")) request.query = {{"sessionID", session}};
        if (path.ends_with('*')) request.query.emplace_back("changedSince", as_of);
        if (path.ends_with('+')) request.query.emplace_back("status", "completed");
        journal.store->bytes_read = 0;
        HttpReply const reply =
            send_with(std::move(request), path.substr(0, path.find_first_of("*+")));
        EXPECT_TRUE(reply.body.contains(expected)) << path << reply.body;
        return journal.store->bytes_read;
    };
    EXPECT_LE(reads("/async-tool/pending", open), 200'000U);
    EXPECT_LE(reads("/async-tool/pending*", open), 200'000U);
    EXPECT_LE(reads("/async-tool/pending+", settled), 200'000U);
    EXPECT_LE(reads("/a/" + settled, "Answered by alice"), 200'000U);
    EXPECT_LE(reads("/api/explain/" + open, open), 200'000U);
    EXPECT_LE(reads("/api/explain/" + settled, receipt), 200'000U);
    EXPECT_LE(reads("/api/explain/" + receipt, settled), runner::Runner::page_bytes + 200'000);
}

// The runner of this test is another process: it tells this API nothing.
TEST_F(PagesTest, AppendedElsewhere_WaitingListIsAnswered) {
    loop.advance(Duration(60'000));
    std::string const as_of = header(send("GET", "/async-tool/pending?limit=5"), "Dormouse-As-Of");
    observer.on_append = {};
    auto request = request_of("GET", "/async-tool/pending");
    request.query = {{"changedSince", as_of}, {"wait", "30"}};
    auto const answered = replies.size() + 3;  // after the requests of waiting_call()
    api.handle(std::move(request), std::make_shared<FakeResponder>(replies));
    loop.run();
    EXPECT_TRUE(api.awaited());
    std::string const open = waiting_call();
    EXPECT_LT(replies.size(), answered) << "this process was not notified";
    auto const page = journal.store->feed(port::Projects::all(), 0, 1'000'000).value();
    for (port::FeedRow const& row : page.rows) api.appended_elsewhere(row);
    loop.run();
    ASSERT_EQ(replies.size(), answered);
    EXPECT_TRUE(replies.back().body.contains(open)) << replies.back().body;
    loop.advance(Duration(1'000));
    EXPECT_FALSE(api.awaited());
}

// As after a freeze in which another process had its place.
TEST_F(PagesTest, AppendsWereMissed_WaitingListIsAnswered) {
    loop.advance(Duration(60'000));
    std::string const as_of = header(send("GET", "/async-tool/pending?limit=5"), "Dormouse-As-Of");
    observer.on_append = {};
    auto request = request_of("GET", "/async-tool/pending");
    request.query = {{"changedSince", as_of}, {"wait", "30"}};
    auto const answered = replies.size() + 3;  // after the requests of waiting_call()
    api.handle(std::move(request), std::make_shared<FakeResponder>(replies));
    loop.run();
    EXPECT_TRUE(api.awaited());
    std::string const open = waiting_call();
    EXPECT_LT(replies.size(), answered) << "this process was not notified";
    api.missed_appends();
    loop.run();
    ASSERT_EQ(replies.size(), answered);
    EXPECT_TRUE(replies.back().body.contains(open)) << replies.back().body;
    loop.advance(Duration(1'000));
    EXPECT_FALSE(api.awaited());
}

// A page in the past that shows a waiting call reads up to its pause and no further.
TEST_F(PagesTest, WaitingCall_LongSession_ReadsUpToItsPauseOnly) {
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

TEST_F(PagesTest, InvalidCursor_IsRefused) {
    std::string const session = talk(1, 1);
    for (std::string const cursor : {"x", "0", "-1", "999", "c", "cx"}) {
        for (std::string const what : {"/messages", "/turns"})
            EXPECT_EQ(code(list(session + what, 5, cursor)), "bad_cursor") << cursor;
    }
}

}  // namespace
}  // namespace dormouse::http
