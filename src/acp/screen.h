#pragma once
// What somebody types on a program's own screen goes to the program alone: ACP tells of the answer
// and not of the question. It is read from the program's own HTTP port, as opencode offers it.

#include "json/json.h"
#include "port/http.h"
#include "session/command.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::acp {

// The user's messages in an answer to GET /session/{id}/message, oldest first, without those that
// hold `marker` (prompts of ours) or nothing that a person has written.
[[nodiscard]] std::vector<session::AgentTyped> typed_in(json::View messages,
                                                        std::string_view marker);

struct ScreenPlace {
    std::string url, session, folder, password;
    std::string marker;  // of prompts of ours
};

// Reads the newest messages. `then` comes once, never from inside this call; it gets nothing when
// they could not be read, and the next reading finds them. `http` outlives this.
using ScreenRead = std::function<void(std::vector<session::AgentTyped>)>;
void read_messages(port::HttpClient& http, ScreenPlace const& place, ScreenRead then);

}  // namespace dormouse::acp
