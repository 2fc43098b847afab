#pragma once
// What a program says while it works, as it is kept: pieces of text are gathered into messages,
// updates of a tool call into what changed. Pure.

#include "acp/words.h"
#include "port/effects.h"
#include "session/program.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::acp {

class Scribe {
public:
    static constexpr std::size_t piece_bytes_max = std::size_t{64} << 10;  // then it is kept
    static constexpr std::size_t message_bytes_max = std::size_t{1} << 20;
    static constexpr std::size_t value_bytes_max = std::size_t{256}
                                                   << 10;  // of an input, an output

    struct Heard {
        std::vector<session::News> news = {};   // to be kept, in this order
        std::optional<port::Delta> delta = {};  // shown at once
        std::string title = {};                 // the program's own name of the session
    };

    // `brief`: there are too many; of a tool call that is open, and of the plan, what is newest is
    // kept some time later.
    [[nodiscard]] Heard hear(Said said, bool brief = false);
    // What was said and is not kept yet.
    [[nodiscard]] std::vector<session::News> flush();
    // What it says next is another message.
    void end_message() {
        begun_ = false;
        bytes_ = 0;
    }
    // Of a tool call that has not ended; null: it did not say.
    [[nodiscard]] Json input_of(std::string const& call) const {
        auto const found = tools_.find(call);
        return found == tools_.end() ? Json() : found->second.input;
    }
    // With what was said of its tool call before, where the request leaves it out.
    void complete(Question& question) const;
    // What such a call is to do as far as it said so: an object with some of name, kind, title,
    // input and locations. nullopt: not all of it was kept.
    [[nodiscard]] std::optional<Json> said_of(std::string const& call) const;
    [[nodiscard]] bool has_more() const { return !parts_.empty() || plan_; }  // for flush()
    // Another prompt begins.
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
        std::string told = {};  // what was kept of it last
    };

    [[nodiscard]] Heard hear_text(SaidText said);
    [[nodiscard]] Heard hear_tool(ToolChange change, bool brief);
    [[nodiscard]] static session::News news_of(std::string const& id, ToolCall const& call);

    std::optional<session::News> plan_;  // not kept yet
    std::vector<Part> parts_;            // of the message, not kept yet
    std::size_t part_bytes_ = 0;         // of them
    std::size_t bytes_ = 0;              // of the message
    bool begun_ = false;                 // part of the message is kept already
    std::string message_id_;
    std::map<std::string, ToolCall> tools_;
};

}  // namespace dormouse::acp
