#include "http/transport/testing/test_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace dormouse::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// Counts its reads; the piece after `fails_after` is an error.
class CountedSource final : public BodySource {
public:
    CountedSource(io::AsioLoop& loop, std::size_t pieces, int& reads,
                  std::size_t fails_after = 1'000)
        : loop_(loop), pieces_(pieces), reads_(reads), fails_after_(fails_after) {}
    [[nodiscard]] std::uint64_t size() const override { return pieces_ * piece; }
    void read(port::Fn<void(Result<std::string>)> done) override {
        ++reads_;
        bool const fails = ++number_ > fails_after_;
        loop_.post([fails, number = number_, done = std::move(done)]() mutable {
            if (fails) return done(fail(Code::internal, "damaged"));
            done(std::string(piece, static_cast<char>('a' + number % 26)));
        });
    }
    static constexpr std::size_t piece = 64 * 1024;

private:
    io::AsioLoop& loop_;
    std::size_t const pieces_;
    int& reads_;
    std::size_t const fails_after_;
    std::size_t number_ = 0;
};

TEST(HttpServer, BodySource_ReadWhileItIsWritten) {
    TestServer server;
    int reads = 0;
    std::size_t fails_after = 1'000;
    server.handler.on_request = [&](HttpRequest const& request, auto responder) {
        if (request.path != "/source") return responder->reply({200, "text/plain", {}, "next"});
        HttpReply reply{200, "text/plain", {}, ""};
        reply.source = std::make_shared<CountedSource>(server.loop(), 200, reads, fails_after);
        responder->reply(std::move(reply));
    };
    server.start();
    auto client = server.client();
    client.send(get("/source") + get("/after"));
    auto const first = client.reply();
    EXPECT_THAT(first, HasSubstr("Content-Length: 13107200\r\n"));
    EXPECT_EQ(first.size() - first.find("\r\n\r\n") - 4, 200 * CountedSource::piece);
    EXPECT_THAT(client.reply(), EndsWith("next"));
    server.on_loop([&] { EXPECT_EQ(std::exchange(reads, 0), 200); });
    client.send("HEAD /source HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(client.reply(true), HasSubstr("Content-Length: 13107200\r\n"));
    server.on_loop([&] { EXPECT_EQ(reads, 0); });
    server.on_loop([&] { fails_after = 3; });
    client.send(get("/source"));
    auto const cut = client.rest();
    EXPECT_THAT(cut, HasSubstr("Content-Length: 13107200\r\n"));
    EXPECT_LT(cut.size(), 4 * CountedSource::piece) << "ended, and seen to be short";
}

TEST(HttpServer, BodySource_ClientGone_NotRead) {
    TestServer server;
    int reads = 0;
    server.handler.on_request = [&](HttpRequest, auto responder) {
        HttpReply reply{200, "text/plain", {}, ""};
        reply.source = std::make_shared<CountedSource>(server.loop(), 2'000, reads);
        responder->reply(std::move(reply));
    };
    server.start();
    {
        auto client = server.client();
        client.send(get("/source"));
        EXPECT_THAT(client.until("\r\n\r\n"), HasSubstr("200 OK"));
    }
    EXPECT_TRUE(server.eventually([&] { return server.server().counts().connections == 0; }));
    server.on_loop([&] { EXPECT_LT(reads, 2'000); });
}

TEST(HttpServer, UnfinishedBodies_OverTheBudget_OldestEnded) {
    HttpOptions options;
    options.buffer_bytes_max = std::size_t{4} << 20;  // 409 KiB for clients without a token
    TestServer server(options);
    server.handler.limit = std::size_t{1} << 20;
    server.start();
    std::string const part(60'000, 'x');
    std::string const head = "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60001\r\n\r\n";
    std::vector<TestClient> clients;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(server.client());
        clients.back().send(head + part);
        // So that it is known which connection is the oldest.
        ASSERT_TRUE(server.eventually([&] {
            return clients.back().connected() && server.server().counts().connections > 0;
        }));
        server.advance(Duration(5));
    }
    EXPECT_THAT(clients.front().rest(), HasSubstr("overloaded"));
    clients.back().send("x");
    EXPECT_THAT(clients.back().reply(), StartsWith("HTTP/1.1 200 OK"));
    auto other = server.client();
    other.send(post("/b", "small"));
    EXPECT_THAT(other.reply(), EndsWith("small"));
}

TEST(HttpServer, UnfinishedBodies_OfKnownClients_HaveTheWholeBudget) {
    HttpOptions options;
    options.buffer_bytes_max = std::size_t{4} << 20;
    TestServer server(options);
    server.handler.limit = std::size_t{1} << 20;
    server.handler.known = true;
    server.start();
    std::string const part(60'000, 'x');
    std::vector<TestClient> clients;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(server.client());
        clients.back().send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60001\r\n\r\n" +
                            part);
    }
    for (auto& client : clients) {
        client.send("x");
        EXPECT_THAT(client.reply(), StartsWith("HTTP/1.1 200 OK"));
    }
}

// Requests that wait in their handler cannot be ended: only what they keep counts.
TEST(HttpServer, WaitingRequestsWithoutTheirBodies_LeaveTheBudgetToOthers) {
    HttpOptions options;
    options.buffer_bytes_max = std::size_t{4} << 20;
    TestServer server(options);
    server.handler.limit = std::size_t{2} << 20;
    server.handler.known = true;
    std::vector<std::shared_ptr<Responder>> waiting;
    server.handler.on_request = [&](HttpRequest const& request, auto responder) {
        if (request.path != "/wait") return responder->reply({200, "text/plain", {}, "ok"});
        responder->body_freed();
        waiting.push_back(std::move(responder));
    };
    server.start();
    std::string const part(1'000'000, 'x');
    std::vector<TestClient> clients;
    for (std::size_t i = 0; i < 8; ++i) {
        clients.push_back(server.client());
        clients.back().send(post("/wait", part));
        ASSERT_TRUE(server.eventually([&] { return waiting.size() == i + 1; }));
    }
    auto other = server.client();
    other.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000001\r\n\r\n" + part);
    other.send("x");
    EXPECT_THAT(other.reply(), StartsWith("HTTP/1.1 200 OK"));
    server.on_loop([&] {
        for (auto const& responder : std::exchange(waiting, {}))
            responder->reply({200, "text/plain", {}, "waited"});
    });
    for (auto& client : clients) EXPECT_THAT(client.reply(), EndsWith("waited"));
}

TEST(HttpServer, UnreadReplies_OverTheBudget_OldestEnded) {
    HttpOptions options;
    options.buffer_bytes_max = std::size_t{32} << 20;
    TestServer server(options);
    server.handler.known = true;
    server.handler.on_request = [](HttpRequest const& request, auto responder) {
        bool const large = request.path == "/large";
        std::size_t const size = large ? std::size_t{12} << 20 : 10;
        responder->reply({200, "text/plain", {}, std::string(size, 'x')});
    };
    server.start();
    std::vector<TestClient> clients;
    for (int i = 0; i < 5; ++i) {
        clients.push_back(server.client());
        clients.back().send(get("/large"));
        server.advance(Duration(20));
    }
    EXPECT_TRUE(server.eventually([&] { return server.server().counts().connections < 5; }));
    EXPECT_LT(clients.front().rest().size(), std::size_t{12} << 20);
    EXPECT_GT(clients.back().reply().size(), std::size_t{12} << 20);
    auto other = server.client();
    other.send(get("/small"));
    EXPECT_THAT(other.reply(), EndsWith("xxxxxxxxxx"));
}

}  // namespace
}  // namespace dormouse::http
