#pragma once
// Events in words: a line each for `tail`, and a turn as it is told by `prompt`. Pure: events in,
// text out.

#include "cli/client/draft_text.h"
#include "cli/render/render.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::cli {

// "  12  21:13:05  model_replied  step 1: deploy {"target":"A"}", cut to `columns` (0: not cut).
[[nodiscard]] std::string event_line(json::View event, std::size_t columns, Style style);

// Follows one turn through the session's events and tells it: what the agent says, which tools it
// calls, how they end. Text that streams is shown at once; the durable reply completes or replaces
// it.
class TurnStory {
public:
    TurnStory(std::string turn_id, Style style) : turn_id_(std::move(turn_id)), style_(style) {}

    struct Told {
        std::string text;
        bool may_sleep = false;                  // nothing seems to run: ask the session
        std::optional<std::string> finish = {};  // the turn ended for this reason
    };
    // `type` and `data` as the stream brings them: an Event, or a provisional delta.
    [[nodiscard]] Told tell(std::string_view type, json::View event);
    // A line break after text whose line is open; else nothing.
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
    std::string streamed_;  // provisional text on the screen, not yet confirmed
    std::string failure_;   // of the model, as it was told last
    bool open_ = false;     // what is on the screen ends without a line break
};

// What the events of a session say about one pending call: the account that `demo` checks.
struct Consumption {
    int tool_starts = 0;
    int settlements = 0;  // events that settled it
    int steps_after = 0;  // committed model steps that saw the settlement
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
    std::int64_t view_seq_ = 0;  // what the newest model request sees
    Consumption result_;
};

}  // namespace dormouse::cli
