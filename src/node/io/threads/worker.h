#pragma once
// One thread that runs jobs in order.

#include "port/world.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dormouse::io {

class Worker {
public:
    // `name` is shown by ps and debuggers; the kernel keeps 15 characters of it.
    explicit Worker(std::string name);
    ~Worker();  // stop()
    Worker(Worker const&) = delete;
    Worker& operator=(Worker const&) = delete;

    // Any thread. False after stop(): the job is not moved from.
    [[nodiscard]] bool run(port::Fn<void()>& job);
    // Finishes the queue and joins. REQUIRES: not called from a job. May be called twice.
    void stop();

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable wake_;
    // Protected by mutex_.
    std::vector<port::Fn<void()>> queue_;
    bool stopping_ = false;

    std::thread thread_;  // last member: started after everything it uses
};

}  // namespace dormouse::io
