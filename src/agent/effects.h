#pragma once
// Does what sessions of our own agents owe: asks the model, runs tools on worker threads, asks
// gates.

#include "agent/model_requests.h"
#include "agent/tool.h"
#include "port/effects.h"

namespace dormouse::agent {

class AgentEffects final : public port::Effects {
public:
    // All outlive this. On the loop.
    AgentEffects(Registry const& registry, port::Workers& workers)
        : registry_(registry), workers_(workers), models_(registry) {}

    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override;
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override;
    void ask_gate(SessionId session, session::EffectId id, std::string agent, session::AskGate ask,
                  port::Outcome done) override;
    void stop(SessionId session, session::EffectId id) override;
    [[nodiscard]] std::optional<session::TurnTerms> terms(std::string const& agent) const override;

private:
    using Key = std::pair<SessionId, session::EffectId>;

    Registry const& registry_;
    port::Workers& workers_;
    std::map<Key, std::stop_source> running_;  // tools on worker threads
    ModelRequests models_;
};

}  // namespace dormouse::agent
