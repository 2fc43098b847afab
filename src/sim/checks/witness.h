#pragma once
// Sits between the runner and its effects, and checks that each start keeps P4: its intent is
// durable and belongs to this process, and no tool runs again without permission.

#include "port/nodes.h"
#include "port/passing_effects.h"
#include "sim/checks/durable.h"

#include <functional>
#include <map>
#include <set>

namespace dormouse::sim {

// Everything started by any process.
struct Started {
    std::set<std::pair<PendingId, std::uint32_t>> attempts;  // of tools
    std::map<PendingId, std::uint32_t> never;  // starts of tools that must never run again
    std::uint64_t effects = 0;

    // The disk lost these events: what they started may start again.
    void forget(Durable::Lost const& lost);
};

// One for each process.
class Witness final : public port::PassingEffects {
public:
    // All arguments must outlive this object. `nodes`: epoch() is that of the process's intents;
    // `gone`: true if the others have declared this process dead.
    Witness(port::Effects& inner, Durable const& durable, Findings& findings, Started& started,
            port::Nodes const& nodes, std::function<bool()> gone)
        : PassingEffects(inner),
          durable_(durable),
          findings_(findings),
          started_(started),
          nodes_(nodes),
          gone_(std::move(gone)) {}

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

    // The disk fell back: what it no longer knows may start again, and what does no harm twice.
    void forget_lost();

private:
    using Matches = std::function<bool(session::Event const&)>;
    // The intent was durable once: the process started it in good faith.
    [[nodiscard]] bool is_lost(SessionId session, Matches const& matches) const;
    // A process starts each effect once.
    void begin(SessionId session, session::EffectId id);
    void check_policy(SessionId session, session::RunTool const& run);

    Durable const& durable_;
    Findings& findings_;
    Started& started_;
    port::Nodes const& nodes_;
    std::function<bool()> const gone_;
    std::set<std::pair<SessionId, session::EffectId>> begun_;
};

}  // namespace dormouse::sim
