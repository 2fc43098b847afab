#pragma once
// One thread that runs the jobs it is given, in order.

#include "port/world.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dormouse::io {

class Worker {
public:
    // `name` is shown by ps and debuggers; the kernel keeps its first 15 characters.
    explicit Worker(std::string name);
    ~Worker();  // stop()
    Worker(Worker const&) = delete;
    Worker& operator=(Worker const&) = delete;

    // From any thread. False after stop(): the job is left untouched.
    [[nodiscard]] bool run(port::Fn<void()>& job);
    // Finishes what is queued and joins. REQUIRES: not called from a job. May be called twice.
    void stop();

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable wake_;
    // Protected by mutex_.
    std::vector<port::Fn<void()>> queue_;
    bool stopping_ = false;

    std::thread thread_;  // last: everything it uses stands before it starts
};

}  // namespace dormouse::io
