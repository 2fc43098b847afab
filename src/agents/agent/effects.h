#pragma once
// Performs the effects of sessions of our own agents: asks the model, runs tools on worker threads,
// asks gates.

#include "agent/model_requests.h"
#include "agent/tool.h"
#include "port/effects.h"
#include "session/tracing.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace dormouse::agent {

// Facts that a tool gets in addition to its call. An empty function omits its value.
struct Surroundings {
    std::function<std::string(PendingId const&)> callback_url = {};
    std::function<Time()> now = {};  // any thread
    session::TraceRules tracing = {};
    MayStart::Make may_start = {};
    // Called for effects that have not begun, and have no outcome: see port::Effects. REQUIRED if
    // `may_start` is set, or if there are gates that may block or tools that run on a worker.
    std::function<void(SessionId, session::EffectId)> not_begun = {};
};

class AgentEffects final : public port::Effects, public port::AgentTerms {
public:
    // All arguments outlive this. Runs on the loop.
    AgentEffects(Registry const& registry, port::Workers& workers, Surroundings surroundings = {})
        : registry_(registry),
          workers_(workers),
          surroundings_(std::move(surroundings)),
          models_(registry, surroundings_.now, surroundings_.tracing, surroundings_.may_start) {}

    [[nodiscard]] bool computes(std::string const& agent) const override;
    [[nodiscard]] session::Command::Body compute(port::ModelRequest request) const override;
    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override;
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override;
    void ask_gate(SessionId session, session::EffectId id, std::string agent, session::AskGate ask,
                  port::Outcome done) override;
    void poll_tool(SessionId session, session::EffectId id, std::string agent,
                   session::PollTool poll, port::Outcome done) override;
    [[nodiscard]] Epoch holder(std::string const& tool, Json const& state) const override;
    void ask_turn(port::TurnRequest request, port::Outcome done) override;
    void notify_agent(SessionId session, std::string const& agent,
                      session::NotifyAgent const& what) override;
    void stop(SessionId session, session::EffectId id) override;
    void ended(SessionId session, std::string const& agent) override;
    [[nodiscard]] std::optional<Time> model_until(SessionId session,
                                                  session::EffectId id) const override;
    [[nodiscard]] bool has_gate(std::string const& gate) const override {
        return registry_.gate(gate) != nullptr;
    }
    [[nodiscard]] std::optional<std::uint64_t> view_tokens(std::string const& agent) const override;
    [[nodiscard]] bool is_placed(std::string const& agent) const override;
    [[nodiscard]] std::string refusal(std::string const& agent,
                                      std::string const& project) const override;
    [[nodiscard]] session::Budgets budgets(std::string const& agent) const override;
    [[nodiscard]] std::optional<session::TurnTerms> terms(std::string const& agent) const override;

    [[nodiscard]] ModelRequests const& models() const { return models_; }

private:
    using Key = std::pair<SessionId, session::EffectId>;

    void set_terms(SessionId const& session, std::string const& agent,
                   session::AgentAsk& ask) const;
    [[nodiscard]] ToolCall call_of(Tool const& tool, std::string agent,
                                   session::RunTool const& run) const;
    void run_on_worker(Tool const& tool, Key key, session::RunTool run, ToolCall call,
                       port::Outcome done);
    void start_on_loop(Tool const& tool, Key key, session::RunTool run, ToolCall call,
                       port::Outcome done);

    void keep(Key key, std::shared_ptr<bool> const& over, StopTool stop);
    void poll(Tool const& tool, Key key, session::PollTool const& poll, port::Outcome done);

    // The external agent that runs a prompt. An exchange of the registry does not end it.
    struct Prompted {
        std::shared_ptr<ExternalAgent> external;
        Registry::Pin pin;
    };
    [[nodiscard]] std::shared_ptr<ExternalAgent> prompted(SessionId session) const;
    void prompt(Agent const& agent, port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                port::Outcome done);
    void not_begun(Key const& key);

    Registry const& registry_;
    port::Workers& workers_;
    Surroundings surroundings_;
    std::map<Key, Prompted> prompted_;
    std::map<Key, StopTool> running_;
    // When a worker took the gate, in ms since 1970; 0: it waits for one.
    using TakenAt = std::atomic<std::int64_t>;
    std::map<Key, std::shared_ptr<TakenAt>> gates_;
    ModelRequests models_;
    session::Budgets no_budgets_ = std::make_shared<std::vector<session::Budget>>();
};

}  // namespace dormouse::agent
