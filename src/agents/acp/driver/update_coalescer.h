#pragma once
// Converts the updates of an ACP agent to what a journal keeps: joins pieces of text into messages,
// and reports a tool call when it changes. Pure.
// Example: add("Hel") and add("lo") show two deltas and keep nothing; flush() then returns one
// message, "Hello".

#include "acp/protocol_types.h"
#include "port/effects.h"
#include "session/external_agent.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::acp {

class UpdateCoalescer {
public:
    static constexpr std::size_t piece_bytes_max = std::size_t{64}
                                                   << 10;  // a longer piece is kept at once
    static constexpr std::size_t message_bytes_max = std::size_t{1} << 20;
    static constexpr std::size_t value_bytes_max = std::size_t{256} << 10;  // input or output

    struct Added {
        std::vector<session::AgentOutput> outputs = {};  // to keep, in this order
        std::optional<port::Delta> delta = {};           // to show at once
        std::string title = {};                          // the agent's own title of the session
    };

    // `brief`: there are too many updates. Then the plan and an open tool call are kept later, and
    // only in their newest state.
    [[nodiscard]] Added add(Update update, bool brief = false);
    // Returns what was added and not kept yet.
    [[nodiscard]] std::vector<session::AgentOutput> flush();
    // The next text begins another message.
    void end_message() {
        begun_ = false;
        bytes_ = 0;
    }
    // Returns the input of an open tool call; null: not reported.
    [[nodiscard]] Json input_of(std::string const& call) const {
        auto const found = tools_.find(call);
        return found == tools_.end() ? Json() : found->second.input;
    }
    // Adds to the question what earlier updates of its tool call reported and the request leaves
    // out.
    void complete(Question& question) const;
    // Returns what updates reported of an open tool call: an object with some of name, kind, title,
    // input and locations. nullopt: a part of it was not kept.
    [[nodiscard]] std::optional<Json> reported_of(std::string const& call) const;
    [[nodiscard]] bool has_more() const {
        return !parts_.empty() || plan_;
    }  // flush() would return something
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
        bool cut = false;       // the input or the locations are incomplete
        std::string kept = {};  // status, title and input when they were last kept
    };

    [[nodiscard]] Added add_text(AgentText text);
    [[nodiscard]] Added add_tool(ToolChange change, bool brief);
    [[nodiscard]] static session::AgentOutput output_of(std::string const& id,
                                                        ToolCall const& call);

    std::optional<session::AgentOutput> plan_;  // not kept yet
    std::vector<Part> parts_;                   // of the message, not kept yet
    std::size_t part_bytes_ = 0;                // of parts_
    std::size_t bytes_ = 0;                     // of the message
    bool begun_ = false;                        // a part of the message is already kept
    std::string message_id_;
    std::map<std::string, ToolCall> tools_;
};

}  // namespace dormouse::acp
