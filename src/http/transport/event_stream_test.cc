#include "http/transport/testing/test_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace dormouse::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::shared_ptr<std::string const> frame(std::string text) {
    return std::make_shared<std::string const>(std::move(text));
}

// A server that makes a stream of every request and stores it here.
class EventStreams : public testing::Test {
protected:
    void serve(HttpOptions options = {}) {
        server.emplace(std::move(options));
        server->handler.on_request = [this](HttpRequest, auto responder) {
            stream = responder->stream({{"X-Extra", "1"}});
        };
        server->start();
    }
    TestClient reader() {
        auto client = server->client();
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        return client;
    }
    void TearDown() override {
        server->on_loop([this] { stream.reset(); });
        server.reset();
    }

    std::optional<TestServer> server;
    std::shared_ptr<EventStream> stream;
};

TEST_F(EventStreams, Stream_SendsHeadAtOnceThenTheQueue) {
    serve();
    auto client = reader();
    auto const head = client.until("\r\n\r\n");
    EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"));
    EXPECT_THAT(head, HasSubstr("X-Accel-Buffering: no\r\n"));
    EXPECT_THAT(head, HasSubstr("Cache-Control: no-store\r\n"));
    EXPECT_THAT(head, HasSubstr("X-Extra: 1\r\n"));
    server->on_loop([this] {
        for (int i = 0; i < 300; ++i)
            EXPECT_TRUE(stream->send(frame("id: " + std::to_string(i) + "\n\n")));
        stream->close();
        EXPECT_FALSE(stream->open());
        EXPECT_FALSE(stream->send(frame("too late\n\n")));
    });
    std::string expected;
    for (int i = 0; i < 300; ++i) expected += "id: " + std::to_string(i) + "\n\n";
    EXPECT_EQ(client.rest(), expected);
}

TEST_F(EventStreams, Stream_FollowsRepliesToEarlierRequests) {
    serve();
    server->on_loop([this] {
        server->handler.on_request = [this](HttpRequest request, auto responder) {
            if (request.path == "/first") return responder->reply({200, "text/plain", {}, "first"});
            stream = responder->stream({});
        };
    });
    auto client = server->client();
    client.send("GET /first HTTP/1.1\r\nHost: h\r\n\r\nGET /events HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(client.reply(), EndsWith("first"));
    EXPECT_THAT(client.until("\r\n\r\n"), HasSubstr("text/event-stream"));
}

TEST_F(EventStreams, SilentStream_SendsHeartbeats) {
    HttpOptions options;
    options.heartbeat = Duration(15'000);
    serve(options);
    auto client = reader();
    client.until("\r\n\r\n");
    for (int i = 0; i < 2; ++i) {
        server->advance(Duration(14'999));
        EXPECT_TRUE(client.silent(0));
        server->advance(Duration(1'000));
        EXPECT_EQ(client.until(":\n\n"), ":\n\n");
    }
}

TEST_F(EventStreams, ReaderGone_CallsOnClosed) {
    serve();
    auto client = reader();
    client.until("\r\n\r\n");
    bool gone = false;
    server->on_loop([&] { stream->on_closed([&] { gone = true; }); });
    client.close();
    EXPECT_TRUE(server->eventually([&] { return gone; }));
    server->on_loop([this] {
        EXPECT_FALSE(stream->open());
        EXPECT_FALSE(stream->send(frame("x")));
    });
    bool called_late = false;
    server->on_loop([&] { stream->on_closed([&] { called_late = true; }); });
    EXPECT_TRUE(server->eventually([&] { return called_late; }));
}

TEST_F(EventStreams, QueueEmpty_CallsOnDrainedEachTime) {
    serve();
    auto client = reader();
    client.until("\r\n\r\n");
    int drained = 0;
    server->on_loop([&] {
        stream->on_drained([&] {
            if (++drained == 5) return;
            EXPECT_TRUE(stream->send(frame("more\n\n")));
        });
        EXPECT_TRUE(stream->send(frame("begin\n\n")));
        EXPECT_EQ(stream->queued_bytes(), 7U);
    });
    EXPECT_TRUE(server->eventually([&] { return drained == 5; }));
    server->on_loop([this] { EXPECT_EQ(stream->queued_bytes(), 0U); });
    EXPECT_EQ(client.until("more\n\nmore\n\nmore\n\nmore\n\n"),
              "begin\n\nmore\n\nmore\n\nmore\n\nmore\n\n");
    server->on_loop([this] { stream->on_drained(nullptr); });
}

TEST_F(EventStreams, SlowReader_IsCutOff) {
    serve();
    auto client = reader();
    client.until("\r\n\r\n");
    bool gone = false;
    server->on_loop([&] { stream->on_closed([&] { gone = true; }); });
    auto const piece = frame(std::string(64 * 1024, 'x'));
    // Until the kernel's buffers are full, then 1 MiB in the server and the last frame.
    bool const cut = server->eventually([&] {
        for (int i = 0; i < 8; ++i) {
            if (!stream->send(piece)) return true;
            EXPECT_LE(stream->queued_bytes(), 1024U * 1024U + piece->size());
        }
        return false;
    });
    EXPECT_TRUE(cut);
    EXPECT_TRUE(server->eventually([&] { return gone; }));
    server->on_loop([this] { EXPECT_FALSE(stream->open()); });
}

TEST_F(EventStreams, CloseStreams_SendsFinalFrames) {
    serve();
    auto client = reader();
    client.until("\r\n\r\n");
    server->on_loop([this] { server->server().close_streams("event: bye\ndata: {}\n\n"); });
    EXPECT_EQ(client.rest(), "event: bye\ndata: {}\n\n");
    client.close();
    EXPECT_TRUE(server->eventually([this] { return server->server().counts().streams == 0; }));
}

TEST_F(EventStreams, StreamDropped_EndsTheResponse) {
    serve();
    auto client = reader();
    client.until("\r\n\r\n");
    server->on_loop([this] { stream.reset(); });
    EXPECT_EQ(client.rest(), "");
}

TEST_F(EventStreams, Head_SendsNoBody) {
    serve();
    auto client = server->client();
    client.send("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    auto const all = client.rest();
    EXPECT_THAT(all, HasSubstr("text/event-stream"));
    EXPECT_THAT(all, EndsWith("\r\n\r\n"));
    server->on_loop([this] { EXPECT_FALSE(stream->open()); });
}

}  // namespace
}  // namespace dormouse::http
