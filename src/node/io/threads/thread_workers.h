#pragma once
// Runs jobs on tool threads and reports their end on the loop.

#include "io/threads/tool_threads.h"
#include "port/effects.h"

namespace dormouse::io {

class ThreadWorkers final : public port::Workers {
public:
    // The arguments outlive this.
    ThreadWorkers(ToolThreads& threads, port::Loop& loop) : threads_(threads), loop_(loop) {}
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override;

private:
    ToolThreads& threads_;
    port::Loop& loop_;
};

}  // namespace dormouse::io
