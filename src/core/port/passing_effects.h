#pragma once
// Forwards every call to other Effects. Classes that count, check or alter some effects override
// those. Called on the loop.

#include "port/effects.h"

#include <utility>

namespace dormouse::port {

class PassingEffects : public Effects {
public:
    // `to` must outlive this object.
    explicit PassingEffects(Effects& to) : to_(to) {}

    [[nodiscard]] bool computes(std::string const& agent) const override {
        return to_.computes(agent);
    }
    [[nodiscard]] session::Command::Body compute(ModelRequest request) const override {
        return to_.compute(std::move(request));
    }
    void ask_model(ModelRequest request, Fn<void(Delta)> delta, Outcome done) override {
        to_.ask_model(std::move(request), std::move(delta), std::move(done));
    }
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  Outcome done) override {
        to_.run_tool(session, id, std::move(agent), std::move(run), std::move(done));
    }
    void ask_gate(SessionId session, session::EffectId id, std::string agent, session::AskGate ask,
                  Outcome done) override {
        to_.ask_gate(session, id, std::move(agent), std::move(ask), std::move(done));
    }
    void poll_tool(SessionId session, session::EffectId id, std::string agent,
                   session::PollTool poll, Outcome done) override {
        to_.poll_tool(session, id, std::move(agent), std::move(poll), std::move(done));
    }
    [[nodiscard]] Epoch holder(std::string const& tool, Json const& state) const override {
        return to_.holder(tool, state);
    }
    void ask_turn(TurnRequest request, Outcome done) override {
        to_.ask_turn(std::move(request), std::move(done));
    }
    void notify_agent(SessionId session, std::string const& agent,
                      session::NotifyAgent const& what) override {
        to_.notify_agent(session, agent, what);
    }
    void stop(SessionId session, session::EffectId id) override { to_.stop(session, id); }
    void ended(SessionId session, std::string const& agent) override { to_.ended(session, agent); }
    [[nodiscard]] std::optional<Time> model_until(SessionId session,
                                                  session::EffectId id) const override {
        return to_.model_until(session, id);
    }

private:
    Effects& to_;
};

}  // namespace dormouse::port
