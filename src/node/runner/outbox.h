#pragma once
// Delivers what sessions send to each other. A post stands in the store until the append that takes
// it up, in which its receiver receives it or its sender gets it back; so a kill before that append
// delivers it again. After an attempt of unknown end the store is asked first whether the post
// still stands. The receiver remembers which ones it has. From one session to another posts arrive
// in the order in which they were sent: one of them is on its way at a time. Everything here runs
// on the loop.

#include "runner/lane.h"

#include <deque>
#include <functional>
#include <map>

namespace dormouse::runner {

class Outbox {
public:
    // Gives a session a command in the name of another.
    using Send = std::function<void(SessionId to, session::Command::Body body, session::Actor by,
                                    Lane::Reply reply)>;
    struct World {
        port::Loop& loop;
        port::Journal& journal;
    };
    // Called with the outcome of each message, as far as this process knows it.
    using Delivered = std::function<void(session::PostKey const&, Result<session::Answer> const&)>;
    // Everything in `world` outlives this.
    Outbox(World world, Send send, Delivered on_delivered);
    ~Outbox() { *alive_ = false; }
    Outbox(Outbox const&) = delete;
    Outbox& operator=(Outbox const&) = delete;

    // These have just become durable. Of other kinds than "session" none may be among them.
    void add(std::vector<port::PostRow> posts);
    // An append whose end is not known may have sent something: until the store has been asked,
    // nothing that was sent after it is delivered.
    void doubt() { ++doubts_; }
    // Asks the store for what has been sent and not been delivered. At start, and now and then.
    void scan();

    // Tries at once what waits because this session could not be read: it may be readable now.
    void retry(SessionId session);

    [[nodiscard]] std::size_t waiting() const { return known_.size(); }

private:
    using Pair = std::pair<SessionId, SessionId>;  // from, to
    using Queue = std::deque<port::PostRow>;

    // `stands`: its row is in the store for certain.
    void enqueue(port::PostRow post, bool stands);
    void scanned(std::uint64_t doubts, std::uint32_t limit,
                 Result<std::vector<port::PostRow>> found);
    // At most so many are on their way at a time; the other pairs wait for their turn.
    static constexpr std::size_t on_their_way_max = 256;
    void begin(Pair const& pair);
    void begin_next();
    void attempt(Pair const& pair);
    void deliver(Pair const& pair);
    void give(Pair const& pair, session::Deliver command);
    void delivered(Pair const& pair, Result<session::Answer> answer);
    void send_back(Pair const& pair, Error const& why);
    void sent_back(Pair const& pair, Result<session::Answer> answer);
    // The front one is done with; `remove`: its row is still there.
    void next(Pair const& pair, bool remove);
    // After a second; of a session that cannot be read, after ever longer times.
    void again(Pair const& pair, bool unreadable);
    void begin_waiting(Pair const& pair, std::uint64_t number);

    static constexpr std::size_t known_max = 16'384;
    static constexpr std::uint32_t page = 256;
    static constexpr Duration retry_every{1'000};
    static constexpr Duration unreadable_every_max{300'000};

    World world_;
    Send send_;
    std::map<Pair, Queue> queues_;  // oldest first; none is empty
    // Whether its row is in the store for certain: until the first attempt, of what add() brought.
    // A scan may have read a row before the append that took it up.
    std::map<port::PostKey, bool> known_;
    std::deque<Pair> ready_;
    // Pairs of which a session could not be read.
    struct Unreadable {
        Duration delay{};          // before the next attempt
        std::uint64_t number = 0;  // of the attempt that waits; 0: none does
    };
    std::map<Pair, Unreadable> unreadable_;
    std::uint64_t attempts_ = 0;
    std::size_t on_their_way_ = 0;
    Delivered on_delivered_;
    // Nothing is delivered out of memory before a scan that began after the newest doubt has seen
    // all.
    std::uint64_t doubts_ = 1;
    std::uint64_t settled_ = 0;
    bool scanning_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::runner
