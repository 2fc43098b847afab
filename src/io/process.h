#pragma once
// Runs programs: pipes and ends of processes are waited for on the loop, with a descriptor for each
// process (pidfd), so that no signal handler and no thread is needed.

#include "io/loop.h"
#include "port/process.h"

#include <map>
#include <memory>

namespace dormouse::io {

class Child;

// REQUIRES: SIGPIPE is ignored (io/signals.h): a program may end without reading its input.
class ProcessHost final : public port::Processes {
public:
    static constexpr std::size_t running_max = 256;
    // Between the request to end and the end by force.
    static constexpr Duration grace{2'000};

    explicit ProcessHost(AsioLoop& loop);
    // Ends by force whatever still runs.
    ~ProcessHost() override;
    ProcessHost(ProcessHost const&) = delete;
    ProcessHost& operator=(ProcessHost const&) = delete;

    Number start(port::ProcessSpec spec, port::Fn<void(port::ProcessEnd)> done) override;
    void stop(Number process) override;
    void write(Number process, std::string_view bytes) override;
    void end(Number process) override;
    void kill(Number process) override;
    [[nodiscard]] std::size_t running() const { return children_.size(); }

private:
    AsioLoop& loop_;
    Number last_ = 0;
    std::map<Number, std::shared_ptr<Child>> children_;
};

}  // namespace dormouse::io
