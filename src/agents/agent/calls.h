#pragma once
// Calls that come from outside the model: an agent program asks for a tool of its session's agent.
// Each has a session of its own, of the agent `calls:NAME`, whose one prompt is the call and whose
// reply is the outcome in words. So all that holds for calls holds for these.

#include "agent/tool.h"

namespace dormouse::agent {

// "calls:ops": who makes the calls of sessions of `agent`.
[[nodiscard]] std::string calls_of(std::string_view agent);

// For each agent of the registry that one which makes its calls, hidden from lists. Every one can
// also ask a person, if the registry has that tool.
void add_call_agents(Registry& registry);

// The first user message is the call, {"tool": NAME, "input": {…}}; the reply to its outcome tells
// that, with the tool and its arguments, because whoever reads it may have forgotten them.
class CallModel final : public ComputedModel {
public:
    [[nodiscard]] Reply reply(session::ModelView const& view) const override;
};

}  // namespace dormouse::agent
