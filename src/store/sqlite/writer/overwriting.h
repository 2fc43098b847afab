#pragma once
// The thread that overwrites what redactions and removals have left in the files
// (Writer::overwrite_some), in steps between which the store writes. It exists while there is
// something to do.

#include "store/sqlite/writer/writer.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace dormouse::store::sqlite {

class Overwriting {
public:
    // `lock`: of the writer. Both outlive it.
    Overwriting(Writer& writer, std::mutex& lock) : writer_(writer), lock_(lock) {}
    // Ends the thread after its step; the next open of the store begins again.
    ~Overwriting() = default;
    Overwriting(Overwriting const&) = delete;
    Overwriting& operator=(Overwriting const&) = delete;

    // Also ends the wait before a pass over removals if a redaction has something to do. REQUIRES:
    // the lock is locked.
    void start();

private:
    void run(std::stop_token const& stop);

    Writer& writer_;
    std::mutex& lock_;
    bool works_ = false;  // protected by lock_
    std::condition_variable_any ended_;
    std::jthread thread_;  // last member: it uses the others
};

}  // namespace dormouse::store::sqlite
