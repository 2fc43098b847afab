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
#include "runtime/sole_owner.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::runtime {

class SharedNodes final : public port::Nodes {
public:
    struct Listener {
        // The others took this process for gone. Called until it takes part again.
        std::function<void()> fenced;
        // A heartbeat had an answer.
        std::function<void(port::Beat const&)> heard;
        // A process that uses the store, perhaps this one, said this.
        std::function<void(std::string_view)> said;
        // What the store's clock showed when `clock` was 0, at each heartbeat.
        std::function<void(Time)> measured;
    };

    struct World {
        port::Loop& loop;
        port::Journal& journal;
        port::SharedStore& store;
        port::Channel& channel;
        port::Workers& thread;  // one, for heartbeats alone: no other work delays them
    };

    // All in `world` outlive this, and no job runs on its thread any more when this is destroyed.
    // How it describes itself to the others: see port::NodeRow.
    struct Description {
        std::string name = {};
        std::string config = {};
    };
    // `clock` is also asked on the thread.
    SharedNodes(World world, Epoch epoch, Description description,
                std::function<Duration()> clock = io::boot_time)
        : world_(world),
          name_(std::move(description.name)),
          clock_(std::move(clock)),
          self_{.epoch = epoch, .config = std::move(description.config)} {}

    // Begins to send heartbeats. Each starts on the loop: one that stands still sends none.
    void start(Listener listener);
    // Where this process answers requests; told to the others.
    void set_url(std::string url) { self_.url = std::move(url); }
    // Takes no share of what is due any more.
    void drain();

    [[nodiscard]] Epoch epoch() const override { return self_.epoch; }
    [[nodiscard]] std::string const& name() const override { return name_; }
    [[nodiscard]] bool alone() const override { return false; }
    [[nodiscard]] bool gone(Epoch epoch) const override { return members_.gone(epoch); }
    [[nodiscard]] bool may_start() const override { return !held_ && members_.may_start(clock_()); }
    [[nodiscard]] bool has_share(std::uint64_t number) const override {
        return members_.has_share(self_.epoch, number);
    }
    [[nodiscard]] bool leads() const override { return !held_ && members_.leads(self_.epoch); }
    // The store is a copy: nothing is started until release().
    void hold() { held_ = true; }
    void release() { held_ = false; }
    [[nodiscard]] bool held() const override { return held_; }
    void rejoin(port::Fn<void()> done) override;

    // Why the store refuses heartbeats; nullopt: the newest or the one before was taken.
    [[nodiscard]] std::optional<Error> refusal() const {
        return refused_ > 1 ? refusal_ : std::nullopt;
    }
    // At the newest heartbeat, by epoch.
    [[nodiscard]] std::vector<port::NodeRow> const& table() const { return table_; }
    [[nodiscard]] std::uint64_t removed() const { return removed_; }  // processes, by this one
    // How often the others took this process for gone.
    [[nodiscard]] std::uint64_t fenced() const { return fenced_; }

private:
    // A heartbeat's answer, and between which times it was asked for.
    struct Heard {
        port::Beat beat;
        Duration sent{};
        Duration received{};
    };

    // Runs `ask`, which returns a Result, on the thread; then `use` with it on the loop.
    template <class Ask, class Use> void on_thread(Ask ask, Use use);
    void beat();
    void wait(Duration since);
    void took(Result<std::vector<std::string>> const& said, Duration since);
    void answered(Epoch epoch, Duration sent, Result<Heard> heard);
    void remove(port::NodeRow const& silent);

    static constexpr Duration rejoin_again{1'000};
    static constexpr Duration beat_apart{20};  // at least, however much is changed

    World const world_;
    std::string const name_;
    std::function<Duration()> const clock_;
    port::SharedStore::Self self_;
    Listener listener_ = {};
    runner::Membership members_;
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
