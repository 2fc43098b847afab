#pragma once
// Reports what people type on an agent's own screen, before the agent's answer to it. ACP reports
// only the answer, so the feed holds an answer back while it reads what was typed.
// Example: the agent reports "hi" without a prompt; the feed reads the screen and finds "hello"; it
// reports "hello", then "hi".

#include "acp/driver/screen.h"
#include "base/scope.h"
#include "session/external_agent.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

namespace dormouse::acp {

class ScreenFeed {
public:
    struct Listener {
        // Where to read the screen now; nullopt: there is no screen or no session.
        std::function<std::optional<ScreenPlace>()> place;
        std::function<void(session::AgentTyped)> on_typed;
        std::function<void(session::AgentOutput, bool by_itself)> on_output;
    };
    // `http` is null if the agent has no screen. All arguments outlive this.
    ScreenFeed(port::HttpClient* http, Listener listener)
        : http_(http), listener_(std::move(listener)) {}

    // Reads what was typed since the last reading.
    void read();
    // Reports `output` after everything that was typed before it.
    void add(session::AgentOutput output, bool by_itself);
    // Reports `output` next, unless earlier output waits for a reading.
    void add_plain(session::AgentOutput output, bool by_itself);
    // Reports everything that waits, because the agent has ended.
    void drain() {
        covered_ = 0;
        report(outputs_.size());
    }

private:
    struct Late {
        session::AgentOutput output;
        bool by_itself = false;
    };
    enum class State : std::uint8_t { idle, reading, reading_and_due };

    void on_read(std::vector<session::AgentTyped> const& typed);
    void report(std::size_t count);  // the oldest

    port::HttpClient* const http_;
    Listener const listener_;
    State state_ = State::idle;
    std::optional<std::int64_t> typed_until_;  // nullopt: nothing was read yet
    std::deque<Late> outputs_;
    std::size_t covered_ = 0;  // how many of outputs_ the current reading covers
    Scope scope_;
};

}  // namespace dormouse::acp
