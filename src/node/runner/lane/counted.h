#pragma once
// Wrappers between a runner and its effects and journal that count for metrics; used by a server,
// as a process of its own or inside a Runtime. On the loop.

#include "port/meter.h"
#include "port/passing_effects.h"
#include "port/store.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace dormouse::runner {

// Forwards to `to` and counts starts by kind and outcomes of tools.
class CountedEffects final : public port::PassingEffects {
public:
    // `to` outlives this.
    explicit CountedEffects(port::Effects& to) : PassingEffects(to) {}
    // `meter` outlives this, or is replaced with nullptr first: then nothing is counted.
    void count_by(port::Meter* meter) { meter_ = meter; }

    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override;
    void run_tool(SessionId session, session::EffectId id, std::string agent, session::RunTool run,
                  port::Outcome done) override;
    void ask_gate(SessionId session, session::EffectId id, std::string agent, session::AskGate ask,
                  port::Outcome done) override;
    void poll_tool(SessionId session, session::EffectId id, std::string agent,
                   session::PollTool poll, port::Outcome done) override;

private:
    void started(std::string_view kind) {
        if (meter_) meter_->started(kind);
    }

    port::Meter* meter_ = nullptr;
};

// Forwards to `to` and counts commits.
class CountedJournal final : public port::Journal {
public:
    // The arguments outlive this.
    CountedJournal(port::Journal& to, port::Clock const& clock) : to_(to), clock_(clock) {}
    // `meter` outlives this, or is replaced with nullptr first: then nothing is counted.
    void count_by(port::Meter* meter) { meter_ = meter; }
    // Called for each commit that failed because of the store itself (a head that moved is not such
    // a failure). May be empty.
    void on_failed(std::function<void(Error const&)> failed) { failed_ = std::move(failed); }

    void commit(std::vector<port::Append> appends,
                port::Fn<void(std::vector<port::AppendResult>)> done) override;
    void write(port::Fn<Result<void>(port::Store&)> work,
               port::Fn<void(Result<void>)> done) override {
        to_.write(std::move(work), std::move(done));
    }
    void read(port::ReadKey key, port::Fn<void(port::Store&)> work,
              port::Fn<void()> done) override {
        to_.read(key, std::move(work), std::move(done));
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
    PassingEffects::ask_model(std::move(request), std::move(delta), std::move(done));
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
    PassingEffects::run_tool(session, id, std::move(agent), std::move(run), std::move(counted));
}

inline void CountedEffects::ask_gate(SessionId session, session::EffectId id, std::string agent,
                                     session::AskGate ask, port::Outcome done) {
    started("gate");
    PassingEffects::ask_gate(session, id, std::move(agent), std::move(ask), std::move(done));
}

inline void CountedEffects::poll_tool(SessionId session, session::EffectId id, std::string agent,
                                      session::PollTool poll, port::Outcome done) {
    started("poll");
    PassingEffects::poll_tool(session, id, std::move(agent), std::move(poll), std::move(done));
}

inline void CountedJournal::commit(std::vector<port::Append> appends,
                                   port::Fn<void(std::vector<port::AppendResult>)> done) {
    to_.commit(std::move(appends), [this, begun = clock_.monotonic(), done = std::move(done)](
                                       std::vector<port::AppendResult> results) mutable {
        if (meter_) meter_->committed(results, clock_.monotonic() - begun);
        auto const failed = std::ranges::find_if(results, [](port::AppendResult const& result) {
            return !result && result.error().cause == port::AppendError::Cause::failed &&
                   result.error().code != Code::conflict;
        });
        if (failed != results.end() && failed_) failed_(failed->error());
        done(std::move(results));
    });
}

}  // namespace dormouse::runner
