#include "io/http/http_client.h"

#include "io/loop.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <list>
#include <thread>

namespace dormouse::io {
namespace {

using port::HttpCallbacks;
using port::HttpFailure;
using port::HttpHead;
using port::HttpId;
using port::HttpRequest;
using testing::HasSubstr;
using namespace std::chrono_literals;

// One accepted connection, blocking.
class Peer {
public:
    explicit Peer(int fd) : fd_(fd) {}
    Peer(Peer const&) = delete;
    Peer& operator=(Peer const&) = delete;
    ~Peer() { ::close(fd_); }

    // One request with its body, as bytes; empty if the peer has closed.
    std::string read_request() {
        std::string text;
        while (text.find("\r\n\r\n") == std::string::npos && receive(text)) {}
        auto const end = text.find("\r\n\r\n");
        auto const length = text.find("Content-Length: ");
        if (end == std::string::npos || length == std::string::npos) return text;
        std::size_t const size = std::stoul(text.substr(length + 16));
        while (text.size() < end + 4 + size && receive(text)) {}
        return text;
    }
    void send(std::string_view text) const {
        while (!text.empty()) {
            auto const sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    void close() const { ::shutdown(fd_, SHUT_RDWR); }
    void wait_for_close() const {
        char byte = 0;
        while (::recv(fd_, &byte, 1, 0) > 0) {}
    }

private:
    bool receive(std::string& text) const {
        std::array<char, 4096> buffer{};
        auto const got = ::recv(fd_, buffer.data(), buffer.size(), 0);
        if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
        return got > 0;
    }
    int fd_;
};

// Serves each connection on its own thread.
class PeerServer {
public:
    explicit PeerServer(std::function<void(Peer&)> serve) : serve_(std::move(serve)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const plain = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listener_, plain, size), 0);
        EXPECT_EQ(::listen(listener_, 16), 0);
        ::getsockname(listener_, plain, &size);
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept(); });
    }
    ~PeerServer() {
        ::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        for (auto& peer : peers_) peer.close();
        for (auto& thread : threads_) thread.join();
        ::close(listener_);
    }
    [[nodiscard]] std::string url(std::string const& path = "/") const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }

private:
    void accept() {
        for (int fd = 0; (fd = ::accept(listener_, nullptr, nullptr)) >= 0;) {
            threads_.emplace_back([this, &peer = peers_.emplace_back(fd)] {
                serve_(peer);
                peer.close();
            });
        }
    }
    std::function<void(Peer&)> serve_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    // Used by the acceptor until it is joined.
    std::list<Peer> peers_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

std::function<void(Peer&)> answers(std::string text) {
    return [text = std::move(text)](Peer& peer) {
        while (!peer.read_request().empty()) peer.send(text);
    };
}

class HttpClient : public testing::Test {
protected:
    // The response to one request, as far as it was received.
    struct Seen {
        std::optional<HttpHead> head;
        std::vector<std::string> chunks;
        std::optional<HttpFailure> failure;
        bool done = false;
        [[nodiscard]] std::string body() const {
            std::string all;
            for (auto const& chunk : chunks) all += chunk;
            return all;
        }
    };

    HttpCallbacks note(Seen& seen, std::function<void()> on_data = [] {}) {
        auto const loop_thread = std::this_thread::get_id();
        HttpCallbacks callbacks;
        callbacks.head = [&seen, loop_thread](HttpHead head) {
            EXPECT_EQ(std::this_thread::get_id(), loop_thread);
            EXPECT_FALSE(seen.head);
            seen.head = std::move(head);
        };
        callbacks.data = [&seen, on_data](std::string_view chunk) {
            EXPECT_TRUE(seen.head);
            seen.chunks.emplace_back(chunk);
            on_data();
        };
        callbacks.done = [this, &seen](std::optional<HttpFailure> failure) {
            EXPECT_FALSE(seen.done);
            seen.done = true;
            seen.failure = std::move(failure);
            if (--open_ == 0) loop.stop();
        };
        ++open_;
        return callbacks;
    }
    Seen fetch(HttpRequest request) {
        Seen seen;
        client.start(std::move(request), note(seen));
        EXPECT_FALSE(seen.done) << "never inside the starting call";
        loop.run();
        return seen;
    }
    HttpFailure failure_of(HttpRequest request) {
        return fetch(std::move(request)).failure.value_or(HttpFailure{{}, "it succeeded", false});
    }

    AsioLoop loop;
    CurlHttpClient client{loop, {.active_max = 2, .waiting_max = 3}};
    int open_ = 0;
};

