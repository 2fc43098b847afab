#pragma once
// Events as text: one line each for `tail`, and a whole turn for `prompt`. Pure.

#include "cli/client/draft_text.h"
#include "cli/render/render.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::cli {

// "  12  21:13:05  model_replied  step 1: deploy {"target":"A"}", cut to `columns` (0: not cut).
[[nodiscard]] std::string event_line(json::View event, std::size_t columns, Style style);

// Follows one turn through the session's events and prints what the agent says, which tools it
// calls and how they end. Streamed text is printed at once; the durable reply completes or replaces
// it.
class TurnStory {
public:
    TurnStory(std::string turn_id, Style style) : turn_id_(std::move(turn_id)), style_(style) {}

    struct StoryLine {
        std::string text;
        bool may_sleep = false;                  // nothing seems to run: ask the session
        std::optional<std::string> finish = {};  // set when the turn ends: the reason
    };
    // `type` and `data` come from the stream: an Event, or a provisional delta.
    [[nodiscard]] StoryLine on_event(std::string_view type, json::View event);
    // Returns a line break if text left its line open; else nothing.
    [[nodiscard]] std::string end_line();

private:
    [[nodiscard]] std::string delta(json::View delta);
    [[nodiscard]] std::string reply(json::View data);
    [[nodiscard]] std::string update(json::View data);
    [[nodiscard]] std::string call(json::View call, std::string const& id);
    [[nodiscard]] std::string outcome(std::string_view type, json::View data) const;
    [[nodiscard]] std::string name_of(json::View data) const;

    std::string turn_id_;
    Style style_;
    std::map<std::string, std::string, std::less<>> calls_;  // callID → "deploy {"target":"A"}"
    DraftText draft_;
    std::string streamed_;  // provisional text on the screen, not yet durable
    std::string failure_;   // the last reported failure of the model
    bool open_ = false;     // the text on the screen does not end with a line break
};

// Follows one pending call through the events of its session; `demo` checks the counts.
struct Consumption {
    int tool_starts = 0;
    int settlements = 0;  // events that settled it
    int steps_after = 0;  // committed model steps whose request saw the settlement
    int turns_ended = 0;
    std::string answer = {};  // the text of the last step
};
class ConsumptionCount {
public:
    explicit ConsumptionCount(std::string pending_id) : pending_id_(std::move(pending_id)) {}
    void add(json::View event);
    [[nodiscard]] Consumption const& result() const { return result_; }

private:
    std::string pending_id_;
    std::int64_t settled_seq_ = 0;
    std::int64_t view_seq_ = 0;  // the newest event that the current model request sees
    Consumption result_;
};

}  // namespace dormouse::cli
