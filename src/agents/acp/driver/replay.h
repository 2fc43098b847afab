#pragma once
// The user's messages in a session that the agent replays. They show whether a prompt of ours
// reached the agent: each prompt holds a marker (session/external_agent.h).
// Example: record(); add("hello <!-- dormouse:.../1.1.1 -->"); end(true); then holds() finds the
// marker of attempt 1.

#include "acp/driver/prompt.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::acp {

class Replay {
public:
    void record() { reset(State::recording); }
    void add(std::string_view text) {
        text_.append(text).append("\n");
        if (text_.size() > bytes_max) text_.erase(0, text_.size() - bytes_max / 2);
    }
    // `whole`: the agent has replayed the whole session.
    void end(bool whole) { state_ = whole ? State::whole : State::none; }
    void clear() { reset(State::none); }

    [[nodiscard]] bool is_recording() const { return state_ == State::recording; }
    [[nodiscard]] bool is_whole() const { return state_ == State::whole; }
    // See holds_marker().
    [[nodiscard]] bool holds(std::string const& marker, std::uint32_t attempt,
                             std::uint32_t from = 1) const {
        return holds_marker(text_, marker, attempt, from);
    }

private:
    enum class State : std::uint8_t { none, recording, whole };
    static constexpr std::size_t bytes_max = std::size_t{16} << 20;

    void reset(State to) {
        state_ = to;
        text_.clear();
    }

    State state_ = State::none;
    std::string text_;
};

}  // namespace dormouse::acp
