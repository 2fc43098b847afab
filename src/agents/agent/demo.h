#pragma once
// The demo agents `demo` and `demo-each`: a scripted model and small tools, for newcomers and as a
// fixed point for checks from outside. What they do is written in docs/demo-agent.md; no network is
// used.

#include "agent/builtin.h"

namespace dormouse::agent {

// The agents with their tools, the built-in ones among them.
void add_demo_agents(Registry& registry, std::shared_ptr<MailSlot> mail = {});
// The tools that agents of a configuration may have without naming them there.
void add_builtin_tools(Registry& registry, std::shared_ptr<MailSlot> mail = {});

// Their model. The last user message decides what is called; when the calls have settled it says
// one line for each.
class DemoModel final : public ComputedModel {
public:
    [[nodiscard]] Reply reply(session::ModelView const& view) const override;
};

}  // namespace dormouse::agent
