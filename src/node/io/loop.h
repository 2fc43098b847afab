#pragma once
// The I/O thread: one io_context of Asio behind the plain face of port::Loop. Asio itself is seen
// only by those who include "io/asio.h".

#include "port/world.h"

#include <memory>

namespace dormouse::io {

class AsioLoop final : public port::Loop {
public:
    AsioLoop();  // with the machine's clock
    // `clock` says when delayed work is due; it outlives the loop.
    explicit AsioLoop(port::Clock const& clock);
    // REQUIRES: run() is not running. What is still queued is destroyed without being run.
    ~AsioLoop() override;
    AsioLoop(AsioLoop const&) = delete;
    AsioLoop& operator=(AsioLoop const&) = delete;

    // From any thread. Work runs in the order of posting; many posts cost one wake-up of the loop.
    void post(port::Fn<void()> work) override;
    // From the loop's thread (or before run()).
    void after(Duration delay, port::Fn<void()> work) override;

    // Runs the delayed work that is due. From the loop's thread; needed only after a clock was
    // moved by hand, otherwise the loop wakes by itself.
    void run_due();

    // The calling thread is the loop until stop() is called. May be run again afterwards.
    void run();
    // From any thread: run() returns after the work in hand. What has not run stays queued.
    void stop();

    struct Impl;  // known to io/asio.h's context_of() alone
    [[nodiscard]] Impl& impl() { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::io
