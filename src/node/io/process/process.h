#pragma once
// Runs programs. The loop waits for pipes and for the ends of processes, with a pidfd for each
// process, so no signal handler and no thread is needed.

#include "base/scope.h"
#include "io/loop.h"
#include "port/process.h"

#include <deque>
#include <map>
#include <memory>

namespace dormouse::io {

class Child;

// Runs each program under a guard (io/process/guard.h), which is this executable started again:
// main() must call guard_main(). Programs with a share leave some capacity to programs without one
// and to other shares; when it is used up, the program that has been idle longest is asked to end.
// REQUIRES: SIGPIPE is ignored (io/process/signals.h), because a program may end without reading
// its input.
class ProcessHost final : public port::Processes {
public:
    struct Limits {
        std::size_t running = 256;
        std::size_t shared = 192;  // for all programs with a share
        std::size_t share = 144;   // for one share
    };
    // Time between the request to end and SIGKILL.
    static constexpr Duration grace{2'000};
    // Maximum time that a program waits for another one to end.
    static constexpr Duration wait_limit{20'000};

    explicit ProcessHost(AsioLoop& loop) : ProcessHost(loop, Limits()) {}
    ProcessHost(AsioLoop& loop, Limits limits) : loop_(loop), limits_(limits) {}
    // Kills the programs that still run.
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

    // empty: programs with any share
    [[nodiscard]] std::size_t sharing(std::string const& share) const;
    [[nodiscard]] bool has_capacity(std::string const& share) const;
    [[nodiscard]] bool frees_capacity(std::string const& share);
    void launch(Number number, port::ProcessSpec spec, Done done);
    void refuse(int error_number, Done done);
    void gone(Number number, Done done, port::ProcessEnd end);
    void take_waiting();
    void give_up_waiting(Number number, bool reports);

    AsioLoop& loop_;
    Limits const limits_;
    Number last_ = 0;
    std::map<Number, std::shared_ptr<Child>> children_;
    std::deque<Waiting> waiting_;  // for capacity
    std::deque<Resting> resting_;  // longest idle first
    Scope scope_;
};

}  // namespace dormouse::io
