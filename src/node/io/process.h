#pragma once
// Runs programs: pipes and ends of processes are waited for on the loop, with a descriptor for each
// process (pidfd), so that no signal handler and no thread is needed.

#include "io/loop.h"
#include "port/process.h"

#include <deque>
#include <map>
#include <memory>

namespace dormouse::io {

class Child;

// Each program runs below a guard (io/guard.h), which is this executable started again: its main()
// must call guard_main(). A program with a share leaves some room to those without one, and to
// other shares; when there is none, the one that has rested longest gives way.
// REQUIRES: SIGPIPE is ignored (io/signals.h): a program may end without reading its input.
class ProcessHost final : public port::Processes {
public:
    struct Limits {
        std::size_t running = 256;
        std::size_t shared = 192;  // with a share
        std::size_t share = 144;   // of one share
    };
    // Between the request to end and the end by force.
    static constexpr Duration grace{2'000};
    // Until another has given way.
    static constexpr Duration wait_limit{20'000};

    explicit ProcessHost(AsioLoop& loop) : ProcessHost(loop, Limits()) {}
    ProcessHost(AsioLoop& loop, Limits limits) : loop_(loop), limits_(limits) {}
    // Ends by force whatever still runs.
    ~ProcessHost() override;
    ProcessHost(ProcessHost const&) = delete;
    ProcessHost& operator=(ProcessHost const&) = delete;

    Number start(port::ProcessSpec spec, port::Fn<void(port::ProcessEnd)> done) override;
    void stop(Number process) override;
    void write(Number process, std::string_view bytes) override;
    void end(Number process) override;
    void kill(Number process) override;
    void rest(Number process, port::Fn<void()> give_way) override;
    void work(Number process) override;
    [[nodiscard]] std::size_t running() const { return children_.size(); }

private:
    using Done = port::Fn<void(port::ProcessEnd)>;
    struct Waiting {
        Number number = 0;
        port::ProcessSpec spec;
        Done done;
    };
    struct Resting {
        Number process = 0;
        port::Fn<void()> give_way;
    };

    [[nodiscard]] std::size_t sharing(std::string const& share) const;  // empty: all that share
    [[nodiscard]] bool has_room(std::string const& share) const;
    [[nodiscard]] bool makes_room(std::string const& share);
    void launch(Number number, port::ProcessSpec spec, Done done);
    void refuse(int error_number, Done done);
    void gone(Number number, Done done, port::ProcessEnd end);
    void take_waiting();
    void give_up_waiting(Number number, bool tells);

    AsioLoop& loop_;
    Limits const limits_;
    Number last_ = 0;
    std::map<Number, std::shared_ptr<Child>> children_;
    std::deque<Waiting> waiting_;  // for room
    std::deque<Resting> resting_;  // longest first
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::io
