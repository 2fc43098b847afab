#pragma once
// Keeps an index as the store is: follows the feed from the stored position, and makes the index
// again if it has no usable one. A slow or failing index delays nobody: it is behind until it works
// again. On the loop; reads of the store and work of the index are done on their threads.

#include "base/scope.h"
#include "index/reading.h"
#include "port/effects.h"
#include "port/index.h"
#include "port/world.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace dormouse::index {

class Follower {
public:
    struct Services {
        port::Loop& loop;
        port::Clock const& clock;
        port::Journal& journal;
        port::Workers& thread;  // the index's own
    };
    struct Options {
        // Returns true if this process writes the index. Empty: it does.
        std::function<bool()> writes = {};
        // Called when it begins to fail, with why, when it works again, and when it is rebuilt.
        std::function<void(port::IndexStatus const&)> changed = {};
    };
    // All outlive this. REQUIRES: `thread` has ended when this ends.
    Follower(Services services, port::Index& index, Options options);

    void start();
    // Something was appended to the store.
    void appended();
    [[nodiscard]] port::IndexStatus const& status() const { return status_; }

    static constexpr Duration gather{50};         // appends that come in this time are one batch
    static constexpr Duration look_every{5'000};  // without a call of appended()
    // After a flush the follower waits this many times its duration.
    static constexpr int flush_share = 20;
    static constexpr Duration retry_min{1'000};
    static constexpr Duration retry_max{30'000};

private:
    void step();
    void look_later();
    void open();
    void opened(std::string const& stored);
    void rebuild();
    void rebuild_from(Position const& end, std::uint64_t session);
    void apply(port::IndexBatch batch, std::function<void()> then);
    void follow();
    void take(Changes changes);
    void caught_up();
    void end_step();
    void flush_later();
    void flush(std::function<void()> then);
    void fail(Error const& error);
    void set(port::IndexState state);
    template <class T, class Work, class Then> void on_thread(Work work, Then then);
    template <class Question, class Then> void ask(Question question, Then then);

    enum class Flush : std::uint8_t { none, waits, due };  // waits: for its time

    Services const services_;
    port::Index& index_;
    Options const options_;
    port::IndexStatus status_ = {};
    std::optional<Position> position_ = {};  // nullopt: not open
    bool busy_ = false;                      // a step is under way
    bool again_ = false;                     // something was appended meanwhile
    bool waiting_ = false;                   // a step is about to begin
    Flush flush_ = Flush::none;
    Duration flush_pause_{};  // at least, since the last one was slow
    Duration retry_ = retry_min;
    std::optional<Duration> retry_at_ = {};  // of the monotonic clock
    Scope scope_;
};

}  // namespace dormouse::index
