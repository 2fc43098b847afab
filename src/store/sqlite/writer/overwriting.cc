#include "store/sqlite/writer/overwriting.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <optional>
#include <system_error>

namespace dormouse::store::sqlite {

namespace {

using std::chrono::milliseconds, std::chrono::steady_clock;

// How many times as long as a step the thread rests, for those who write.
constexpr int pause = 3, gentle_pause = 9;
constexpr milliseconds wait_for_memory{1'000};

std::optional<milliseconds> overwrite_step(Writer& writer) {
    try {
        return writer.overwrite_some();
    } catch (std::bad_alloc const&) {
        return wait_for_memory;
    }
}

}  // namespace

// The thread takes no signals: the program's own threads handle them.
void Overwriting::start() {
    if (works_) {
        if (writer_.is_urgent()) ended_.notify_all();
        return;
    }
    works_ = true;
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    // A former thread has ended but for its return.
    try {
        thread_ = std::jthread([this](std::stop_token const& stop) { run(stop); });
    } catch (std::system_error const&) {
        works_ = false;  // no thread now: the next commit tries again
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Overwriting::run(std::stop_token const& stop) {
    std::unique_lock held(lock_);
    while (!stop.stop_requested()) {
        auto const begun = steady_clock::now();
        auto const least = overwrite_step(writer_);
        if (!least) break;
        bool const gentle = !writer_.is_urgent();
        auto const took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begun) *
                          (gentle ? gentle_pause : pause);
        ended_.wait_for(held, stop, std::max(*least, took),
                        [&] { return gentle && writer_.is_urgent(); });
    }
    works_ = false;
}

}  // namespace dormouse::store::sqlite
