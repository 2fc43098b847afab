#pragma once
// The model's view (rule 5), as values: what one request sees. Built by wire/view.h from the
// journal.

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
    std::optional<ErrorReason> error;  // set: `error_text` is the answer, not `output`
    std::string error_text;
    Json output;
};

struct ViewMessage {
    enum class Role : std::uint8_t { user, assistant };
    Role role = Role::user;
    InputSource source = InputSource::prompt;  // of a user message; `result`: a late outcome
    Json parts;                                // array of parts as in the journal
    // Assistant: its calls, each answered right after it, in request order. Late outcome: the one
    // call.
    std::vector<ViewCall> calls;
    Seq seq = 0;  // the event that brought an input; of others it may be 0
};

struct ModelView {
    std::vector<ViewMessage> messages;
    Seq view_seq = 0;
    // The bytes of the images and files that the messages name, by artifactID. Read when a request
    // is built; those that are left out of it are not here.
    std::map<std::string, std::shared_ptr<std::string const>, std::less<>> files = {};
};

}  // namespace dormouse::session
