#pragma once
// Agents on virtual time: the demo agents as they ship, done after drawn delays, with models that
// fail, hang and answer late, and with tools that take time, pause after it, or are answered before
// they have said that they pause.

#include "agent/builtin.h"
#include "agent/effects.h"
#include "sim/world.h"

#include <memory>
#include <set>

namespace dormouse::sim {

// Chances per mille, of each effect.
struct AgentFaults {
    unsigned model_fails = 0;  // and may be asked again
    unsigned model_fails_for_good = 0;
    unsigned hangs = 0;       // no outcome comes, ever
    unsigned slow = 0;        // seconds
    unsigned after_stop = 0;  // an outcome comes although it was stopped
};

// The demo registry, with `sleepy` tools that take no real time and tools of the simulator: "job",
// "job_ask", "job_never" start a job outside and mostly pause for its result, each under one crash
// policy. Prompted with "job", "job-ask" or "job-never" and a target. REQUIRES: `world` outlives
// it.
// `mail`: of the process that is up.
[[nodiscard]] std::unique_ptr<agent::Registry> make_registry(World& world,
                                                             std::shared_ptr<agent::MailSlot> mail);

class LoopWorkers final : public port::Workers {
public:
    explicit LoopWorkers(World& world) : world_(world) {}
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override;

private:
    World& world_;
};

class Agents final : public port::Effects, public port::AgentTerms {
public:
    // All outlive this.
    Agents(World& world, agent::Registry const& registry, AgentFaults const& faults)
        : world_(world), faults_(faults), workers_(world), inner_(registry, workers_) {}

    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override;
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override;
    void ask_gate(SessionId session, session::EffectId id, std::string agent, session::AskGate ask,
                  port::Outcome done) override;
    void poll_tool(SessionId session, session::EffectId id, std::string agent,
                   session::PollTool poll, port::Outcome done) override;
    // The simulated agents have no interceptors, external agents and limits by project.
    void ask_turn(port::TurnRequest request, port::Outcome done) override {
        done(session::TurnOutcome{request.ask.turn, request.ask.ended});
    }
    void tell_agent(SessionId, std::string const&, session::TellAgent const&) override {}
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
    [[nodiscard]] std::string refusal(std::string const&, std::string const&) const override {
        return {};
    }
    [[nodiscard]] std::optional<session::TurnTerms> terms(std::string const& agent) const override {
        return inner_.terms(agent);
    }

private:
    using Key = std::pair<SessionId, session::EffectId>;

    // `work` after a while, unless it was stopped first.
    void later(Key key, Duration delay, port::Fn<void()> work);
    [[nodiscard]] Duration delay();

    World& world_;
    AgentFaults const& faults_;
    LoopWorkers workers_;
    agent::AgentEffects inner_;
    std::set<Key> waiting_;
};

}  // namespace dormouse::sim
