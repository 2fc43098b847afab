#include "acp/driver/screen_feed.h"

#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

void ScreenFeed::read() {
    auto const place = http_ ? listener_.place() : std::nullopt;
    if (!place) return drain();
    if (state_ != State::idle) {
        state_ = State::reading_and_due;
        return;
    }
    state_ = State::reading;
    covered_ = outputs_.size();
    read_messages(*http_, *place,
                  scope_.guard([this](std::vector<AgentTyped> const& typed) { on_read(typed); }));
}

void ScreenFeed::on_read(std::vector<AgentTyped> const& typed) {
    // Answers given while this process runs are reported by the agent itself.
    bool const recovers = !typed_until_;
    if (recovers) typed_until_ = 0;
    for (AgentTyped one : typed) {
        if (one.at <= *typed_until_) continue;
        typed_until_ = one.at;
        if (!recovers) one.answer = {};
        listener_.on_typed(std::move(one));
    }
    report(covered_);
    bool const due = std::exchange(state_, State::idle) == State::reading_and_due;
    if (due || !outputs_.empty()) read();
}

void ScreenFeed::add(AgentOutput output, bool by_itself) {
    outputs_.push_back({std::move(output), by_itself});
    read();
}

void ScreenFeed::add_plain(AgentOutput output, bool by_itself) {
    if (!outputs_.empty()) return add(std::move(output), by_itself);
    listener_.on_output(std::move(output), by_itself);
}

void ScreenFeed::report(std::size_t count) {
    for (; count > 0 && !outputs_.empty(); --count) {
        Late late = std::move(outputs_.front());
        outputs_.pop_front();
        listener_.on_output(std::move(late.output), late.by_itself);
    }
}

}  // namespace dormouse::acp
