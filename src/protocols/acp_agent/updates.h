#pragma once
// A session's events as the updates that an editor is told (Agent Client Protocol, version 1), and
// what stays open: approvals, questions, turns. Pure. The same function tells what happens and what
// has happened, so a conversation that is loaded looks as it did live.

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

// The end of a turn, as the answer to the prompt that began it.
struct AcpEnd {
    std::string turn = {};
    std::string stop_reason = {};  // empty: it failed, and `error` says how
    std::string error = {};
};

struct AcpTold {
    std::vector<Json> updates = {};  // members `update` of session/update
    std::vector<AcpEnd> ends = {};
    std::vector<std::string> asked = {};    // pendingIDs: a person is to decide
    std::vector<std::string> settled = {};  // … no more
    bool rests = false;                     // nothing moves until somebody answers `questions()`
    bool gone = false;                      // the session is deleted
};

class AcpUpdates {
public:
    // A frame of the event stream: `type` is its event, `event` its data. With `replay` the user's
    // own messages are told too, which an editor that sent them has.
    [[nodiscard]] AcpTold tell(std::string_view type, json::View event, bool replay);

    // This message was sent by the editor: it is not told what it said.
    void own_message(std::string id) { own_.insert(std::move(id)); }
    // Approvals that wait, oldest first.
    [[nodiscard]] std::vector<std::string> approvals() const;
    // Questions that wait for an answer in words, oldest first.
    [[nodiscard]] std::deque<std::string> const& questions() const { return questions_; }
    // One of `asked` that the editor can not show: it is answered with the next message.
    void ask_in_words(std::string const& pending);
    [[nodiscard]] bool open(std::string const& turn) const { return open_turn_ == turn; }
    // It asks what became of a call that a crash cut off.
    [[nodiscard]] bool of_doubt(std::string const& pending) const {
        auto const found = pauses_.find(pending);
        return found != pauses_.end() && found->second.of_doubt;
    }
    [[nodiscard]] std::string const& open_turn() const { return open_turn_; }
    // Under which id the editor knows the tool call that a call of ours asks about.
    [[nodiscard]] std::string tool_call_id(std::string const& call) const;

private:
    struct Pause {
        std::string call;
        std::string reason;
        bool of_doubt = false;
        bool goes_on = false;  // what settles it does not end the call
    };

    void take(std::string_view type, json::View event, bool replay, AcpTold& out);
    void take_delta(json::View data, AcpTold& out);
    void take_input(json::View data, bool replay, AcpTold& out);
    void take_reply(json::View data, AcpTold& out);
    void take_update(json::View data, AcpTold& out);
    void take_permission(json::View data, AcpTold& out);
    void take_pause(std::string_view type, json::View data, AcpTold& out);
    void take_outcome(std::string_view type, json::View data, AcpTold& out);
    void take_transcript(json::View messages, AcpTold& out);
    void take_end(json::View event, AcpTold& out);
    void settle(std::string const& pending, AcpTold& out);

    std::map<std::string, Pause> pauses_;  // by pendingID; only open ones
    std::deque<std::string> asked_;
    std::deque<std::string> questions_;
    std::set<std::string> own_;
    std::map<std::string, std::string> own_tools_;  // callID → id of the program's own tool call
    std::set<std::string> shown_;  // tool calls of the program, that have not ended
    bool started_ = false;         // the program is there, or said to be started
    std::string open_turn_;
    std::string activity_;  // as it was told last
    // What was streamed of the reply that is being made.
    DraftText pieces_;
    std::string draft_;  // which reply and attempt
    std::string draft_text_;
    std::string draft_thought_;
};

}  // namespace dormouse::acp_agent
