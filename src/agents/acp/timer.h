#pragma once
// A timer of the loop that can be set again and stopped; an earlier setting then never runs.
// Stopped when it is destroyed.
// Example: set(2 s, a); set(5 s, b) runs only b, after 5 s.

#include "port/world.h"

#include <cstdint>
#include <memory>
#include <utility>

namespace dormouse::acp {

class Timer {
public:
    explicit Timer(port::Loop& loop) : loop_(loop) {}

    void set(Duration delay, port::Fn<void()> then) {
        state_->then = std::move(then);
        loop_.after(delay, [weak = std::weak_ptr(state_), generation = ++state_->generation] {
            auto const state = weak.lock();
            if (!state || state->generation != generation || !state->then) return;
            auto run = std::exchange(state->then, nullptr);
            run();
        });
    }
    void stop() { state_->then = nullptr; }
    [[nodiscard]] bool is_set() const { return static_cast<bool>(state_->then); }

private:
    struct State {
        std::uint64_t generation = 0;  // a delay of an earlier set() does nothing
        port::Fn<void()> then = {};
    };

    port::Loop& loop_;
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace dormouse::acp
