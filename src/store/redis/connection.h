#pragma once
// One connection to a Redis server. Blocks, each step for a second at most. After an error it is
// closed, and open() is needed again.

#include "store/redis/address.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct redisContext;  // NOLINT(readability-identifier-naming): the name is hiredis's

namespace dormouse::store::redis {

using Command = std::vector<std::string>;

struct Reply {
    enum class Kind : std::uint8_t { none, text, number, list, error };
    Kind kind = Kind::none;
    std::string text = {};  // of `text` and `error`
    std::int64_t number = 0;
    std::vector<Reply> list = {};
    [[nodiscard]] std::vector<std::string> texts() const;  // of a list
};

class Connection {
public:
    explicit Connection(Address address);
    ~Connection();
    Connection(Connection const&) = delete;
    Connection& operator=(Connection const&) = delete;

    [[nodiscard]] Result<void> open();
    // Sends all, then reads their replies in order. An error that the server replies is a Reply.
    [[nodiscard]] Result<std::vector<Reply>> send(std::vector<Command> const& commands);
    // The same; an error that the server replies to one of them is an Error.
    [[nodiscard]] Result<std::vector<Reply>> ask(std::vector<Command> const& commands);
    // Sends without waiting for a reply, which pushed() returns.
    [[nodiscard]] Result<void> post(Command const& command);
    // Waits until the server sends something that no call waits for, at most for `wait`, or until
    // `wake` can be read. Returns all that has come.
    [[nodiscard]] Result<std::vector<Reply>> pushed(std::chrono::milliseconds wait, int wake);
    static constexpr std::size_t pushed_max = std::size_t{64} << 10;  // bytes of one; else an error

    [[nodiscard]] bool is_open() const { return context_ != nullptr; }
    void close();
    [[nodiscard]] std::string const& place() const { return place_; }

private:
    struct Free {
        void operator()(redisContext* context) const;
    };
    [[nodiscard]] std::unexpected<Error> lost();
    [[nodiscard]] Result<void> log_in();
    [[nodiscard]] Result<void> append(Command const& command);
    [[nodiscard]] Result<void> take_received(std::vector<Reply>& out);

    Address const address_;
    std::string const place_;
    std::unique_ptr<redisContext, Free> context_;  // null: closed
};

// Waits at most for `wait`, or until the descriptor can be read.
void wait_for(int descriptor, std::chrono::milliseconds wait);

}  // namespace dormouse::store::redis
