#pragma once
// Reports what people type on an agent's own screen, before what the agent answers to it. ACP
// reports only the answer, so the feed holds an answer back while it reads what was typed.
// Example: news "hi" comes by itself; the feed reads the screen and finds "hello"; it reports
// "hello", then "hi".

#include "acp/screen.h"
#include "session/program.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

namespace dormouse::acp {

class ScreenFeed {
public:
    struct Listener {
        // Where the screen is read now; nullopt: it has none, or no session.
        std::function<std::optional<ScreenPlace>()> place;
        std::function<void(session::AgentTyped)> on_typed;
        std::function<void(session::News, bool by_itself)> on_news;
    };
    // `http` is null if the agent has no screen. All outlive this.
    ScreenFeed(port::HttpClient* http, Listener listener)
        : http_(http), listener_(std::move(listener)) {}

    // Reads what was typed since the last time.
    void read();
    // Reports `news` after what was typed before it.
    void add(session::News news, bool by_itself);
    // Reports `news` next, unless earlier news wait for a reading.
    void add_plain(session::News news, bool by_itself);
    // Reports all that waits: the agent is gone.
    void drain() {
        covered_ = 0;
        report(news_.size());
    }

private:
    struct Late {
        session::News news;
        bool by_itself = false;
    };
    enum class State : std::uint8_t { idle, reading, reading_and_due };

    void on_read(std::vector<session::AgentTyped> const& typed);
    void report(std::size_t count);  // the oldest

    port::HttpClient* const http_;
    Listener const listener_;
    State state_ = State::idle;
    std::optional<std::int64_t> typed_until_;  // nullopt: nothing was read yet
    std::deque<Late> news_;
    std::size_t covered_ = 0;  // of news_, by the reading that is under way
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::acp
