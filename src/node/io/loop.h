#pragma once
// The I/O thread: an Asio io_context behind port::Loop. Asio itself is visible only through
// "io/asio.h".

#include "port/world.h"

#include <memory>

namespace dormouse::io {

class AsioLoop final : public port::Loop {
public:
    AsioLoop();  // uses the machine's clock
    // `clock` decides when delayed work is due, and outlives the loop.
    explicit AsioLoop(port::Clock const& clock);
    // REQUIRES: run() is not running. Queued work is destroyed without being run.
    ~AsioLoop() override;
    AsioLoop(AsioLoop const&) = delete;
    AsioLoop& operator=(AsioLoop const&) = delete;

    // Any thread. Work runs in the order of posting; many posts wake the loop once.
    void post(port::Fn<void()> work) override;
    // The loop's thread, or before run().
    void after(Duration delay, port::Fn<void()> work) override;

    // Runs the delayed work that is due. The loop's thread; needed only after a clock was moved by
    // hand.
    void run_due();

    // The calling thread becomes the loop until stop(). May be called again afterwards.
    void run();
    // Any thread: run() returns after the current work. Other work stays queued.
    void stop();

    struct Impl;  // used only by context_of() of io/asio.h
    [[nodiscard]] Impl& impl() { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::io