TEST_F(HttpClient, PublicOnly_AddressOfThisMachine_NothingConnected) {
    std::atomic<int> connections = 0;
    PeerServer const server([&](Peer& peer) {
        ++connections;
        peer.wait_for_close();
    });
    std::string const port = server.url().substr(std::string_view("http://127.0.0.1").size());
    // As after name resolution, which may return any address.
    for (std::string const host : {"localhost", "127.0.0.1"}) {
        auto const failure = failure_of({.url = "http://" + host + port, .public_only = true});
        EXPECT_EQ(failure.kind, HttpFailure::Kind::forbidden) << host << failure.reason;
    }
    EXPECT_EQ(connections, 0);
}

TEST_F(HttpClient, QueuedRequestThatMustNotStartAnyMore_IsNotSent) {
    std::atomic<int> connections = 0;
    PeerServer const server([&](Peer& peer) {
        ++connections;
        peer.wait_for_close();
    });
    auto const failure = failure_of({.url = server.url(), .may_start = [] { return false; }});
    EXPECT_EQ(failure.kind, HttpFailure::Kind::overloaded) << failure.reason;
    EXPECT_FALSE(failure.sent);
    EXPECT_EQ(connections, 0);
}

TEST_F(HttpClient, PublicOnly_KeptConnectionToThisMachine_NotReused) {
    std::atomic<int> requests = 0;
    PeerServer const server([&](Peer& peer) {
        while (!peer.read_request().empty()) {
            ++requests;
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    EXPECT_FALSE(fetch({.url = server.url()}).failure);
    auto const failure = failure_of({.url = server.url(), .public_only = true});
    EXPECT_EQ(failure.kind, HttpFailure::Kind::forbidden) << failure.reason;
    EXPECT_EQ(requests, 1);
}

TEST_F(HttpClient, Header_WithALineBreak_Refused) {
    for (std::string const value : {"a\r\nX-Other: y", "a\nb", "a\rb"}) {
        auto const failure =
            failure_of({.url = "http://127.0.0.1:9/", .headers = {{"X-One", value}}});
        EXPECT_EQ(failure.kind, HttpFailure::Kind::bad_request) << value;
    }
}

TEST_F(HttpClient, Request_SendsMethodHeadersAndBody) {
    std::promise<std::string> request;
    PeerServer const server([&](Peer& peer) {
        request.set_value(peer.read_request());
        peer.send("HTTP/1.1 201 Created\r\nX-One:  1 \r\nContent-Length: 5\r\n\r\nhello");
        peer.wait_for_close();
    });
    Seen const seen = fetch({.method = "POST",
                             .url = server.url("/a?b=c"),
                             .headers = {{"Authorization", "Bearer x"}, {"X-Empty", ""}},
                             .body = std::string("{\"a\":\0}", 7)});
    std::string const sent = request.get_future().get();
    EXPECT_THAT(sent, testing::StartsWith("POST /a?b=c HTTP/1.1\r\n"));
    EXPECT_THAT(sent, HasSubstr("Authorization: Bearer x\r\n"));
    EXPECT_THAT(sent, HasSubstr("X-Empty:\r\n"));
    EXPECT_THAT(sent, HasSubstr("User-Agent: dormouse\r\n"));
    EXPECT_THAT(sent, testing::Not(HasSubstr("Content-Type")));
    EXPECT_THAT(sent, testing::EndsWith(std::string("\r\n\r\n{\"a\":\0}", 11)));
    EXPECT_EQ(seen.head->status, 201);
    EXPECT_EQ(seen.head->header("x-ONE"), "1");
    EXPECT_FALSE(seen.head->header("x-two"));
    EXPECT_EQ(seen.body(), "hello");
    EXPECT_FALSE(seen.failure);
}

TEST_F(HttpClient, PartialAnswer_IsDeliveredAtOnce) {
    std::promise<void> first_seen;
    PeerServer const server([&](Peer& peer) {
        peer.read_request();
        peer.send(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
            "Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
        first_seen.get_future().wait();
        peer.send("3\r\ntwo\r\n0\r\nX-Trailer: 1\r\n\r\n");
    });
    Seen seen;
    client.start({.url = server.url()}, note(seen, [&] {
                     if (seen.chunks.size() == 1) first_seen.set_value();
                 }));
    loop.run();
    EXPECT_THAT(seen.chunks, testing::ElementsAre("one", "two"));
    EXPECT_EQ(seen.head->status, 200);
    EXPECT_FALSE(seen.head->header("X-Trailer"));
}

TEST_F(HttpClient, EmptyAnswer_HasAHeadAndNoData) {
    PeerServer const server(answers("HTTP/1.1 204 No Content\r\n\r\n"));
    Seen const seen = fetch({.method = "DELETE", .url = server.url()});
    EXPECT_EQ(seen.head->status, 204);
    EXPECT_TRUE(seen.chunks.empty());
    EXPECT_FALSE(seen.failure);
}

TEST_F(HttpClient, Redirect_IsTheAnswerUnlessFollowed) {
    PeerServer const target(answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    PeerServer const server(answers(
        "HTTP/1.1 302 Found\r\nContent-Length: 3\r\nLocation: " + target.url() + "\r\n\r\nold"));
    Seen const stays = fetch({.url = server.url()});
    EXPECT_EQ(stays.head->status, 302);
    EXPECT_EQ(stays.body(), "old");
    Seen const follows = fetch({.url = server.url(), .redirects_max = 1});
    EXPECT_EQ(follows.head->status, 200);
    EXPECT_EQ(follows.body(), "ok");
}

TEST_F(HttpClient, Cancel_ClosesTheConnectionAndCallsNothing) {
    std::promise<void> closed;
    PeerServer const server([&](Peer& peer) {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none");
        peer.wait_for_close();
        closed.set_value();
    });
    Seen seen;
    HttpId id = 0;
    id = client.start({.url = server.url()}, note(seen, [&] {
                          client.cancel(id);
                          loop.stop();
                      }));
    loop.run();
    closed.get_future().wait();
    loop.post([&] { loop.stop(); });
    loop.run();
    EXPECT_FALSE(seen.done);
    EXPECT_EQ(seen.body(), "one");
    client.cancel(id);  // a second cancel changes nothing
}

TEST_F(HttpClient, NoListener_FailsBeforeSending) {
    std::string url;
    {
        PeerServer const gone([](Peer&) {});
        url = gone.url();
    }
    HttpFailure const failure = failure_of({.url = url});
    EXPECT_EQ(failure.kind, HttpFailure::Kind::no_route);
    EXPECT_FALSE(failure.sent);
    EXPECT_NE(failure.reason, "");
    EXPECT_EQ(failure_of({.url = "http://nowhere.invalid/"}).kind, HttpFailure::Kind::no_route);
}

TEST_F(HttpClient, ConnectionLost_FailsAfterSending) {
    PeerServer const server([](Peer& peer) {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none");
    });
    Seen const cut = fetch({.url = server.url()});
    EXPECT_EQ(cut.failure->kind, HttpFailure::Kind::lost);
    EXPECT_TRUE(cut.failure->sent);
    EXPECT_EQ(cut.body(), "one");

    PeerServer const silent([](Peer& peer) { peer.read_request(); });
    HttpFailure const failure = failure_of({.method = "POST", .url = silent.url(), .body = "x"});
    EXPECT_EQ(failure.kind, HttpFailure::Kind::lost);
    EXPECT_TRUE(failure.sent);

    PeerServer const strange(answers("220 mail.example.org ESMTP\r\n"));
    EXPECT_EQ(failure_of({.url = strange.url()}).kind, HttpFailure::Kind::lost);
}

TEST_F(HttpClient, LostConnection_ResendsOnlyRepeatableRequests) {
    std::atomic<int> requests = 0;
    PeerServer const server([&](Peer& peer) {
        // Reads the second request on a connection and does not answer it.
        for (int n = 1; !peer.read_request().empty() && (++requests, n == 1); ++n)
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    HttpRequest request{.method = "POST", .url = server.url(), .body = "{}"};
    EXPECT_FALSE(fetch(request).failure);
    EXPECT_FALSE(fetch(request).failure);
    EXPECT_EQ(requests, 3) << "one was lost with its connection and resent";
    request.send_once = true;
    HttpFailure const failure = failure_of(request);
    EXPECT_EQ(failure.kind, HttpFailure::Kind::lost) << failure.reason;
    EXPECT_TRUE(failure.sent);
    EXPECT_EQ(requests, 4);
    request = {.method = "DELETE", .url = server.url(), .send_once = true};
    EXPECT_FALSE(fetch(request).failure);
    EXPECT_FALSE(fetch(request).failure) << "without a body it uses a new connection";
    EXPECT_EQ(requests, 6);
}

TEST_F(HttpClient, TimeLimits_AreKept) {
    PeerServer const server([](Peer& peer) {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none");
        peer.wait_for_close();
    });
    HttpFailure const idle = failure_of({.url = server.url(), .idle_limit = 50ms});
    EXPECT_EQ(idle.kind, HttpFailure::Kind::timed_out);
    EXPECT_EQ(idle.reason, "nothing was received for 50 ms");
    EXPECT_TRUE(idle.sent);
    HttpFailure const total =
        failure_of({.url = server.url(), .idle_limit = 0ms, .total_limit = 50ms});
    EXPECT_EQ(total.kind, HttpFailure::Kind::timed_out);
    EXPECT_TRUE(total.sent);
}

TEST_F(HttpClient, ReceivedBytes_RestartTheIdleLimit) {
    PeerServer const server([](Peer& peer) {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
        for (int i = 0; i < 10; ++i) {
            std::this_thread::sleep_for(20ms);  // a slow peer
            peer.send("x");
        }
    });
    Seen const seen = fetch({.url = server.url(), .idle_limit = 150ms});
    EXPECT_FALSE(seen.failure) << seen.failure->reason;
    EXPECT_EQ(seen.body(), "xxxxxxxxxx");
}

TEST_F(HttpClient, LargeAnswer_FailsAtTheLimit) {
    PeerServer const large(
        answers("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'x')));
    EXPECT_EQ(fetch({.url = large.url(), .response_max = 100}).body().size(), 100U);
    Seen const seen = fetch({.url = large.url(), .response_max = 99});
    EXPECT_EQ(seen.failure->kind, HttpFailure::Kind::too_large);
    EXPECT_THAT(seen.failure->reason, HasSubstr("99 bytes"));

    std::string head = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 100; ++i) head += "X-Long: " + std::string(1000, 'x') + "\r\n";
    PeerServer const headers(answers(head + "\r\n"));
    EXPECT_EQ(failure_of({.url = headers.url()}).kind, HttpFailure::Kind::too_large);
}

TEST_F(HttpClient, InvalidUrlMethodOrHeader_IsRefused) {
    PeerServer const server(answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    std::vector<HttpRequest> const bad{
        {.url = "file:///etc/passwd"},
        {.url = server.url("/ HTTP/1.1\r\nX: 1")},
        {.method = "GET /x", .url = server.url()},
        {.url = server.url(), .headers = {{"X", "a\r\nY: b"}}},
        {.url = server.url(), .headers = {{"X: a", "b"}}},
        {.url = server.url(), .headers = {{"", "b"}}},
        {.url = "http://"},
        {.url = "http://127.0.0.1:99999/"},
    };
    for (HttpRequest const& request : bad) {
        HttpFailure const failure = failure_of(request);
        EXPECT_EQ(failure.kind, HttpFailure::Kind::bad_request) << request.url << failure.reason;
        EXPECT_FALSE(failure.sent);
    }
}

TEST_F(HttpClient, ManyRequests_WaitAndTooManyFail) {
    std::promise<void> release;
    auto const released = release.get_future().share();
    std::atomic<int> served = 0;
    std::atomic<int> at_once = 0;
    std::atomic<bool> too_many = false;
    PeerServer const server([&](Peer& peer) {
        while (!peer.read_request().empty()) {
            if (++at_once > 2) too_many = true;
            ++served;
            released.wait();
            --at_once;
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    std::array<Seen, 6> seen;
    for (std::size_t i = 0; i < 5; ++i)
        client.start({.url = server.url("/" + std::to_string(i))}, note(seen[i]));
    auto last = note(seen[5]);
    last.done = [&](std::optional<HttpFailure> failure) {
        seen[5].failure = std::move(failure);
        release.set_value();
        --open_;
    };
    // Two run and three wait.
    client.start({.url = server.url("/5")}, std::move(last));
    loop.run();
    EXPECT_EQ(seen[5].failure->kind, HttpFailure::Kind::overloaded);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(seen[i].head->status, 200) << i;
    EXPECT_EQ(served, 5);
    EXPECT_FALSE(too_many);
}

TEST(HttpClientEnd, Destroyed_CallsNothing) {
    AsioLoop loop;
    PeerServer const server([](Peer& peer) {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none");
        peer.wait_for_close();
    });
    bool called = false;
    {
        CurlHttpClient client(loop);
        std::promise<void> begun;
        HttpCallbacks callbacks;
        callbacks.data = [&](std::string_view) { loop.stop(); };
        callbacks.done = [&](auto const&) { called = true; };
        client.start({.url = server.url()}, std::move(callbacks));
        HttpCallbacks unseen;
        unseen.head = [&](HttpHead const&) { called = true; };
        unseen.done = [&](auto const&) { called = true; };
        loop.run();
        client.start({.url = "http://nowhere.invalid/"}, std::move(unseen));
    }
    loop.post([&] { loop.stop(); });
    loop.run();
    EXPECT_FALSE(called);
}

}  // namespace
}  // namespace dormouse::io
