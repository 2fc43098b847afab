#pragma once
// One connection to a Redis server. Blocks, each step for a second at most. After an error it is
// closed, and open() is needed again.

#include "store/redis/address.h"

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
    [[nodiscard]] std::string const& place() const { return place_; }

private:
    struct Free {
        void operator()(redisContext* context) const;
    };
    [[nodiscard]] std::unexpected<Error> lost();
    [[nodiscard]] Result<void> log_in();

    Address const address_;
    std::string const place_;
    std::unique_ptr<redisContext, Free> context_;  // null: closed
};

}  // namespace dormouse::store::redis
