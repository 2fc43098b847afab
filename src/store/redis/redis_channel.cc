#include "store/redis/redis_channel.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <tuple>
#include <utility>

namespace dormouse::store {

namespace {

using redis::Command;
using redis::Reply;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds retry_after{1};
constexpr seconds ping_every{5};
constexpr seconds answer_wait{1};
constexpr std::size_t seal_size = std::tuple_size_v<Sha256>;

// Other programs on the same Redis server must not be able to guess it.
std::string name_of(redis::Address const& address, std::string const& key) {
    auto const digest = hmac_sha256(key, "channel");
    return address.prefix + "signal:" + hex(std::span(digest).first<8>());
}

int made_eventfd() {
    int const fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    return fd;
}

// The handlers of signals run on the program's own threads.
void block_signals() {
    sigset_t all;
    ::sigfillset(&all);
    for (int const open : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF})
        ::sigdelset(&all, open);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

RedisChannel::RedisChannel(redis::Address const& address, std::string key)
    : key_(std::move(key)),
      name_(name_of(address, key_)),
      speaking_(address),
      listening_(address),
      wake_(made_eventfd()),
      thread_([this](std::stop_token const& token) {
          block_signals();
          listen(token);
      }) {}

RedisChannel::~RedisChannel() {
    thread_.request_stop();
    std::uint64_t const one = 1;
    std::ignore = ::write(wake_, &one, sizeof one);
    thread_.join();
    ::close(wake_);
}

std::string RedisChannel::sealed(std::string_view text) const {
    auto const seal = hmac_sha256(key_, text);
    return std::string(seal.begin(), seal.end()).append(text);
}

Result<void> RedisChannel::publish(std::span<std::string const> texts) {
    auto const failed = [this](Error error) {
        speak_after_ = Clock::now() + retry_after;
        return std::unexpected(std::move(error));
    };
    if (!speaking_.is_open()) {
        if (Clock::now() < speak_after_)
            return fail(Code::store_unavailable, speaking_.place() + " did not answer just now");
        if (auto opened = speaking_.open(); !opened) return failed(std::move(opened.error()));
    }
    std::vector<Command> commands;
    for (std::string const& text : texts)
        if (!text.empty()) commands.push_back({"PUBLISH", name_, sealed(text)});
    auto const done = speaking_.ask(commands);
    if (!done) return failed(done.error());
    return {};
}

Result<std::vector<std::string>> RedisChannel::receive(Duration limit) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, limit, [this] { return ended_ || !waiting_.empty(); });
    ended_ = false;
    waiting_bytes_ = 0;
    return std::exchange(waiting_, {});
}

void RedisChannel::end_wait() {
    {
        std::scoped_lock const lock(mutex_);
        ended_ = true;
    }
    arrived_.notify_one();
}

std::string RedisChannel::failure() const {
    std::scoped_lock const lock(mutex_);
    return failure_;
}

void RedisChannel::set_failure(std::string why) {
    std::scoped_lock const lock(mutex_);
    failure_ = std::move(why);
}

// An empty text would mean that tokens have changed: nobody says that here.
void RedisChannel::take(Reply const& pushed) {
    auto const words = pushed.texts();
    if (words.size() != 3 || words[0] != "message" || words[1] != name_) return;
    std::string_view text(words[2]);
    if (text.size() <= seal_size || text.size() > seal_size + message_bytes_max) return;
    Sha256 seal{};
    std::copy_n(text.begin(), seal_size, seal.begin());
    text.remove_prefix(seal_size);
    if (!same_digest(seal, hmac_sha256(key_, text))) return;
    {
        std::scoped_lock const lock(mutex_);
        if (waiting_bytes_ + text.size() > waiting_max) return;
        waiting_bytes_ += text.size();
        waiting_.emplace_back(text);
    }
    arrived_.notify_one();
}

// A connection that is silent is asked whether it works: the other end may be gone.
Result<void> RedisChannel::listen_once(std::stop_token const& token) {
    if (auto opened = listening_.open(); !opened) return opened;
    auto const joined = listening_.ask({{"SUBSCRIBE", name_}});
    if (!joined) return std::unexpected(joined.error());
    set_failure("");
    bool asked = false;
    while (!token.stop_requested()) {
        auto const pushed = listening_.pushed(asked ? answer_wait : ping_every, wake_);
        if (!pushed) return std::unexpected(pushed.error());
        if (pushed->empty() && asked)
            return fail(Code::store_unavailable, listening_.place() + ": no answer");
        asked = pushed->empty();
        if (asked && !token.stop_requested())
            if (auto sent = listening_.post({"PING"}); !sent) return sent;
        for (Reply const& one : *pushed) take(one);
    }
    return {};
}

void RedisChannel::listen(std::stop_token const& token) {
    while (!token.stop_requested()) {
        auto const ended = listen_once(token);
        listening_.close();
        if (ended) continue;
        set_failure(ended.error().detail);
        redis::wait_for(wake_, retry_after);
    }
}

}  // namespace dormouse::store
