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
class Started {
public:
    using ProcessNo = std::uint64_t;
    [[nodiscard]] ProcessNo new_process() { return ++processes_; }

    // A process starts a run. `kept`: the disk has its intent. Checks that it may.
    void run(ProcessNo process, session::RunTool const& run, bool kept, bool never_again,
             Findings& findings);
    // The disk lost these events, and with them the intents of runs.
    void forget(Durable::Lost const& lost);

    std::uint64_t effects = 0;

private:
    // A run as one that comes again under another id has it, too.
    struct Run {
        SessionId session;
        CallNo call = 0;
        Generation generation = 0;
        std::uint32_t attempt = 0;
        std::string tool;
        std::string input;
        friend auto operator<=>(Run const&, Run const&) = default;
    };
    struct Start {
        bool kept = false;            // the disk has the intent
        std::set<ProcessNo> knowing;  // those that have started it
    };

    ProcessNo processes_ = 0;
    std::map<Run, Start> runs_;
    std::map<std::pair<PendingId, std::uint32_t>, Run> attempts_;
    std::map<PendingId, std::uint32_t> never_;  // starts of tools that must never run again
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
          number_(started.new_process()),
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

    void stop(SessionId session, session::EffectId id) override;

    [[nodiscard]] bool has_started(SessionId session, session::EffectId id) const {
        return begun_.contains({session, id}) || running_.contains({session, id});
    }

    // The disk fell back: effects whose intent it lost may start again, and so may all except tool
    // runs. Effects whose intent it still has may also continue: a session that lost no events does
    // not notice the fall.
    void forget_lost();

private:
    using Matches = std::function<bool(session::Event const&)>;
    // The intent was durable once: the process started it in good faith.
    [[nodiscard]] bool is_lost(SessionId session, Matches const& matches) const;
    // `done`, after which the effect does not run any more.
    [[nodiscard]] port::Outcome watch(SessionId session, session::EffectId id, port::Outcome done);
    // A process starts each effect once.
    void begin(SessionId session, session::EffectId id);
    [[nodiscard]] bool never_again(SessionId session, session::RunTool const& run) const;

    Durable const& durable_;
    Findings& findings_;
    Started& started_;
    Started::ProcessNo const number_;
    port::Nodes const& nodes_;
    std::function<bool()> const gone_;
    std::set<std::pair<SessionId, session::EffectId>> begun_;
    std::set<std::pair<SessionId, session::EffectId>> running_;  // without an outcome or a stop yet
};

}  // namespace dormouse::sim
