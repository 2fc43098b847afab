#pragma once
// What stands between a runner and its world so that somebody can count: the server does, whether
// it is a program of its own or serves the runtime of another. On the loop.

#include "port/effects.h"
#include "port/meter.h"
#include "port/store.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace dormouse::runner {

// Passes on to `to` and counts: starts by kind, outcomes of tools.
class CountedEffects final : public port::Effects {
public:
    // `to` outlives this.
    explicit CountedEffects(port::Effects& to) : to_(to) {}
    // It outlives this, or nullptr is told first: then nothing is counted.
    void count_by(port::Meter* meter) { meter_ = meter; }

    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override;
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override;
    void ask_gate(SessionId session, session::EffectId id, std::string agent, session::AskGate ask,
                  port::Outcome done) override;
    void poll_tool(SessionId session, session::EffectId id, std::string agent,
                   session::PollTool poll, port::Outcome done) override;
    void ask_turn(port::TurnRequest request, port::Outcome done) override {
        to_.ask_turn(std::move(request), std::move(done));
    }
    void tell_agent(SessionId session, std::string const& agent,
                    session::TellAgent const& what) override {
        to_.tell_agent(session, agent, what);
    }
    void stop(SessionId session, session::EffectId id) override { to_.stop(session, id); }
    [[nodiscard]] std::optional<std::uint64_t> view_tokens(
        std::string const& agent) const override {
        return to_.view_tokens(agent);
    }
    [[nodiscard]] std::optional<Time> model_until(SessionId session,
                                                  session::EffectId id) const override {
        return to_.model_until(session, id);
    }
    [[nodiscard]] bool has_gate(std::string const& gate) const override {
        return to_.has_gate(gate);
    }
    [[nodiscard]] std::string refusal(std::string const& agent,
                                      std::string const& project) const override {
        return to_.refusal(agent, project);
    }
    [[nodiscard]] std::optional<session::TurnTerms> terms(std::string const& agent) const override {
        return to_.terms(agent);
    }

private:
    void started(std::string_view kind) {
        if (meter_) meter_->started(kind);
    }

    port::Effects& to_;
    port::Meter* meter_ = nullptr;
};

// Passes on to `to` and counts commits.
class CountedJournal final : public port::Journal {
public:
    // Both outlive this.
    CountedJournal(port::Journal& to, port::Clock const& clock) : to_(to), clock_(clock) {}
    // It outlives this, or nullptr is told first: then nothing is counted.
    void count_by(port::Meter* meter) { meter_ = meter; }
    // Told of each commit that the store did not take for a reason of its own (a head that moved is
    // none). Empty: nobody.
    void on_failed(std::function<void(Error const&)> failed) { failed_ = std::move(failed); }

    void commit(std::vector<port::Append> appends,
                port::Fn<void(std::vector<Result<void>>)> done) override;
    void write(port::Fn<Result<void>(port::Store&)> work,
               port::Fn<void(Result<void>)> done) override {
        to_.write(std::move(work), std::move(done));
    }
    void read(port::Fn<void(port::Store&)> work, port::Fn<void()> done) override {
        to_.read(std::move(work), std::move(done));
    }

private:
    port::Journal& to_;
    port::Clock const& clock_;
    port::Meter* meter_ = nullptr;
    std::function<void(Error const&)> failed_ = {};
};

inline void CountedEffects::ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                                      port::Outcome done) {
    started("model");
    to_.ask_model(std::move(request), std::move(delta), std::move(done));
}

inline void CountedEffects::run_tool(SessionId session, session::EffectId id, std::string agent,
                                     session::RunTool run, port::Outcome done) {
    started("tool");
    auto counted = [this, tool = run.tool,
                    done = std::move(done)](session::Command::Body outcome) mutable {
        auto const* const what = std::get_if<session::ToolOutcome>(&outcome);
        if (what && meter_) meter_->tool_ended(tool, *what);
        done(std::move(outcome));
    };
    to_.run_tool(session, id, std::move(agent), std::move(run), std::move(counted));
}

inline void CountedEffects::ask_gate(SessionId session, session::EffectId id, std::string agent,
                                     session::AskGate ask, port::Outcome done) {
    started("gate");
    to_.ask_gate(session, id, std::move(agent), std::move(ask), std::move(done));
}

inline void CountedEffects::poll_tool(SessionId session, session::EffectId id, std::string agent,
                                      session::PollTool poll, port::Outcome done) {
    started("poll");
    to_.poll_tool(session, id, std::move(agent), std::move(poll), std::move(done));
}

inline void CountedJournal::commit(std::vector<port::Append> appends,
                                   port::Fn<void(std::vector<Result<void>>)> done) {
    to_.commit(std::move(appends), [this, begun = clock_.monotonic(), done = std::move(done)](
                                       std::vector<Result<void>> results) mutable {
        if (meter_) meter_->committed(results, clock_.monotonic() - begun);
        auto const failed = std::ranges::find_if(results, [](Result<void> const& result) {
            return !result && result.error().code != Code::conflict;
        });
        if (failed != results.end() && failed_) failed_(failed->error());
        done(std::move(results));
    });
}

}  // namespace dormouse::runner
