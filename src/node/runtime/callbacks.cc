#include "runtime/callbacks.h"

#include <cstdint>
#include <mutex>
#include <utility>

namespace dormouse::runtime {

Callbacks::Callbacks(Settings const& settings, port::Loop& loop)
    : executor_(settings.executor),
      notes_(settings.log),
      loop_(&loop),
      threads_({.threads = settings.callback_threads,
                .threads_max = settings.callback_threads + settings.tool_threads_max,
                .queue_max = SIZE_MAX,
                .name = "callback"}) {}

void Callbacks::run(port::Fn<void()> call) {
    struct Once {
        port::Fn<void()> call;
        std::once_flag ran;  // the executor may have run it before it threw
    };
    auto const shared = std::make_shared<Once>();
    shared->call = std::move(call);
    auto const once = [shared] {
        std::call_once(shared->ran, [&] { std::exchange(shared->call, {})(); });
    };
    if (executor_ && notes_.guard("the executor", [&] { executor_(once); })) return;
    if (!threads_.run([once](std::stop_token const&) { once(); })) once();
}

void Callbacks::post(port::Fn<void()> work) {
    std::lock_guard const lock(mutex_);
    if (loop_) loop_->post(std::move(work));
}

void Callbacks::forget_loop() {
    std::lock_guard const lock(mutex_);
    loop_ = nullptr;
}

}  // namespace dormouse::runtime
