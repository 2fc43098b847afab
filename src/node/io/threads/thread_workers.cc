#include "io/threads/thread_workers.h"

#include "io/memory_reserve.h"

#include <memory>
#include <new>
#include <utility>

namespace dormouse::io {

namespace {

// False: memory ran out. The reserve is left to the loop. The job is destroyed here, so that the
// loop releases shared objects last.
bool run_guarded(port::Fn<void(std::stop_token)> job, std::stop_token stop) {
    MemoryReserve::Refrain const refrain;
    try {
        job(std::move(stop));
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }
}

}  // namespace

std::stop_source ThreadWorkers::run(port::Fn<void(std::stop_token)> job,
                                    port::Fn<void(bool)> done) {
    // The caller's source. The pool's token also requests it, when the server ends.
    std::stop_source source;
    auto const shared_done = std::make_shared<port::Fn<void(bool)>>(std::move(done));
    auto task = [this, job = std::move(job), shared_done,
                 source](std::stop_token const& pool) mutable {
        std::stop_callback const forward(pool, [&source] { source.request_stop(); });
        bool const ran = run_guarded(std::move(job), source.get_token());
        loop_.post([shared_done, ran] { (*shared_done)(ran); });
    };
    if (auto queued = threads_.run(std::move(task)); !queued)
        loop_.post([shared_done] { (*shared_done)(false); });
    return source;
}

}  // namespace dormouse::io
