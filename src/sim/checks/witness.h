#pragma once
// Sits between the runner and its effects, and checks that each start keeps P4: its intent is
// durable and belongs to this process, and no tool runs again without permission.

#include "port/passing_effects.h"
#include "sim/checks/durable.h"

#include <map>
#include <set>

namespace dormouse::sim {

// Everything started by any process.
struct Started {
    std::set<std::pair<PendingId, std::uint32_t>> attempts;  // of tools
    std::map<PendingId, std::uint32_t> never;  // starts of tools that must never run again
    std::uint64_t effects = 0;
};

// One for each process.
class Witness final : public port::PassingEffects {
public:
    // All arguments must outlive this object. `epoch`: that of the process's intents.
    Witness(port::Effects& inner, Durable const& durable, Findings& findings, Started& started,
            Epoch epoch)
        : PassingEffects(inner),
          durable_(durable),
          findings_(findings),
          started_(started),
          epoch_(epoch) {}

    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override;
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override;
    void ask_gate(SessionId session, session::EffectId id, std::string agent, session::AskGate ask,
                  port::Outcome done) override;
    void poll_tool(SessionId session, session::EffectId id, std::string agent,
                   session::PollTool poll, port::Outcome done) override;

    [[nodiscard]] bool has_started(SessionId session, session::EffectId id) const {
        return begun_.contains({session, id});
    }

private:
    // A process starts each effect once.
    void begin(SessionId session, session::EffectId id);
    void check_policy(SessionId session, session::RunTool const& run);

    Durable const& durable_;
    Findings& findings_;
    Started& started_;
    Epoch const epoch_;
    std::set<std::pair<SessionId, session::EffectId>> begun_;
};

}  // namespace dormouse::sim
