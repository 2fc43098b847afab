#pragma once
// Stands between the runner and whoever does its effects, and sees that each start keeps P4: its
// intent is durable, it is this process's own, and nothing is run again in silence.

#include "port/passing_effects.h"
#include "sim/durable.h"

#include <map>
#include <set>

namespace dormouse::sim {

// What was started ever, by any process.
struct Started {
    std::set<std::pair<PendingId, std::uint32_t>> attempts;  // of tools
    std::map<PendingId, std::uint32_t> never;                // starts of tools that never run again
    std::uint64_t effects = 0;
};

// One for each process.
class Witness final : public port::PassingEffects {
public:
    // All outlive this. `epoch`: under which the process writes its intents.
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
    // Each effect is started once by a process.
    void begin(SessionId session, session::EffectId id);
    void check_policy(SessionId session, session::RunTool const& run);

    Durable const& durable_;
    Findings& findings_;
    Started& started_;
    Epoch const epoch_;
    std::set<std::pair<SessionId, session::EffectId>> begun_;
};

}  // namespace dormouse::sim
