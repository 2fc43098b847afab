#pragma once
// Delivers messages between sessions, at least once, and in the order in which they were sent from
// one session to another: one message of each pair is in progress at a time. A message is stored
// until the append in which its receiver accepts it or its sender gets it back, so a crash before
// that append delivers it again. The receiver recognises duplicates. After an attempt with unknown
// result the store is first asked whether the message is still there. Everything here runs on the
// loop.

#include "base/scope.h"
#include "runner/lane/lane.h"

#include <deque>
#include <functional>
#include <map>

namespace dormouse::runner {

class Outbox {
public:
    // Sends a command to a session on behalf of another.
    using Send = std::function<void(SessionId to, session::Command::Body body, session::Actor by,
                                    Lane::Reply reply)>;
    struct Services {
        port::Loop& loop;
        port::Journal& journal;
        bool alone = true;  // no other process appends
        // A write failed. May be empty.
        std::function<void(Error const&)> failed = {};
    };
    // Called with the outcome of each message, as far as this process knows it.
    using Delivered =
        std::function<void(session::OutboxKey const&, Result<session::Answer> const&)>;
    // Everything in `services` outlives this.
    Outbox(Services services, Send send, Delivered on_delivered);

    // Adds messages that have just become durable. REQUIRES: all of kind "session".
    void add(std::vector<port::OutboxRow> rows);
    // An append with unknown result may have stored messages: until a scan has asked the store,
    // later messages are not delivered.
    void doubt() { ++doubts_; }
    // Asks the store for undelivered messages. Called at start and from time to time.
    void scan();

    // Retries at once the messages that wait because this session was unreadable.
    void retry(SessionId session);

    [[nodiscard]] std::size_t waiting() const { return known_.size(); }

private:
    using Pair = std::pair<SessionId, SessionId>;  // from, to
    using Queue = std::deque<port::OutboxRow>;

    // `is_stored`: its row is known to be in the store.
    void enqueue(port::OutboxRow message, bool is_stored);
    void scanned(std::uint64_t doubts, std::uint32_t limit,
                 Result<std::vector<port::OutboxRow>> found);
    // Limit for attempts in progress; other pairs wait in ready_.
    static constexpr std::size_t in_transit_max = 256;
    void begin(Pair const& pair);
    void begin_next();
    // `changed`: how often the receiver, or a sender whose history is copied, changed meanwhile.
    void attempt(Pair const& pair, int changed = 0);
    void deliver_stored(Pair const& pair, port::OutboxRow row, int changed);
    void deliver(Pair const& pair, int changed);
    void give(Pair const& pair, session::Deliver command, int changed);
    void delivered(Pair const& pair, Result<session::Answer> answer);
    void send_back(Pair const& pair, Error const& why);
    void sent_back(Pair const& pair, Result<session::Answer> answer);
    // Removes the front message from its queue; `remove`: from the store too.
    void next(Pair const& pair, bool remove);
    // Tries again after a second, or after growing delays if the session is unreadable.
    void again(Pair const& pair, bool unreadable);
    void begin_waiting(Pair const& pair, std::uint64_t number);

    static constexpr std::size_t known_max = 16'384;
    static constexpr std::uint32_t page = 256;
    static constexpr int attempts_at_once = 16;
    static constexpr Duration retry_every{1'000};
    static constexpr Duration unreadable_every_max{300'000};

    Services services_;
    Send send_;
    std::map<Pair, Queue> queues_;  // oldest first; never empty
    // True if the row is known to be in the store, as for messages from add() until their first
    // attempt. A scan may have read a row before the append that removed it.
    std::map<port::OutboxKey, bool> known_;
    std::deque<Pair> ready_;
    // Pairs with an unreadable session.
    struct Unreadable {
        Duration delay{};          // before the next attempt
        std::uint64_t number = 0;  // number of the waiting attempt; 0: none
    };
    std::map<Pair, Unreadable> unreadable_;
    std::uint64_t attempts_ = 0;
    std::size_t on_their_way_ = 0;
    Delivered on_delivered_;
    // Messages in memory are not delivered before a scan that began after the newest doubt has read
    // everything.
    std::uint64_t doubts_ = 1;
    std::uint64_t settled_ = 0;
    bool scanning_ = false;
    Scope scope_;
};

}  // namespace dormouse::runner
