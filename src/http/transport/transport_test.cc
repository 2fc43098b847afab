#include "base/test_wait.h"
#include "http/transport/testing/test_server.h"
#include "io/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <atomic>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <vector>

namespace dormouse::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

HttpOptions limited() {
    HttpOptions options;
    options.header_time_limit = Duration(10'000);
    options.body_time_limit = Duration(30'000);
    options.idle_time_limit = Duration(60'000);
    options.heartbeat = Duration(15'000);
    return options;
}

// Passes the time until just before the limit, then one sweep more.
void run_out(TestServer& server, TestClient& client, Duration limit) {
    server.advance(limit - Duration(1));
    EXPECT_TRUE(client.silent(0));
    server.advance(Duration(1'001));
}

TEST(HttpServer, NextRequest_UsesTheSameConnection) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send(post("/a", "one"));
    auto const first = client.reply();
    EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(first, HasSubstr("Cache-Control: no-store\r\n"));
    EXPECT_THAT(first, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(first, HasSubstr("Content-Length: 11\r\n"));
    EXPECT_THAT(first, HasSubstr("\r\nDate: "));
    EXPECT_THAT(first, EndsWith("POST /a one"));
    client.send(get("/b"));
    EXPECT_THAT(client.reply(), EndsWith("GET /b "));
}

TEST(HttpServer, SocketThatListens_IsTakenOver) {
    int const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::listen(listener, 8), 0);  // at a free port
    TestServer server;
    server.start(listener);
    auto client = server.client();
    client.send(get("/a"));
    EXPECT_THAT(client.reply(), EndsWith("GET /a "));
}

TEST(HttpServer, RequestByteByByte_IsRead) {
    TestServer server;
    server.start();
    auto client = server.client();
    auto const bytes = post("/a", "drip");
    for (char const byte : bytes) client.send({&byte, 1});
    EXPECT_THAT(client.reply(), EndsWith("POST /a drip"));
}

TEST(HttpServer, PipelinedRequests_AreAnsweredInOrder) {
    TestServer server;
    server.start();
    auto client = server.client();
    std::string all;
    for (int i = 0; i < 200; ++i) all += post("/" + std::to_string(i), "x");
    client.send(all);
    for (int i = 0; i < 200; ++i) {
        EXPECT_THAT(client.reply(), EndsWith("POST /" + std::to_string(i) + " x"));
    }
}

TEST(HttpServer, LateReply_HoldsPipelinedRequests) {
    TestServer server;
    std::vector<std::shared_ptr<Responder>> waiting;
    int inside = 0;
    bool nested = false;
    server.handler.on_request = [&](HttpRequest request, auto responder) {
        nested = nested || inside > 0;
        if (request.path == "/late")
            waiting.push_back(responder);
        else
            responder->reply({200, "text/plain", {}, request.path});
    };
    server.start();
    auto client = server.client();
    client.send(get("/late") + get("/next"));
    ASSERT_TRUE(server.eventually([&] { return waiting.size() == 1; }));
    EXPECT_TRUE(client.silent(30));
    server.on_loop([&] {
        ++inside;
        waiting[0]->reply({200, "text/plain", {}, "late"});
        --inside;
    });
    EXPECT_THAT(client.reply(), EndsWith("late"));
    EXPECT_THAT(client.reply(), EndsWith("/next"));
    EXPECT_FALSE(nested) << "a handler was entered from inside reply()";
    waiting.clear();
}

TEST(HttpServer, Head_AnsweredAsGetWithoutBody) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/b"));
    EXPECT_THAT(client.reply(true), HasSubstr("Content-Length: 7\r\n"));
    EXPECT_THAT(client.reply(), EndsWith("GET /b "));
}

TEST(HttpServer, CloseOrHttp10_ClosesAfterTheReply) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send("GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(client.rest(), HasSubstr("Connection: close\r\n"));
    auto old = server.client();
    old.send("GET /a HTTP/1.0\r\n\r\n");
    EXPECT_THAT(old.rest(), EndsWith("GET /a "));
    auto kept = server.client();
    kept.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_THAT(kept.reply(), HasSubstr("Connection: keep-alive\r\n"));
    kept.send("GET /b HTTP/1.0\r\n\r\n");
    EXPECT_THAT(kept.rest(), EndsWith("GET /b "));
}

TEST(HttpServer, ClientClosedItsSendingSide_IsAnswered) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send(get("/a") + get("/b"));
    client.half_close();
    auto const all = client.rest();
    EXPECT_THAT(all, HasSubstr("GET /a "));
    EXPECT_THAT(all, EndsWith("GET /b "));
}

TEST(HttpServer, TooLargeBody_IsRefusedBeforeItIsSent) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n");
    auto const answer = client.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(answer, HasSubstr("too_large"));
}

TEST(HttpServer, Refusal_ReachesAClientThatStillSends) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send(post("/a", std::string(500'000, 'x')));
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, ChunkedBody_IsReadUpToTheLimit) {
    TestServer server;
    server.start();
    std::string const head =
        "POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    auto client = server.client();
    client.send(head + "3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n" + get("/b"));
    EXPECT_THAT(client.reply(), EndsWith("POST /a abcde"));
    EXPECT_THAT(client.reply(), EndsWith("GET /b "));
    auto flood = server.client();
    flood.send(head);
    std::string const chunk = "190\r\n" + std::string(400, 'x') + "\r\n";
    flood.send(chunk + chunk + chunk);
    EXPECT_THAT(flood.rest(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, Head_RefusesBeforeTheBodyIsRead) {
    TestServer server;
    server.handler.on_head = [](HttpRequest const& head) -> std::optional<HttpReply> {
        if (head.header("authorization") == "Bearer good") return std::nullopt;
        return HttpReply{401, "text/plain", {}, "who are you?"};
    };
    server.start();
    auto client = server.client();
    client.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\nx");
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 401 Unauthorized\r\n"));
    auto bodiless = server.client();
    bodiless.send(get("/a"));
    EXPECT_THAT(bodiless.reply(), StartsWith("HTTP/1.1 401 "));
    bodiless.send("GET /b HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\n\r\n");
    EXPECT_THAT(bodiless.reply(), EndsWith("GET /b "));
}

TEST(HttpServer, Expect100_InvitesTheBody) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send(
        "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok");
    EXPECT_THAT(client.reply(), EndsWith("POST /a ok"));
    client.send(
        "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\nExpect: "
        "100-continue\r\n\r\n");
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, HeadTooLarge_IsRefused) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send("GET /a HTTP/1.1\r\nHost: localhost\r\n");
    std::string flood;
    for (int i = 0; i < 20'000; ++i) flood += "X-" + std::to_string(i) + ": y\r\n";
    client.send(flood);
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 431 "));
    auto many = server.client();
    std::string head = "GET /a HTTP/1.1\r\nHost: localhost\r\n";
    for (int i = 0; i < 200; ++i) head += "a:\r\n";
    many.send(head + "\r\n");
    EXPECT_THAT(many.rest(), StartsWith("HTTP/1.1 431 "));
}

TEST(HttpServer, SlowHeadAndStoppedBody_TimeOut) {
    TestServer server(limited());
    server.start();
    auto slow = server.client();
    slow.send("GET /a HTTP/1.1\r\nHost: loc");
    run_out(server, slow, Duration(10'000));
    EXPECT_THAT(slow.rest(), StartsWith("HTTP/1.1 408 "));
    auto stalled = server.client();
    stalled.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    run_out(server, stalled, Duration(30'000));
    EXPECT_THAT(stalled.rest(), StartsWith("HTTP/1.1 408 "));
    auto mute = server.client();
    run_out(server, mute, Duration(10'000));
    EXPECT_EQ(mute.rest(), "");
    auto idle = server.client();
    idle.send(get("/a"));
    EXPECT_THAT(idle.reply(), EndsWith("GET /a "));
    run_out(server, idle, Duration(60'000));
    EXPECT_EQ(idle.rest(), "");
    slow.close();
    stalled.close();
    EXPECT_TRUE(server.eventually([&] { return server.server().counts().connections == 0; }));
}

// The time limit of a body ends with its request; the next request has its own.
TEST(HttpServer, PartialRequestAfterABody_HasALimit) {
    TestServer server(limited());
    server.start();
    auto client = server.client();
    client.send(post("/a", "whole") + "GET /b HTTP/1.1\r\nHost: loc");
    EXPECT_THAT(client.reply(), EndsWith("POST /a whole"));
    run_out(server, client, Duration(10'000));
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, HalfClosedClientThatDoesNotRead_HasALimit) {
    TestServer server(limited());
    std::atomic<bool> replied = false;
    server.handler.on_request = [&](HttpRequest, auto responder) {
        responder->reply({200, "text/plain", {}, std::string(16'000'000, 'z')});
        replied = true;
    };
    server.start();
    auto client = server.client();
    client.send(get("/large"));
    client.half_close();
    ASSERT_TRUE(server.eventually([&] { return replied.load(); }));  // its limit has started
    for (int i = 0; i < 10; ++i)
        server.advance(Duration(31'000));  // each part that leaves restarts it
    EXPECT_TRUE(server.eventually([&] { return server.server().counts().connections == 0; }));
}

TEST(HttpServer, SlowHandler_HasNoTimeLimit) {
    TestServer server(limited());
    std::shared_ptr<Responder> waiting;
    server.handler.on_request = [&](HttpRequest, auto responder) { waiting = responder; };
    server.start();
    auto client = server.client();
    client.send(get("/wait"));
    server.advance(Duration(3'600'000));
    EXPECT_TRUE(client.silent(0));
    server.on_loop(
        [&] { std::exchange(waiting, nullptr)->reply({200, "text/plain", {}, "at last"}); });
    EXPECT_THAT(client.reply(), EndsWith("at last"));
}

TEST(HttpServer, ClientGone_HandlerWaiting_IsNoticed) {
    TestServer server;
    std::shared_ptr<Responder> waiting;
    server.handler.on_request = [&](HttpRequest, auto responder) { waiting = responder; };
    server.start();
    auto client = server.client();
    client.send(get("/wait"));
    ASSERT_TRUE(server.eventually([&] { return waiting != nullptr; }));
    server.on_loop([&] { EXPECT_FALSE(waiting->gone()); });
    client.close();
    EXPECT_TRUE(server.eventually([&] { return waiting->gone(); }));
    server.on_loop([&] { std::exchange(waiting, nullptr)->reply({}); });
    EXPECT_TRUE(server.eventually([&] { return server.server().counts().connections == 0; }));
}

TEST(HttpServer, ResponderDropped_Sends500) {
    TestServer server;
    server.handler.on_request = [](HttpRequest, auto) {};
    server.start();
    auto client = server.client();
    client.send(get("/a"));
    EXPECT_THAT(client.reply(), HasSubstr("internal"));
    client.send(get("/a"));
    EXPECT_THAT(client.reply(), StartsWith("HTTP/1.1 500 "));
}

TEST(HttpServer, Handler_ReceivesTheRequest) {
    TestServer server;
    HttpRequest seen;
    server.handler.on_request = [&](HttpRequest request, auto responder) {
        seen = request;
        responder->reply({});
    };
    server.start();
    auto client = server.client();
    client.send("GET /a%20b/c?x=1%262&y=a+b HTTP/1.1\r\nHost: LOCALHOST\r\nX-Name:  v w \r\n\r\n");
    client.reply();
    EXPECT_EQ(seen.path, "/a b/c");
    EXPECT_THAT(seen.segments, testing::ElementsAre("a b", "c"));
    EXPECT_EQ(seen.query_value("x"), "1&2");
    EXPECT_EQ(seen.query_value("y"), "a b");
    EXPECT_EQ(seen.query_value("z"), std::nullopt);
    EXPECT_EQ(seen.header("x-name"), "v w");
    EXPECT_EQ(seen.peer_address, "127.0.0.1");
    EXPECT_TRUE(seen.peer_is_loopback);
    EXPECT_THAT(seen.id, testing::MatchesRegex("req_[A-Za-z0-9_-]+"));
}

TEST(HttpServer, SlowReader_GetsALargeReply) {
    TestServer server;
    std::string const large(8'000'000, 'z');
    server.handler.on_request = [&](HttpRequest, auto responder) {
        responder->reply({200, "text/plain", {}, large});
    };
    server.start();
    auto client = server.client();
    client.send(get("/a") + get("/b"));
    server.settle();  // until the kernel's buffers are full
    EXPECT_TRUE(client.reply().ends_with(large));
    EXPECT_TRUE(client.reply().ends_with(large));
}

TEST(HttpServer, AmbiguousRequest_EndsTheConnection) {
    TestServer server;
    server.start();
    std::string const smuggled = "0\r\n\r\nGET /admin HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (std::string const header :
         {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n",
          "Content-Length: 0\r\nContent-Length: 44\r\n", "Transfer-Encoding : chunked\r\n"}) {
        auto client = server.client();
        client.send("POST /a HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n" + smuggled);
        auto const all = client.rest();
        EXPECT_THAT(all, StartsWith("HTTP/1.1 400 ")) << header;
        EXPECT_THAT(all, Not(HasSubstr("/admin"))) << header;
    }
}

TEST(HttpServer, Ipv6Loopback_IsListenedOn) {
    HttpOptions options;
    options.address = "::1";
    TestServer server(options);
    HttpRequest seen;
    server.handler.on_request = [&](HttpRequest request, auto responder) {
        seen = request;
        responder->reply({});
    };
    server.start();
    ASSERT_NE(server.port(), 0);
    TestClient client(server.port(), AF_INET6);
    ASSERT_TRUE(client.connected());
    client.send("GET / HTTP/1.1\r\nHost: [::1]:3676\r\n\r\n");
    EXPECT_THAT(client.reply(), StartsWith("HTTP/1.1 200 OK"));
    EXPECT_EQ(seen.peer_address, "::1");
    EXPECT_TRUE(seen.peer_is_loopback);
}

TEST(HttpServer, CannotListen_ErrorSaysWhatToDo) {
    TestServer first;
    first.start();
    io::SystemClock const clock;
    io::AsioLoop loop;
    io::Log log({io::LogLevel::off, io::LogOptions::Form::text, {}});
    HttpOptions options;
    options.port = first.port();
    HttpServer second(loop, clock, options, first.handler, log);
    auto const taken = second.listen();
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().detail,
              "cannot listen on 127.0.0.1:" + std::to_string(first.port()) +
                  ": another program uses this port; stop it, or choose another port");
    options.address = "loopback";
    HttpServer third(loop, clock, options, first.handler, log);
    EXPECT_THAT(third.listen().error().detail, HasSubstr("is not an address to listen on"));
    options.address = "192.0.2.1";
    HttpServer fourth(loop, clock, options, first.handler, log);
    EXPECT_THAT(fourth.listen().error().detail, EndsWith("this machine has no such address"));
}

TEST(HttpServer, StopAccepting_RefusesNewConnections) {
    TestServer server;
    server.start();
    auto client = server.client();
    client.send(get("/a"));
    EXPECT_THAT(client.reply(), Not(HasSubstr("Connection: close")));
    server.on_loop([&] { server.server().stop_accepting(); });
    EXPECT_FALSE(server.client().connected());
    client.send(get("/b"));
    auto const last = client.rest();
    EXPECT_THAT(last, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(last, EndsWith("GET /b "));
}

TEST(HttpServer, Shutdown_WaitsForRequestsInProgress) {
    TestServer server;
    std::shared_ptr<Responder> waiting;
    server.handler.on_request = [&](HttpRequest, auto responder) { waiting = responder; };
    server.start();
    auto idle = server.client();
    auto busy = server.client();
    busy.send(get("/wait"));
    ASSERT_TRUE(server.eventually([&] { return waiting != nullptr; }));
    std::promise<void> done;
    server.on_loop([&] { server.server().shutdown(Duration(5'000), [&] { done.set_value(); }); });
    EXPECT_EQ(idle.rest(), "");
    auto finished = done.get_future();
    server.on_loop([] {});  // what the loop had to do until now is done
    EXPECT_EQ(finished.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    server.on_loop([&] { std::exchange(waiting, nullptr)->reply({200, "text/plain", {}, "bye"}); });
    EXPECT_THAT(busy.rest(), EndsWith("bye"));
    busy.close();
    EXPECT_EQ(finished.wait_for(std::chrono::seconds(5)), std::future_status::ready);
}

TEST(HttpServer, Shutdown_AfterItsLimit_CutsOff) {
    TestServer server;
    std::shared_ptr<Responder> waiting;
    server.handler.on_request = [&](HttpRequest, auto responder) { waiting = responder; };
    server.start();
    auto busy = server.client();
    busy.send(get("/wait"));
    ASSERT_TRUE(server.eventually([&] { return waiting != nullptr; }));
    std::promise<void> done;
    server.on_loop([&] { server.server().shutdown(Duration(4'000), [&] { done.set_value(); }); });
    server.advance(Duration(4'000));
    EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
    EXPECT_EQ(busy.rest(), "");
    server.on_loop([&] { std::exchange(waiting, nullptr)->reply({}); });
}

TEST(HttpServer, ServerDestroyed_LateResponderDoesNothing) {
    std::shared_ptr<Responder> waiting;
    TestServer server;
    server.handler.on_request = [&](HttpRequest, auto responder) { waiting = responder; };
    server.start();
    auto client = server.client();
    client.send(get("/wait"));
    ASSERT_TRUE(server.eventually([&] { return waiting != nullptr; }));
    server.end();
    EXPECT_TRUE(waiting->gone());
    auto const stream = waiting->stream({});
    EXPECT_FALSE(stream->open());
    EXPECT_FALSE(stream->send(std::make_shared<std::string const>("data: 1\n\n")));
}

TEST(HttpServer, TooManyConnections_SendsOverloaded) {
    HttpOptions options;
    options.connections_max = 2;
    TestServer server(options);
    server.start();
    auto first = server.client();
    auto second = server.client();
    first.send(get("/a"));
    second.send(get("/a"));
    first.reply();
    second.reply();
    auto third = server.client();
    auto const answer = third.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(answer, HasSubstr("overloaded"));
    third.close();
    first.close();
    ASSERT_TRUE(server.eventually([&] { return server.server().counts().connections == 1; }));
    auto fourth = server.client();
    fourth.send(get("/b"));
    EXPECT_THAT(fourth.reply(), EndsWith("GET /b "));
}

bool is_served(std::uint16_t port) {
    TestClient client(port);
    client.send(get("/later"));
    return client.reply().ends_with("GET /later ");
}

// Runs in the child: a server that may open few files, until `end` is written to. Its exit status
// says whether it used the processor all the time.
[[noreturn]] void serve_with_few_files(int ports, int end) {
    auto const start = std::chrono::steady_clock::now();
    io::SystemClock const clock;
    io::AsioLoop loop;
    io::Log log({io::LogLevel::off, io::LogOptions::Form::text, {}});
    TestHandler handler;
    HttpOptions options;
    options.port = 0;
    HttpServer server(loop, clock, options, handler, log);
    auto const port = server.listen();
    if (!port) ::_exit(2);
    // Below what connection_limit() saw: descriptors run out as when other code opens them.
    rlimit const few{24, 24};
    ::setrlimit(RLIMIT_NOFILE, &few);
    if (::write(ports, &*port, sizeof *port) < 0) ::_exit(3);
    std::jthread const waits([&] {
        char byte = 0;
        static_cast<void>(::read(end, &byte, 1));
        loop.stop();
    });
    loop.run();
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    auto const cpu = std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     std::chrono::microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    ::_exit(cpu * 3 < std::chrono::steady_clock::now() - start ? 0 : 1);
}

// A sanitizer's own checks open files (/proc/self/maps) and abort a process that cannot open any.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

TEST(HttpServer, NoFileDescriptors_NeitherSpinsNorStalls) {
    if (sanitized) GTEST_SKIP() << "the sanitizer itself needs files; the plain builds run this";
    int ports[2];
    int end[2];
    ASSERT_EQ(::pipe(ports), 0);
    ASSERT_EQ(::pipe(end), 0);
    auto const child = ::fork();
    if (child == 0) serve_with_few_files(ports[1], end[0]);
    std::uint16_t port = 0;
    ASSERT_EQ(::read(ports[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
    std::vector<TestClient> clients;
    for (int i = 0; i < 30; ++i) clients.emplace_back(port);
    EXPECT_THAT(clients.back().rest(),
                testing::AnyOf(StartsWith("HTTP/1.1 503 "), testing::IsEmpty()));
    clients.front().send(get("/a"));
    EXPECT_THAT(clients.front().reply(), EndsWith("GET /a ")) << "those inside are served";
    // The server is short of descriptors all this time, in its own process whose CPU use is
    // measured.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // a time to measure
    clients.clear();
    // A client may still be refused just before the server notices that descriptors are free again.
    bool served = false;
    wait_while([&] { return !(served = is_served(port)); });
    EXPECT_TRUE(served) << "it takes connections again";
    EXPECT_EQ(::write(end[1], "x", 1), 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "the loop used the processor all the time";
    for (int const fd : {ports[0], ports[1], end[0], end[1]}) ::close(fd);
}

}  // namespace
}  // namespace dormouse::http
