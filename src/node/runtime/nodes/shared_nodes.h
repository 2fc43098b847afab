#pragma once
// The processes of a shared store, as this one knows them: sends a heartbeat each second, and takes
// the place of a process that sends none. On the loop.

#include "base/scope.h"
#include "port/effects.h"
#include "port/nodes.h"
#include "port/shared_store.h"
#include "port/world.h"
#include "runner/membership.h"
#include "runner/store_clock.h"
#include "runtime/nodes/sole_owner.h"
#include "runtime/nodes/start_permission.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::runtime {

class SharedNodes final : public port::Nodes {
public:
    struct Listener {
        // The other processes declared this one dead. Called until it takes part again.
        std::function<void()> fenced;
        // This one takes part again, after what rejoin() was given has run.
        std::function<void()> joined;
        // The store replied to a heartbeat.
        std::function<void(port::HeartbeatReply const&)> on_heartbeat;
        // A process has left, was removed by this one, or takes no share of what is due from now
        // on.
        std::function<void()> left;
        // A process that uses the store, perhaps this one, published this.
        std::function<void(std::string_view)> on_message;
        // Called at each heartbeat with the store's time when `clock` was 0.
        std::function<void(Time)> measured;
    };

    struct Services {
        port::Loop& loop;
        port::Journal& journal;
        port::SharedStore& store;
        port::Channel& channel;
        port::Workers& thread;  // one, for heartbeats alone: no other work delays them
    };

    // All in `services` outlive this, and no job runs on its thread any more when this is
    // destroyed. The description of this process in port::NodeRow.
    struct Description {
        std::string name = {};
        std::string config = {};
    };
    // `clock` is also asked on the thread.
    SharedNodes(Services services, Epoch epoch, Description description,
                std::function<Duration()> clock = io::boot_time)
        : services_(services),
          name_(std::move(description.name)),
          clock_(std::move(clock)),
          self_{.epoch = epoch, .config = std::move(description.config)} {}

    // Begins to send heartbeats. Each starts on the loop: a blocked loop sends none.
    void start(Listener listener);
    // Sets the URL at which this process answers requests, for the other processes.
    void set_url(std::string url) { self_.url = std::move(url); }
    // Leaves all due work to the other processes from now on.
    void drain();

    [[nodiscard]] Epoch epoch() const override { return self_.epoch; }
    [[nodiscard]] std::string const& name() const override { return name_; }
    [[nodiscard]] bool alone() const override { return false; }
    [[nodiscard]] bool gone(Epoch epoch) const override { return members_.gone(epoch); }
    [[nodiscard]] bool works(Epoch epoch) const override { return members_.works(epoch); }
    [[nodiscard]] bool may_start() const override { return !held_ && permission_.holds(); }
    // Returns a function for any thread: may an effect that is started now still begin?
    [[nodiscard]] std::function<bool()> start_permission() const { return permission_.given(); }
    [[nodiscard]] bool has_share(std::uint64_t number) const override {
        return members_.has_share(self_.epoch, number);
    }
    [[nodiscard]] bool leads() const override { return !held_ && members_.leads(self_.epoch); }
    // The store is a copy: nothing is started until release().
    void hold() { held_ = true; }
    void release() { held_ = false; }
    [[nodiscard]] bool held() const override { return held_; }
    void rejoin(port::Fn<void()> done) override;

    // Returns why the store refuses heartbeats; nullopt: the newest or the one before was taken.
    [[nodiscard]] std::optional<Error> refusal() const {
        return refused_ > 1 ? refusal_ : std::nullopt;
    }
    // Returns the table at the newest heartbeat, by epoch, without what was removed since.
    [[nodiscard]] std::vector<port::NodeRow> const& table() const { return table_; }
    [[nodiscard]] std::uint64_t removed() const { return removed_; }  // processes, by this one
    // The number of times that the other processes declared this one dead.
    [[nodiscard]] std::uint64_t fenced() const { return fenced_; }

private:
    // The store's reply to a heartbeat, and when the heartbeat was sent and the reply received.
    struct TimedReply {
        port::HeartbeatReply beat;
        Duration sent{};
        Duration received{};
    };

    // Runs `ask`, which returns a Result, on the thread; then `use` with it on the loop.
    template <class Ask, class Use> void on_thread(Ask ask, Use use);
    void beat();
    void wait(Duration since);
    void on_messages(Result<std::vector<std::string>> const& messages, Duration since);
    void answered(Epoch epoch, Duration sent, Result<TimedReply> reply);
    void remove(port::NodeRow const& unresponsive);

    static constexpr Duration rejoin_again{1'000};
    static constexpr Duration beat_apart{20};  // at least, however much is changed

    Services const services_;
    std::string const name_;
    std::function<Duration()> const clock_;
    port::SharedStore::Self self_;
    Listener listener_ = {};
    runner::Membership members_;
    StartPermission permission_{clock_};
    runner::StoreClock store_clock_;
    std::vector<port::NodeRow> table_;
    std::optional<Error> refusal_ = {};
    unsigned refused_ = 0;  // heartbeats, one after the other
    std::uint64_t removed_ = 0;
    std::uint64_t fenced_ = 0;
    bool held_ = false;
    Scope scope_;
};

}  // namespace dormouse::runtime
