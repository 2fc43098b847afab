#include "io/thread_workers.h"

#include <memory>

namespace dormouse::io {

std::stop_source ThreadWorkers::run(port::Fn<void(std::stop_token)> job,
                                    port::Fn<void(bool)> done) {
    // The caller's source, and the pool's: either may ask the job to stop, and the pool's does when
    // the server ends.
    std::stop_source source;
    auto const shared_done = std::make_shared<port::Fn<void(bool)>>(std::move(done));
    auto task = [this, job = std::move(job), shared_done,
                 source](std::stop_token const& pool) mutable {
        std::stop_callback const forward(pool, [&source] { source.request_stop(); });
        job(source.get_token());
        loop_.post([shared_done] { (*shared_done)(true); });
    };
    if (auto queued = threads_.run(std::move(task)); !queued)
        loop_.post([shared_done] { (*shared_done)(false); });
    return source;
}

}  // namespace dormouse::io
