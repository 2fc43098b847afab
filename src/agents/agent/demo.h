#pragma once
// The demo agents `demo` and `demo-each`: a scripted model and small tools, for a first try and as
// a stable target of black-box tests. docs/demo-agent.md describes their behaviour. They use no
// network.

#include "agent/builtin.h"

namespace dormouse::agent {

// Adds the demo agents and their tools, including the built-in ones.
void add_demo_agents(Registry& registry, FindMailer mail = {});
// Adds the built-in tools, for the agents of a configuration.
void add_builtin_tools(Registry& registry, FindMailer mail = {});

// The demo agents' model. The last user message decides which tools it calls; when the calls have
// settled, the reply has one line for each.
class DemoModel final : public ComputedModel {
public:
    explicit DemoModel(std::optional<session::Prices> prices = {}) : prices_(std::move(prices)) {}
    [[nodiscard]] Reply reply(session::ModelView const& view) const override;
    [[nodiscard]] ModelLimits limits() const override { return {.prices = prices_}; }

private:
    std::optional<session::Prices> prices_;
};

}  // namespace dormouse::agent
