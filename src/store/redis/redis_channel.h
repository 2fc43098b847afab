#pragma once
// Carries messages between the servers on one database through the pub/sub of a Redis server.
// They carry no facts: while Redis is gone, everything arrives later, because each server asks the
// database.
//
// The channel is named after a secret that the servers have in common, and each text begins with
// its HMAC under that secret. So servers on other databases ignore it, and what another
// program publishes is dropped here.

#include "port/shared_store.h"
#include "store/redis/connection.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace dormouse::store {

class RedisChannel final : public port::Channel {
public:
    // Starts a thread that listens. It connects when it can, and again after a second.
    RedisChannel(redis::Address const& address, std::string key);
    ~RedisChannel() override;
    RedisChannel(RedisChannel const&) = delete;
    RedisChannel& operator=(RedisChannel const&) = delete;

    [[nodiscard]] Result<std::vector<std::string>> receive(Duration limit) override;
    void end_wait() override;
    // Each step takes a second at most; within a second after a failure nothing is tried.
    [[nodiscard]] Result<void> publish(std::span<std::string const> texts) override;
    [[nodiscard]] std::string failure() const override;

    static constexpr std::size_t waiting_max = std::size_t{1}
                                               << 20;  // bytes; beyond, texts are lost

private:
    using Clock = std::chrono::steady_clock;

    void listen(std::stop_token const& token);
    [[nodiscard]] Result<void> listen_once(std::stop_token const& token);
    void take(redis::Reply const& pushed);
    void set_failure(std::string why);
    [[nodiscard]] std::string sealed(std::string_view text) const;

    std::string const key_;
    std::string const name_;  // of the channel
    redis::Connection speaking_;
    Clock::time_point speak_after_{};
    redis::Connection listening_;
    int const wake_;  // an eventfd that ends the thread's wait

    mutable std::mutex mutex_;  // of what follows
    std::condition_variable arrived_;
    std::vector<std::string> waiting_;
    std::size_t waiting_bytes_ = 0;
    bool ended_ = false;
    std::string failure_ = "has not answered yet";

    std::jthread thread_;
};

}  // namespace dormouse::store
