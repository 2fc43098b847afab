#pragma once
// Carries out the outstanding effects of sessions. Called from the loop.

#include "port/world.h"
#include "session/command.h"
#include "session/effect.h"
#include "session/external_agent.h"
#include "session/view.h"

#include <stop_token>

namespace dormouse::port {

// The outcome of an effect is a command for the session that needs it.
using Outcome = Fn<void(session::Command::Body)>;

// Provisional text of a reply in progress; the durable event replaces it.
struct Delta {
    enum class Kind : std::uint8_t { text, reasoning, input };
    Kind kind = Kind::text;
    std::string text;
    // Kind input: which call of the reply, from 1, and its tool.
    std::uint32_t call = 0;
    std::string tool = {};
};

struct ModelRequest {
    SessionId session;
    std::string agent;
    session::AskModel ask;
    session::ModelView view;
    session::EffectId id = {};
    std::optional<session::AgentContext> external = {};  // set: an external agent is prompted
};

struct TurnRequest {
    SessionId session;
    std::string agent;
    session::AskTurn ask;
    session::ModelView view;  // at the turn's start or end
    session::EffectId id = {};
};

// Each start gets exactly one outcome, or none after stop(). A prompted external agent also sends
// AgentAttach, AgentReport and AgentAsk before it, and AgentReport after it. Outcomes and deltas
// come on the loop; an outcome may come before start returns. stop() of an effect that is not
// running does nothing.
//
// An effect that was started may still not begin: the queue of its threads is full, or it waited
// and this process must not begin anything any more. Then it has done nothing, and
//   a gate, interceptors, a prompt: have no outcome. The implementation reports that they have not
//     begun (agent::Surroundings::not_begun), and the runner starts them again at a scan.
//   a tool: the same if the queue was full. If this process must not begin it: it has the outcome
//     Failed with `nothing_done`; its next attempt follows after a back-off.
//   a poll: has the outcome NotYet; the next one follows as its pause says.
//   a request to a model: has the outcome ModelFailure, which may be retried. Its code is
//     model_failed; that of a function of the program store_unavailable, or overloaded if the
//     queue was full.
//   notify_agent: never waits.
class Effects {
public:
    virtual ~Effects() = default;
    // Returns true if the agent's model computes each reply from the view alone. Such a request has
    // nothing to find again after a crash: its reply, compute(), is in the append of the request.
    [[nodiscard]] virtual bool computes(std::string const& agent) const = 0;
    // REQUIRES: computes().
    [[nodiscard]] virtual session::Command::Body compute(ModelRequest request) const = 0;
    virtual void ask_model(ModelRequest request, Fn<void(Delta)> delta, Outcome done) = 0;
    virtual void run_tool(SessionId session, session::EffectId id, std::string agent,
                          session::RunTool run, Outcome done) = 0;
    virtual void ask_gate(SessionId session, session::EffectId id, std::string agent,
                          session::AskGate ask, Outcome done) = 0;
    virtual void poll_tool(SessionId session, session::EffectId id, std::string agent,
                           session::PollTool poll, Outcome done) = 0;
    // Returns the epoch of the process that alone can continue a call of the tool, as long as it
    // works: what the call waits for is on a connection of that process. `state`: what the call's
    // pause stored. 0: any process can.
    [[nodiscard]] virtual Epoch holder(std::string const& tool, Json const& state) const = 0;
    // Asks whether a turn may begin. Without interceptors, every turn may.
    virtual void ask_turn(TurnRequest request, Outcome done) = 0;
    // Notifies the external agent that is prompted. Has no outcome.
    virtual void notify_agent(SessionId session, std::string const& agent,
                              session::NotifyAgent const& what) = 0;
    virtual void stop(SessionId session, session::EffectId id) = 0;
    // The session ended: processes kept for it may stop. May be called more than once.
    virtual void ended(SessionId session, std::string const& agent) = 0;
    // Returns when a started model request or gate is given up; unlimited while it waits for a free
    // slot or thread. nullopt: the default time.
    [[nodiscard]] virtual std::optional<Time> model_until(SessionId session,
                                                          session::EffectId id) const = 0;
};

// The settings of an agent that a session needs to decide. Called from the loop.
class AgentTerms {
public:
    virtual ~AgentTerms() = default;
    // Asked when a session is loaded: calls wait for a gate that is not configured.
    [[nodiscard]] virtual bool has_gate(std::string const& gate) const = 0;
    // Returns the number of tokens of a session's history that the agent's model sees; nullopt:
    // all.
    [[nodiscard]] virtual std::optional<std::uint64_t> view_tokens(
        std::string const& agent) const = 0;
    // Returns true if the agent stores data of its sessions on this machine, so that they continue
    // only here.
    [[nodiscard]] virtual bool is_placed(std::string const& agent) const = 0;
    // Returns why this agent takes no session of that project; empty: it does, or it is not
    // configured.
    [[nodiscard]] virtual std::string refusal(std::string const& agent,
                                              std::string const& project) const = 0;
    // Returns the budgets of the agent's sessions, perhaps none; null: the agent is unknown.
    [[nodiscard]] virtual session::Budgets budgets(std::string const& agent) const = 0;
    // nullopt: the agent is not configured.
    [[nodiscard]] virtual std::optional<session::TurnTerms> terms(
        std::string const& agent) const = 0;
};

// Threads for code that may block: tools, gates, validators. `job` runs on one of them, then `done`
// on the loop.
class Workers {
public:
    virtual ~Workers() = default;
    // The returned source asks the job to stop; dropping it has no effect. If the queue is full,
    // `job` does not run and `done` gets false.
    virtual std::stop_source run(Fn<void(std::stop_token)> job, Fn<void(bool ran)> done) = 0;
};

}  // namespace dormouse::port
