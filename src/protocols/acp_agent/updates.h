#pragma once
// Converts a session's events to updates for an editor (Agent Client Protocol, version 1), and
// keeps what is open: approvals, questions, turns. Pure. Live and replayed events use the same
// function, so a loaded conversation looks as it did live.

#include "cli/client/draft_text.h"
#include "json/json.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::acp_agent {

using cli::DraftText;

// The end of a turn: the answer to the prompt that started it.
struct AcpEnd {
    std::string turn = {};
    std::string stop_reason = {};  // empty: the turn failed, and `error` has the reason
    std::string error = {};
};

struct AcpReport {
    std::vector<Json> updates = {};  // members `update` of session/update
    std::vector<AcpEnd> ends = {};
    std::vector<std::string> asked = {};    // pendingIDs that a person must decide now
    std::vector<std::string> settled = {};  // pendingIDs that need no decision any more
    bool rests = false;                     // nothing happens until somebody answers `questions()`
    bool gone = false;                      // the session was deleted
};

class AcpUpdates {
public:
    // Takes a frame of the event stream: `type` is its event, `event` its data. With `replay`, the
    // user's own messages are reported too; an editor that sent them has them already.
    [[nodiscard]] AcpReport on_event(std::string_view type, json::View event, bool replay);

    // The editor sent this message: it is not reported back to it.
    void own_message(std::string id) { own_.insert(std::move(id)); }
    // Waiting approvals, oldest first.
    [[nodiscard]] std::vector<std::string> approvals() const;
    // Questions that wait for an answer as text, oldest first.
    [[nodiscard]] std::deque<std::string> const& questions() const { return questions_; }
    // Marks one of `asked` that the editor cannot show: the next message answers it.
    void ask_in_words(std::string const& pending);
    [[nodiscard]] bool open(std::string const& turn) const { return open_turn_ == turn; }
    // Returns true if the question concerns a call that a crash interrupted.
    [[nodiscard]] bool of_doubt(std::string const& pending) const {
        auto const found = pauses_.find(pending);
        return found != pauses_.end() && found->second.of_doubt;
    }
    [[nodiscard]] std::string const& open_turn() const { return open_turn_; }
    // Returns the editor's id of the tool call that our call asks about.
    [[nodiscard]] std::string tool_call_id(std::string const& call) const;

private:
    struct Pause {
        std::string call;
        std::string reason;
        bool of_doubt = false;
        bool continues = false;  // settling it does not end the call
    };

    void take(std::string_view type, json::View event, bool replay, AcpReport& out);
    void take_delta(json::View data, AcpReport& out);
    void take_input(json::View data, bool replay, AcpReport& out);
    void take_reply(json::View data, AcpReport& out);
    void take_update(json::View data, AcpReport& out);
    void take_permission(json::View data, AcpReport& out);
    void take_budget(json::View data, AcpReport& out);
    void take_pause(std::string_view type, json::View data, AcpReport& out);
    void take_outcome(std::string_view type, json::View data, AcpReport& out);
    void take_transcript(json::View messages, AcpReport& out);
    void take_end(json::View event, AcpReport& out);
    void settle(std::string const& pending, AcpReport& out);

    std::map<std::string, Pause> pauses_;  // by pendingID; only open ones
    std::deque<std::string> asked_;
    std::deque<std::string> questions_;
    std::set<std::string> own_;
    std::map<std::string, std::string>
        own_tools_;                // callID → id of the external agent's own tool call
    std::set<std::string> shown_;  // the external agent's tool calls that have not ended
    bool started_ = false;         // the external agent runs, or its start was reported
    std::string open_turn_;
    std::string activity_;  // as last reported
    // The streamed part of the current reply.
    DraftText pieces_;
    std::string draft_;  // its reply and attempt
    std::string draft_text_;
    std::string draft_thought_;
};

}  // namespace dormouse::acp_agent
