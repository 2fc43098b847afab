#pragma once
// The model's view (rule 5) as values: what one request sees. Built from the journal by
// wire/view/view.h.

#include "session/event.h"
#include "session/vocabulary.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::session {

// A tool call and its one answer: the outcome, or the placeholder while it is open.
struct ViewCall {
    CallNo call = 0;
    std::string model_id;
    std::string tool;
    Json input;
    bool open = false;                 // `output` is the placeholder
    std::optional<ErrorReason> error;  // set: the answer is `error_text`, not `output`
    std::string error_text;
    Json output;
};

struct ViewMessage {
    enum class Role : std::uint8_t { user, assistant };
    Role role = Role::user;
    InputSource source = InputSource::prompt;  // of a user message; `result`: a late outcome
    Json parts;                                // array of parts as in the journal
    // Assistant: its calls in request order, each answered right after the message. Late outcome:
    // the one call.
    std::vector<ViewCall> calls;
    Seq seq = 0;  // the event that brought an input; may be 0 for others
};

struct ModelView {
    std::vector<ViewMessage> messages;
    Seq view_seq = 0;
    // Bytes of the images and files in the messages, by artifactID. Read when a request is built;
    // files that the request omits are not included.
    std::map<std::string, std::shared_ptr<std::string const>, std::less<>> files = {};
};

}  // namespace dormouse::session
