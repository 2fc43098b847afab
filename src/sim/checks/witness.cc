#include "sim/checks/witness.h"

#include <algorithm>

namespace dormouse::sim {

using namespace dormouse::session;

void Started::run(ProcessNo process, RunTool const& run, bool kept, bool never_again,
                  Findings& findings) {
    Run const is{run.pending.session, run.pending.call, run.pending.generation,
                 run.attempt,         run.tool,         std::string(run.input.text())};
    attempts_.insert_or_assign({run.pending, run.attempt}, is);
    Start& start = runs_[is];
    bool const remembered = !start.knowing.insert(process).second;
    if (start.kept) {
        findings.add("effect: one attempt of a tool was started twice");
    } else if (remembered) {
        // The disk lost the intent. Another process may start it: the history that it reads does
        // not tell that it ran, and what other processes remember is not asked for before each
        // start, because they may be dead or frozen. This one knows.
        findings.add("effect: a run of the lost history is repeated by its own process");
    }
    start.kept = start.kept || kept;
    if (kept && never_again && ++never_[run.pending] > 1)
        findings.add("effect: a tool that never runs again did");
}

void Started::forget(Durable::Lost const& lost) {
    for (auto const& [session, tail] : lost) {
        for (wire::RecordPtr const& record : tail) {
            auto const* const intent = std::get_if<ToolStarted>(&record->event.body);
            auto const run =
                intent ? attempts_.find({intent->pending, intent->attempt}) : attempts_.end();
            if (run == attempts_.end()) continue;
            runs_.at(run->second).kept = false;
            auto const counted = never_.find(intent->pending);
            if (counted != never_.end() && counted->second > 0) --counted->second;
        }
    }
}

void Witness::forget_lost() {
    std::erase_if(begun_, [&](auto const& entry) {
        Event const* const event = durable_.event(entry.first, entry.second.since);
        return !event || !std::holds_alternative<ToolStarted>(event->body);
    });
    std::erase_if(running_, [&](auto const& entry) {
        return !durable_.event(entry.first, entry.second.since);
    });
}

void Witness::stop(SessionId session, EffectId id) {
    running_.erase({session, id});
    PassingEffects::stop(session, id);
}

port::Outcome Witness::watch(SessionId session, EffectId id, port::Outcome done) {
    return [this, session, id, done = std::move(done)](Command::Body outcome) mutable {
        running_.erase({session, id});
        done(std::move(outcome));
    };
}

bool Witness::is_lost(SessionId session, Matches const& matches) const {
    auto const& lost = durable_.lost(session);
    return std::ranges::any_of(
        lost, [&](wire::RecordPtr const& record) { return matches(record->event); });
}

void Witness::begin(SessionId session, EffectId id) {
    ++started_.effects;
    if (gone_()) findings_.add("effect: a process that is gone starts it");
    if (!begun_.insert({session, id}).second) findings_.add("effect: it was started twice");
    running_.insert({session, id});
}

void Witness::ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                        port::Outcome done) {
    Durable::Session const* const session = durable_.find(request.session);
    auto const is_intent = [ask = request.ask](Event const& event) {
        auto const* const intent = std::get_if<ModelRequested>(&event.body);
        return intent && event.turn == ask.turn && intent->step == ask.step &&
               intent->attempt == ask.attempt && intent->view_seq == ask.view_seq;
    };
    auto const is_mine = [&](Event const& event) {
        return is_intent(event) && std::get<ModelRequested>(event.body).epoch == nodes_.epoch();
    };
    bool known = false;
    for (std::size_t i = session ? session->records.size() : 0; i > 0 && !known; --i) {
        Event const& event = session->records[i - 1]->event;
        known = is_intent(event);
        if (!known) continue;
        auto const* const intent = std::get_if<ModelRequested>(&event.body);
        bool const mine = intent->epoch == nodes_.epoch();
        if (!mine && is_lost(request.session, is_mine)) break;  // another one has its numbers
        if (!mine) findings_.add("effect: a request of another process continues");
        begin(request.session, {event.seq, 0});
        done = watch(request.session, {event.seq, 0}, std::move(done));
    }
    if (!known && !is_lost(request.session, is_intent))
        findings_.add("effect: the model is asked before the intent is durable");
    PassingEffects::ask_model(std::move(request), std::move(delta), std::move(done));
}

void Witness::run_tool(SessionId session, EffectId id, std::string agent, RunTool run,
                       port::Outcome done) {
    auto const is_intent = [&](Event const& event) {
        auto const* const intent = std::get_if<ToolStarted>(&event.body);
        return intent && event.seq == id.since && intent->pending == run.pending &&
               intent->attempt == run.attempt;
    };
    Event const* const event = durable_.event(session, id.since);
    bool const durable = event && is_intent(*event);
    bool const lost = !durable && is_lost(session, is_intent);
    started_.run(number_, run, !lost, never_again(session, run), findings_);
    if (lost)
        return PassingEffects::run_tool(session, id, std::move(agent), std::move(run),
                                        std::move(done));
    begin(session, id);
    auto const* const intent = event ? std::get_if<ToolStarted>(&event->body) : nullptr;
    if (!durable) {
        findings_.add("effect: a tool runs before its intent is durable");
    } else if (intent->epoch != nodes_.epoch()) {
        findings_.add("effect: a tool is run again without permission");
    }
    PassingEffects::run_tool(session, id, std::move(agent), std::move(run),
                             watch(session, id, std::move(done)));
}

bool Witness::never_again(SessionId session, RunTool const& run) const {
    Durable::Session const* const found = durable_.find(session);
    if (!found) return false;
    auto const call = found->state.calls.find(run.pending.call);
    return call != found->state.calls.end() && call->second.spec.terms.crash == CrashPolicy::never;
}

void Witness::ask_gate(SessionId session, EffectId id, std::string agent, AskGate ask,
                       port::Outcome done) {
    bool const lost = !durable_.event(session, id.since) && !durable_.lost(session).empty();
    if (!lost) begin(session, id);
    if (!durable_.event(session, id.since) && !lost) {
        findings_.add("effect: a gate is asked before its intent is durable");
    }
    PassingEffects::ask_gate(session, id, std::move(agent), std::move(ask),
                             watch(session, id, std::move(done)));
}

// A poll cut off by a crash is repeated by the next process; a settled pause is not polled.
void Witness::poll_tool(SessionId session, EffectId id, std::string agent, PollTool poll,
                        port::Outcome done) {
    Durable::Session const* const found = durable_.find(session);
    Event const* const event = durable_.event(session, id.since);
    bool const lost = !event && !durable_.lost(session).empty();
    if (!lost) begin(session, id);
    bool const follows = event && (std::holds_alternative<CallPaused>(event->body) ||
                                   std::holds_alternative<Polled>(event->body));
    if (!follows && !lost) findings_.add("effect: a poll follows from nothing that is durable");
    // Another process may settle it at the same time.
    if (nodes_.alone() && found && !open_pause(found->state, poll.pending))
        findings_.add("effect: a call that is settled is polled");
    PassingEffects::poll_tool(session, id, std::move(agent), std::move(poll),
                              watch(session, id, std::move(done)));
}

}  // namespace dormouse::sim
