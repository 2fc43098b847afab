#pragma once
// Gates: asked before a tool runs. All of a tool's gates must allow, in their order; an answer is
// durable before the next gate is asked.

#include <dormouse/outcome.h>

#include <functional>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

// `input`: other arguments for the tool, which must fit its schema; null: those of the model.
struct Allow {
    Json input = {};
};
// Told to the model; the tool does not run.
struct Deny {
    std::string message;
};
// A person answers, perhaps tomorrow; nothing runs meanwhile, and the process may end.
struct Ask {
    std::string question;
    PauseOptions options = {};
};
using Verdict = std::variant<Allow, Deny, Ask>;

struct Gate {
    std::string name;  // stands in the journal: who asked. The same over the years
    // On a tool thread; may block. It must have no effects that matter: a crash asks again. What it
    // throws denies. The call is not open yet: its pending_id() names it, and takes no outcome.
    std::function<Verdict(Call const& call)> decide;
    // Tools that it is asked for; `*` stands for any text.
    std::vector<std::string> tools = {"*"};
    // What an answer leads to, with call.resumed() set. Left out: approval allows (with the
    // arguments that the person edited), anything else denies with the reason given.
    std::function<Verdict(Call const& call)> decided = {};
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
