#include "cli/client/client.h"

#include "cli/client/test_server.h"
#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

Client client_of(FakeServer const& server, std::string token = {}) {
    Client::Options options;
    options.address = *parse_url(server.url());
    options.token = std::move(token);
    options.time_limit = Duration(5000);
    return Client(std::move(options));
}

TEST(Url, HttpAndHttps_AreTaken) {
    auto const with_port = parse_url("http://127.0.0.1:3676/");
    ASSERT_TRUE(with_port);
    EXPECT_EQ(with_port->host, "127.0.0.1");
    EXPECT_EQ(with_port->port, "3676");
    EXPECT_EQ(parse_url("http://host")->port, "80");
    EXPECT_EQ(parse_url("http://[::1]:8080")->host, "::1");
    EXPECT_FALSE(with_port->tls);
    EXPECT_TRUE(parse_url("https://host")->tls);
    EXPECT_EQ(parse_url("https://host/")->port, "443");
}

TEST(Url, OtherAddresses_AreRefused) {
    for (auto const* const url :
         {"", "127.0.0.1:3676", "ftp://host", "http://", "http://host:0", "http://host:x",
          "http://host:70000", "http://host/path", "http://user@host", "http://[::1"}) {
        auto const address = parse_url(url);
        ASSERT_FALSE(address) << url;
        EXPECT_EQ(address.error().exit, status::usage);
    }
}

TEST(ServerClock, Date_IsTheServersTime) {
    Time const there = from_ms(1795299651000);
    ServerClock clock;
    EXPECT_LT(clock.now() - wall_clock(), Duration(1'000));
    clock.set("Sat, 21 Nov 2026 22:20:51 GMT");
    EXPECT_GE(clock.now() - there, Duration(0));
    EXPECT_LT(clock.now() - there, Duration(60'000));
    clock.set("not a time");
    EXPECT_LT(clock.now() - there, Duration(60'000)) << "it is ignored";
}

TEST(ClientTest, Post_SendsTokenAndKeyAndReadsTheBody) {
    FakeServer server;
    server.answer("POST /x", 201, R"({"id":"ses_1"})");
    auto client = client_of(server, "secret");
    auto const reply = client.post("/x", Json::trusted(R"({"a":1})"), Keyed::yes);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 201);
    EXPECT_EQ(reply->body.text(), R"({"id":"ses_1"})");
    auto const seen = server.seen().at(0);
    EXPECT_EQ(seen.body, R"({"a":1})");
    EXPECT_NE(seen.head.find("Authorization: Bearer secret\r\n"), std::string::npos);
    EXPECT_NE(seen.head.find("Idempotency-Key: \""), std::string::npos);
    EXPECT_NE(seen.head.find("Content-Type: application/json\r\n"), std::string::npos);
}

TEST(ClientTest, ProblemDocument_BecomesAFailure) {
    FakeServer server;
    server.answer("GET /x", 409,
                  R"({"code":"conflict","title":"Settled","status":409,"digest":"sha256:1"})");
    auto client = client_of(server);
    auto const reply = client.get("/x");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().exit, status::conflict);
    EXPECT_EQ(json::View(reply.error().problem)["digest"].string(), "sha256:1");
}

TEST(ClientTest, ClosedConnection_IsReopened_OtherwiseShared) {
    FakeServer server;
    server.close_after(2);
    server.answer("GET /x", 200, R"({"n":1})");
    auto client = client_of(server);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(client.get("/x")) << i;
    EXPECT_EQ(server.seen().size(), 5U);
}

TEST(ClientTest, PostWithoutKey_ReplyLost_IsNotRepeated) {
    FakeServer server;
    server.answer("POST /move", 200, "{}");
    auto client = client_of(server);
    EXPECT_TRUE(client.post("/move", Json::trusted("{}")));
    server.fall_silent();
    auto const second = client.post("/move", Json::trusted("{}"));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().exit, status::unreachable);
    EXPECT_EQ(server.seen().size(), 2U);
}

TEST(ClientTest, StreamAndRequests_ShareOneWait) {
    FakeServer server;
    server.answer("GET /events", 200, "id: 1\nevent: a\ndata: {}\n\n");
    server.answer("GET /x", 200, "{}");
    auto client = client_of(server);
    auto stream = client.open("/events", "");
    EXPECT_TRUE(client.get("/x"));
    std::vector<SseEvent> events;
    while (auto read = stream.read()) {
        events.insert(events.end(), read->begin(), read->end());
        EXPECT_FALSE(client.wait(-1, Duration(1000)));
    }
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].name, "a");
}

TEST(ClientTest, NoServer_IsUnreachableAndSaysHowToStartOne) {
    std::string url;
    {
        FakeServer const gone;
        url = gone.url();
    }
    Client::Options options;
    options.address = *parse_url(url);
    Client client(std::move(options));
    auto const reply = client.get("/x");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().exit, status::unreachable);
    EXPECT_NE(reply.error().what.find("(Connection refused)"), std::string::npos);
    EXPECT_NE(reply.error().remedy.find("dormouse serve"), std::string::npos);
}

TEST(ClientTest, ReplyThatIsNotJson_IsReported) {
    FakeServer server;
    server.answer("GET /x", 200, "<html>");
    auto client = client_of(server);
    auto const reply = client.get("/x");
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().what.find("not JSON"), std::string::npos);
}

TEST(ClientTest, BrokenStream_ContinuesAfterTheLastEvent) {
    FakeServer server;
    server.answer("GET /events", 200,
                  "id: 1\nevent: a\ndata: {}\n\nid: 2\nevent: a\ndata: {}\n\nid: 3\ndata: {");
    server.answer("GET /events", 200, "id: 3\nevent: b\ndata: {}\n\n");
    auto client = client_of(server);
    std::vector<std::string> ids;
    auto const read = client.events("/events", "", [&](SseEvent const& event) {
        ids.push_back(event.id);
        return event.name == "b" ? Client::Stream::stop : Client::Stream::go_on;
    });
    EXPECT_TRUE(read);
    EXPECT_EQ(ids, (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_TRUE(server.seen().at(1).head.ends_with("Last-Event-ID: 2"));
}

TEST(ClientTest, RefusedStream_FailsAtOnce) {
    FakeServer server;
    auto client = client_of(server);
    auto const read =
        client.events("/events", "", [](SseEvent const&) { return Client::Stream::go_on; });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().exit, status::not_found);
}

TEST(ClientTest, DeletedSession_EndsTheStream) {
    FakeServer server;
    server.answer("GET /events", 200, "event: bye\ndata: {\"reason\":\"deleted\"}\n\n");
    auto client = client_of(server);
    EXPECT_TRUE(
        client.events("/events", "", [](SseEvent const&) { return Client::Stream::go_on; }));
    EXPECT_EQ(server.seen().size(), 1U);
}

TEST(ClientTest, NewKeys_Differ) {
    EXPECT_EQ(random_key().size(), 32U);
    EXPECT_NE(random_key(), random_key());
}

}  // namespace
}  // namespace dormouse::cli
