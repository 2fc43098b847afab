#pragma once
// Tool calls that do not come from the model: an external agent calls a tool of its session's
// agent. Each call gets a session of its own, of the agent `calls:NAME`. The session's only prompt
// is the call and its reply is the outcome as text, so all rules for calls apply.

#include "agent/tool.h"

namespace dormouse::agent {

// Returns the id of the agent that makes the calls for sessions of `agent`: "calls:ops".
[[nodiscard]] std::string calls_of(std::string_view agent);

// Adds for each agent of the registry the agent that makes its calls; lists do not show it. It can
// also ask a person, if the registry has that tool.
void add_call_agents(Registry& registry);

// The model of these agents. The first user message is the call, {"tool": NAME, "input": {…}}. The
// reply is the outcome together with the tool and its arguments, because the reader may have lost
// them.
class CallModel final : public ComputedModel {
public:
    [[nodiscard]] Reply reply(session::ModelView const& view) const override;
};

// The agent's model, if programs make its calls; nullptr: it has another model, or none.
[[nodiscard]] CallModel const* call_model_of(Agent const& agent);

}  // namespace dormouse::agent
