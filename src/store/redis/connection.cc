#include "store/redis/connection.h"

#include <hiredis/hiredis.h>

#include <poll.h>
#include <sys/time.h>

#include <array>
#include <utility>

namespace dormouse::store::redis {

namespace {

constexpr timeval time_limit{1, 0};

Reply converted(redisReply const& reply) {
    std::string const text = reply.str ? std::string(reply.str, reply.len) : std::string();
    switch (reply.type) {
        case REDIS_REPLY_STRING:
        case REDIS_REPLY_STATUS: return {.kind = Reply::Kind::text, .text = text};
        case REDIS_REPLY_ERROR: return {.kind = Reply::Kind::error, .text = text};
        case REDIS_REPLY_INTEGER: return {.kind = Reply::Kind::number, .number = reply.integer};
        case REDIS_REPLY_ARRAY: break;
        default: return {};
    }
    Reply out{.kind = Reply::Kind::list};
    for (std::size_t i = 0; i < reply.elements; ++i)
        out.list.push_back(converted(*reply.element[i]));
    return out;
}

}  // namespace

std::vector<std::string> Reply::texts() const {
    std::vector<std::string> out;
    for (Reply const& one : list)
        if (one.kind == Kind::text) out.push_back(one.text);
    return out;
}

void Connection::Free::operator()(redisContext* context) const { redisFree(context); }

Connection::Connection(Address address) : address_(std::move(address)), place_(shown(address_)) {}
Connection::~Connection() = default;

std::unexpected<Error> Connection::lost() {
    std::string const why = context_ && context_->err != 0 ? context_->errstr : "no answer";
    context_.reset();
    return fail(Code::store_unavailable, place_ + ": " + why);
}

Result<void> Connection::open() {
    context_.reset(address_.socket.empty()
                       ? redisConnectWithTimeout(address_.host.c_str(), address_.port, time_limit)
                       : redisConnectUnixWithTimeout(address_.socket.c_str(), time_limit));
    if (!context_ || context_->err != 0) return lost();
    if (redisSetTimeout(context_.get(), time_limit) != REDIS_OK) return lost();
    return log_in();
}

Result<void> Connection::log_in() {
    std::vector<Command> commands;
    if (!address_.password.empty()) {
        Command auth{"AUTH"};
        if (!address_.user.empty()) auth.push_back(address_.user);
        auth.push_back(address_.password);
        commands.push_back(std::move(auth));
    }
    commands.push_back({"SELECT", std::to_string(address_.database)});
    auto const done = ask(commands);
    if (done) return {};
    context_.reset();
    return std::unexpected(done.error());
}

void Connection::close() { context_.reset(); }

Result<void> Connection::append(Command const& command) {
    std::vector<char const*> words;
    std::vector<std::size_t> sizes;
    for (std::string const& word : command) {
        words.push_back(word.data());
        sizes.push_back(word.size());
    }
    int const count = static_cast<int>(words.size());
    if (redisAppendCommandArgv(context_.get(), count, words.data(), sizes.data()) != REDIS_OK)
        return lost();
    return {};
}

Result<void> Connection::post(Command const& command) {
    if (!context_) return lost();
    if (auto added = append(command); !added) return added;
    for (int done = 0; done == 0;)
        if (redisBufferWrite(context_.get(), &done) != REDIS_OK) return lost();
    return {};
}

Result<void> Connection::take_received(std::vector<Reply>& out) {
    for (;;) {
        void* reply = nullptr;
        if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) return lost();
        if (reply == nullptr) break;
        out.push_back(converted(*static_cast<redisReply*>(reply)));
        freeReplyObject(reply);
    }
    redisReader const& reader = *context_->reader;
    if (reader.len - reader.pos <= pushed_max) return {};
    return fail(Code::store_unavailable, place_ + ": a message is too large");
}

// The buffer may already have messages that came with the reply to an earlier call.
Result<std::vector<Reply>> Connection::pushed(std::chrono::milliseconds wait, int wake) {
    if (!context_) return lost();
    std::vector<Reply> out;
    for (;;) {
        if (auto taken = take_received(out); !taken) return std::unexpected(taken.error());
        if (!out.empty()) return out;
        std::array<pollfd, 2> both{{{context_->fd, POLLIN, 0}, {wake, POLLIN, 0}}};
        ::poll(both.data(), both.size(), static_cast<int>(wait.count()));
        if (both[0].revents == 0) return out;
        if (redisBufferRead(context_.get()) != REDIS_OK) return lost();
    }
}

Result<std::vector<Reply>> Connection::send(std::vector<Command> const& commands) {
    if (!context_) return lost();
    for (Command const& command : commands)
        if (auto added = append(command); !added) return std::unexpected(added.error());
    std::vector<Reply> out;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        void* reply = nullptr;
        if (redisGetReply(context_.get(), &reply) != REDIS_OK || reply == nullptr) return lost();
        out.push_back(converted(*static_cast<redisReply*>(reply)));
        freeReplyObject(reply);
    }
    return out;
}

Result<std::vector<Reply>> Connection::ask(std::vector<Command> const& commands) {
    auto replies = send(commands);
    if (!replies) return replies;
    for (Reply const& reply : *replies)
        if (reply.kind == Reply::Kind::error)
            return fail(Code::store_unavailable, place_ + ": " + reply.text);
    return replies;
}

void wait_for(int descriptor, std::chrono::milliseconds wait) {
    pollfd one{descriptor, POLLIN, 0};
    ::poll(&one, 1, static_cast<int>(wait.count()));
}

}  // namespace dormouse::store::redis
