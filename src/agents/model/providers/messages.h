#pragma once
// Shared by the protocols with a list of messages (OpenAI's two, Ollama).

#include "model/transcript.h"

#include <string>
#include <vector>

namespace dormouse::model {

// The answer's calls are a member of its message, and the instructions are the first message.
class ChatMessages : protected Transcript {
public:
    [[nodiscard]] Json write(agent::Question const& question) {
        out_.begin_array();
        if (!question.instructions.empty()) {
            out_.begin_object().member("role", "system");
            out_.member("content", question.instructions).end_object();
        }
        write_view(question.view);
        return out_.end_array().json();
    }

protected:
    using Transcript::Transcript;

    virtual void write_call(SentCall const& call) = 0;
    void write_calls(std::vector<SentCall> const& calls) {
        if (calls.empty()) return;
        out_.key("tool_calls").begin_array();
        for (SentCall const& call : calls) write_call(call);
        out_.end_array();
    }

    json::Writer out_;
};

// A message of the user: one text, or a list of parts that `write` writes.
template <class Write>
void write_user(json::Writer& out, std::vector<Content> const& contents, Write const& write) {
    out.begin_object().member("role", "user").key("content");
    if (only_text(contents)) {
        out.value(joined(contents));
    } else {
        out.begin_array();
        for (Content const& content : contents) write(content);
        out.end_array();
    }
    out.end_object();
}

}  // namespace dormouse::model
