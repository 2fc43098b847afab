#pragma once
// Turns the updates of an ACP agent into what a journal keeps: gathers pieces of text into
// messages, and reports a tool call when it changes. Pure.
// Example: add("Hel"), add("lo") show two deltas and keep nothing yet; flush() then returns one
// message, "Hello".

#include "acp/protocol_types.h"
#include "port/effects.h"
#include "session/program.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::acp {

class UpdateCoalescer {
public:
    static constexpr std::size_t piece_bytes_max = std::size_t{64} << 10;  // then it is kept
    static constexpr std::size_t message_bytes_max = std::size_t{1} << 20;
    static constexpr std::size_t value_bytes_max = std::size_t{256} << 10;  // input or output

    struct Added {
        std::vector<session::News> news = {};   // to be kept, in this order
        std::optional<port::Delta> delta = {};  // to be shown at once
        std::string title = {};                 // the agent's own title of the session
    };

    // `brief`: there are too many updates. Then only the newest state of the plan and of an open
    // tool call is kept, some time later.
    [[nodiscard]] Added add(Update update, bool brief = false);
    // Returns what was added and is not kept yet.
    [[nodiscard]] std::vector<session::News> flush();
    // What is added next begins another message.
    void end_message() {
        begun_ = false;
        bytes_ = 0;
    }
    // The input of a tool call that is open; null: not reported.
    [[nodiscard]] Json input_of(std::string const& call) const {
        auto const found = tools_.find(call);
        return found == tools_.end() ? Json() : found->second.input;
    }
    // Fills in what the request leaves out and updates of its tool call reported before.
    void complete(Question& question) const;
    // What updates reported of an open tool call: an object with some of name, kind, title, input
    // and locations. nullopt: not all of it was kept.
    [[nodiscard]] std::optional<Json> reported_of(std::string const& call) const;
    [[nodiscard]] bool has_more() const { return !parts_.empty() || plan_; }  // for flush()
    // Forgets everything: another prompt begins.
    void reset() { *this = {}; }

private:
    struct Part {
        bool reasoning = false;
        std::string text;
    };
    struct ToolCall {
        session::AgentToolStatus status = session::AgentToolStatus::pending;
        std::string title, kind, name;
        Json input, output, locations;
        bool cut = false;       // the input or the locations are not whole
        std::string kept = {};  // status, title and input as they were kept last
    };

    [[nodiscard]] Added add_text(AgentText text);
    [[nodiscard]] Added add_tool(ToolChange change, bool brief);
    [[nodiscard]] static session::News news_of(std::string const& id, ToolCall const& call);

    std::optional<session::News> plan_;  // not kept yet
    std::vector<Part> parts_;            // of the message, not kept yet
    std::size_t part_bytes_ = 0;         // of parts_
    std::size_t bytes_ = 0;              // of the message
    bool begun_ = false;                 // a part of the message is kept already
    std::string message_id_;
    std::map<std::string, ToolCall> tools_;
};

}  // namespace dormouse::acp
