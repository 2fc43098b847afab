#pragma once
// Reads what people type on an agent's own screen from the agent's HTTP server, in the form of
// opencode: ACP reports only the agent's answers.
// Example: a message of the role user with the text "hello" becomes AgentTyped{[{"type":"text",
// "text":"hello"}], its time, the agent's answer}.

#include "json/json.h"
#include "port/http.h"
#include "session/command.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::acp {

// Returns the user's messages in an answer to GET /session/{id}/message, oldest first, without
// those that hold `marker` (our prompts) and those in which a person wrote nothing.
[[nodiscard]] std::vector<session::AgentTyped> typed_in(json::View messages,
                                                        std::string_view marker);

struct ScreenPlace {
    std::string url, session, folder, password;
    std::string marker;  // of our prompts
};

// Reads the newest messages. Calls `then` once, never from inside this call. Passes an empty list
// if they cannot be read; the next reading finds them. `http` outlives this.
using ScreenRead = std::function<void(std::vector<session::AgentTyped>)>;
void read_messages(port::HttpClient& http, ScreenPlace const& place, ScreenRead then);

}  // namespace dormouse::acp
