#pragma once
// A proxy between a client and a server on loopback that loses a request or a reply when asked to.

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dormouse::store::postgres {

enum class Fault : std::uint8_t {
    none,
    lose_request,  // the next request is not forwarded; its connection is closed
    lose_reply,    // the next request is answered, and its connection closed instead
    late_request,  // its connection is closed; the request is forwarded when release() says so
};

class TestProxy {
public:
    // `port`: where it listens; 0: on any port.
    explicit TestProxy(int server, int port = 0)
        : server_(server), listener_(listen_on(port)), wake_(eventfd(0, 0)) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this] { run(); });
    }
    ~TestProxy() {
        stop_ = true;
        wake();
        thread_.join();
        for (auto const& pair : pairs_) close(pair);
        ::close(listener_);
        ::close(wake_);
    }
    TestProxy(TestProxy const&) = delete;
    TestProxy& operator=(TestProxy const&) = delete;

    [[nodiscard]] int port() const { return port_; }
    // The fault happens once.
    void inject(Fault fault) { fault_ = fault; }
    // Forwards the late request, and returns when the server has answered it.
    void release() {
        done_ = false;
        release_ = true;
        wake();
        done_.wait(false);
    }
    [[nodiscard]] int faults() const { return faults_; }

private:
    struct Pair {
        int client = -1;
        int server = -1;
        bool losing = false;  // the next bytes of the server close it
        std::string late;
    };

    static sockaddr_in loopback(int port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        return address;
    }
    static int listen_on(int port) {
        int const made = ::socket(AF_INET, SOCK_STREAM, 0);
        int const yes = 1;
        ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        auto const address = loopback(port);
        auto const* const raw = reinterpret_cast<sockaddr const*>(&address);
        if (::bind(made, raw, sizeof address) != 0 || ::listen(made, 16) != 0) std::abort();
        return made;
    }
    static void close(Pair const& pair) {
        if (pair.client >= 0) ::close(pair.client);
        if (pair.server >= 0) ::close(pair.server);
    }
    static bool send_all(int to, std::string const& bytes) {
        for (std::size_t sent = 0; sent < bytes.size();) {
            auto const one = ::send(to, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (one <= 0) return false;
            sent += static_cast<std::size_t>(one);
        }
        return true;
    }
    static std::string receive(int from) {
        std::string bytes(1 << 16, '\0');
        auto const got = ::recv(from, bytes.data(), bytes.size(), 0);
        bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return bytes;
    }
    void wake() const {
        std::uint64_t const one = 1;
        if (::write(wake_, &one, sizeof one) != sizeof one) std::abort();
    }

    void accept_one() {
        Pair pair;
        pair.client = ::accept(listener_, nullptr, nullptr);
        pair.server = ::socket(AF_INET, SOCK_STREAM, 0);
        auto const address = loopback(server_);
        if (::connect(pair.server, reinterpret_cast<sockaddr const*>(&address), sizeof address) ==
            0)
            pairs_.push_back(pair);
        else
            close(pair);
    }
    // Each returns false when the pair is to be closed.
    bool from_client(Pair& pair) {
        auto const bytes = receive(pair.client);
        if (bytes.empty()) return false;
        auto const fault = fault_.exchange(Fault::none);
        if (fault != Fault::none) ++faults_;
        if (fault == Fault::lose_request) return false;
        if (fault == Fault::late_request) {
            pair.late = bytes;
            ::close(std::exchange(pair.client, -1));
            return true;
        }
        pair.losing = fault == Fault::lose_reply;
        return send_all(pair.server, bytes);
    }
    bool from_server(Pair& pair) {
        auto const bytes = receive(pair.server);
        if (pair.client < 0) {  // the answer of a late request
            done_ = true;
            done_.notify_all();
            return false;
        }
        return !bytes.empty() && !pair.losing && send_all(pair.client, bytes);
    }

    void run() {
        while (!stop_) {
            std::vector<pollfd> all{{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
            for (auto const& pair : pairs_) {
                all.push_back({pair.client, POLLIN, 0});
                all.push_back({pair.server, POLLIN, 0});
            }
            if (::poll(all.data(), all.size(), -1) < 0) return;
            std::uint64_t count = 0;
            if (all[1].revents != 0 && ::read(wake_, &count, sizeof count) < 0) return;
            bool const releasing = release_.exchange(false);
            std::size_t place = 2;
            for (auto pair = pairs_.begin(); pair != pairs_.end(); place += 2) {
                bool alive = true;
                if (releasing && !pair->late.empty()) alive = send_all(pair->server, pair->late);
                if (alive && all[place].revents != 0) alive = from_client(*pair);
                if (alive && all[place + 1].revents != 0) alive = from_server(*pair);
                if (!alive) close(*pair);
                pair = alive ? std::next(pair) : pairs_.erase(pair);
            }
            if (all[0].revents != 0) accept_one();
        }
    }

    int server_;
    int listener_;
    int wake_;
    int port_ = 0;
    std::list<Pair> pairs_;  // of the thread
    std::atomic<Fault> fault_ = Fault::none;
    std::atomic<int> faults_ = 0;
    std::atomic<bool> stop_ = false;
    std::atomic<bool> release_ = false;
    std::atomic<bool> done_ = false;
    std::jthread thread_;
};

}  // namespace dormouse::store::postgres
