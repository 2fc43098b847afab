#pragma once
// Simulated agents: the shipped demo agents on virtual time. Effects end after random delays;
// models fail, hang and answer late; tools take time, pause after it, or get their result before
// they have paused.

#include "agent/builtin.h"
#include "agent/effects.h"
#include "sim/machine.h"

#include <memory>
#include <set>

namespace dormouse::sim {

// Probability of each fault per effect, in per mille.
struct AgentFaults {
    unsigned model_fails = 0;  // retryable
    unsigned model_fails_for_good = 0;
    unsigned stalls = 0;      // no outcome ever comes
    unsigned slow = 0;        // takes seconds
    unsigned after_stop = 0;  // an outcome comes although the effect was stopped
};

// The demo registry with `sleepy` tools that take no real time, and the simulator's tools "job",
// "job_ask" and "job_never": each starts an external job under one crash policy and mostly pauses
// for its result. Prompts: "job", "job-ask" or "job-never" and a target. `mail` is that of the
// running process. REQUIRES: `world` outlives the registry.
[[nodiscard]] std::unique_ptr<agent::Registry> make_registry(World& world, agent::FindMailer mail);

class LoopWorkers final : public port::Workers {
public:
    explicit LoopWorkers(Machine& machine) : machine_(machine) {}
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override;

private:
    Machine& machine_;
};

class Agents final : public port::Effects, public port::AgentTerms {
public:
    // All arguments must outlive this object.
    Agents(Machine& machine, agent::Registry const& registry, AgentFaults const& faults)
        : world_(machine.world()),
          machine_(machine),
          faults_(faults),
          workers_(machine),
          inner_(registry, workers_) {}

    [[nodiscard]] bool computes(std::string const& agent) const override {
        return inner_.computes(agent);
    }
    [[nodiscard]] session::Command::Body compute(port::ModelRequest request) const override {
        return inner_.compute(std::move(request));
    }
    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override;
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override;
    void ask_gate(SessionId session, session::EffectId id, std::string agent, session::AskGate ask,
                  port::Outcome done) override;
    void poll_tool(SessionId session, session::EffectId id, std::string agent,
                   session::PollTool poll, port::Outcome done) override;
    [[nodiscard]] Epoch holder(std::string const& tool, Json const& state) const override {
        return inner_.holder(tool, state);
    }
    // The simulated agents have no interceptors, no external agents and no limits per project.
    void ask_turn(port::TurnRequest request, port::Outcome done) override {
        done(session::TurnOutcome{request.ask.turn, request.ask.ended});
    }
    void notify_agent(SessionId, std::string const&, session::NotifyAgent const&) override {}
    void stop(SessionId session, session::EffectId id) override;
    void ended(SessionId, std::string const&) override {}
    [[nodiscard]] std::optional<Time> model_until(SessionId, session::EffectId) const override {
        return std::nullopt;
    }
    [[nodiscard]] bool has_gate(std::string const& gate) const override {
        return inner_.has_gate(gate);
    }
    [[nodiscard]] std::optional<std::uint64_t> view_tokens(std::string const&) const override {
        return std::nullopt;
    }
    [[nodiscard]] bool is_placed(std::string const& /*agent*/) const override { return false; }
    [[nodiscard]] std::string refusal(std::string const&, std::string const&) const override {
        return {};
    }
    [[nodiscard]] session::Budgets budgets(std::string const& agent) const override {
        return inner_.budgets(agent);
    }
    [[nodiscard]] std::optional<session::TurnTerms> terms(std::string const& agent) const override {
        return inner_.terms(agent);
    }

private:
    using Key = std::pair<SessionId, session::EffectId>;

    // Runs `work` after `delay`, unless the effect is stopped first.
    void later(Key key, Duration delay, port::Fn<void()> work);
    [[nodiscard]] Duration delay();

    World& world_;
    Machine& machine_;
    AgentFaults const& faults_;
    LoopWorkers workers_;
    agent::AgentEffects inner_;
    std::set<Key> waiting_;
};

}  // namespace dormouse::sim
