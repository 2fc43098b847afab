#pragma once
// Gates: checks before a tool runs. All gates of a tool must allow, in their order; an answer is
// durable before the next gate is asked.

#include <dormouse/outcome.h>

#include <functional>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

// The tool may run. `input`: arguments that replace the model's and must fit the tool's schema;
// null: keep the model's.
struct Allow {
    Json input = {};
};
// The tool does not run; the model sees `message`.
struct Deny {
    std::string message;
};
// A person must answer, perhaps days later. Nothing runs meanwhile, and the process may end.
struct Ask {
    std::string question;
    PauseOptions options = {};
};
using GateDecision = std::variant<Allow, Deny, Ask>;

struct Gate {
    std::string name;  // written to the journal; must not change between releases
    // Runs on a tool thread; may block. Must have no side effects that matter: after a crash it is
    // asked again. An exception denies. The call is not open yet: its pending_id() names it but
    // accepts no outcome.
    std::function<GateDecision(Call const& call)> decide;
    // Tools that the gate applies to; `*` matches any text.
    std::vector<std::string> tools = {"*"};
    // Decides after the person's answer, which is in call.resumed(). Empty: approval allows (with
    // the arguments that the person edited), anything else denies with the reason given.
    std::function<GateDecision(Call const& call)> decided = {};
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
