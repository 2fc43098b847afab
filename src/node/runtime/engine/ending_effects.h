#pragma once
// Effects of a runtime that may be ending. On the loop.

#include "port/passing_effects.h"

#include <functional>
#include <stop_token>
#include <utility>

namespace dormouse::runtime {

// Drops failures that come after tools and models were asked to stop: the next start then treats
// the attempt as after a crash. Results and pauses are forwarded.
class EndingEffects final : public port::PassingEffects {
public:
    using Dropped = std::function<void(SessionId, session::EffectId)>;
    // `to` outlives this. `dropped` is called for an effect that no longer runs and has no outcome.
    EndingEffects(port::Effects& to, std::stop_token ending, Dropped dropped)
        : PassingEffects(to), ending_(std::move(ending)), dropped_(std::move(dropped)) {}

    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override {
        auto watched = watch(request.session, request.id, std::move(done));
        PassingEffects::ask_model(std::move(request), std::move(delta), std::move(watched));
    }
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override {
        if (starts_no_tools_) return dropped_(session, id);
        PassingEffects::run_tool(session, id, std::move(agent), std::move(run),
                                 watch(session, id, std::move(done)));
    }

    // From now on no tool starts: tools and models are about to be asked to stop.
    void start_no_tools() { starts_no_tools_ = true; }

private:
    static bool is_failure(session::Command::Body const& body) {
        if (std::holds_alternative<session::ModelFailure>(body)) return true;
        auto const* const outcome = std::get_if<session::ToolOutcome>(&body);
        if (!outcome) return false;
        auto const* const failed = std::get_if<session::Failed>(&outcome->what);
        return failed && !failed->nothing_done;
    }
    [[nodiscard]] port::Outcome watch(SessionId session, session::EffectId id, port::Outcome done) {
        return [this, session, id, done = std::move(done)](session::Command::Body body) mutable {
            if (ending_.stop_requested() && is_failure(body)) return dropped_(session, id);
            done(std::move(body));
        };
    }

    std::stop_token const ending_;
    Dropped const dropped_;
    bool starts_no_tools_ = false;
};

}  // namespace dormouse::runtime
