#include "runner/lane/lane.h"

#include "base/check.h"
#include "base/trace.h"
#include "runner/read/read_view.h"

#include "session/limits.h"
#include "session/submission.h"
#include "wire/view/view.h"
#include "wire/view/view_budget.h"
#include "wire/view/view_files.h"

#include <new>
#include <utility>

// Effects: starts outstanding effects that do not run, and stops running effects that are no longer
// outstanding. In a new process nothing runs, so all outstanding effects start: resuming is this
// same function.
namespace dormouse::runner {

using namespace dormouse::session;

namespace {

void fit(port::AgentTerms const& agents, port::ModelRequest& request) {
    auto const tokens = agents.view_tokens(request.agent);
    if (tokens) wire::fit(request.view, *tokens);
}

// As late as what Runner::is_for_another() takes from others.
constexpr Duration poll_elsewhere_limit{3'000};

}  // namespace

// The process that holds what is polled makes the poll. Other polls of a session without a driver
// are left to the process that has its share, until they are late. Nobody else polls for a session
// that has a driver, or that has its place here.
std::optional<Duration> Lane::poll_delay(Call const& call) const {
    CHECK(state_);
    Epoch const holder = holder_of(call);
    if (holder == services_.nodes.epoch()) return Duration(0);
    if (holder != 0) return std::nullopt;
    bool const placed = !state_->node.empty() && services_.agents.is_placed(state_->agent);
    if (placed || driver_ != 0) return Duration(0);
    return services_.nodes.has_share(id_.number()) ? Duration(0) : poll_elsewhere_limit;
}

void Lane::dispatch() {
    trace();
    CHECK(state_ && fresh_.empty());  // effects leave only after their intent is durable
    bool const over =
        state_->lifecycle == Lifecycle::completed || state_->lifecycle == Lifecycle::deleted;
    if (over) services_.effects.ended(id_, state_->agent);
    auto const& effects = outstanding(*state_);
    auto const polls = due_polls(*state_, services_.schedule.now());
    if (effects.empty() && polls.empty() && running_.empty()) return;
    std::erase_if(running_, [&](EffectId id) {
        if (effects.contains(id) || polls.contains(id)) return false;
        services_.effects.stop(id_, id);
        return true;
    });
    if (!services_.nodes.may_start()) return;
    std::vector<Effect> starting;
    for (auto const& [id, effect] : effects) {
        if (services_.schedule.draining() && !is_own_run(effect)) continue;
        if (may_start() && running_.insert(id).second) starting.push_back(effect);
    }
    for (Effect const& poll : polls_to_make(services_.schedule.now())) {
        // the others start when these are done
        if (running_.size() >= limits::outstanding_max) break;
        if (running_.insert(poll.id).second) starting.push_back(poll);
    }
    for (Effect const& effect : starting) {
        waiting_.erase(effect.id);
        try {
            start(effect);
        } catch (std::bad_alloc const&) {
            running_.erase(effect.id);  // the scan starts it again
        }
    }
}

// Returns true if this process wrote the intent to run a tool. A draining process still starts such
// runs: their intents were being stored when the drain began, and a run that never begins would be
// in doubt.
bool Lane::is_own_run(Effect const& effect) const {
    CHECK(state_);
    auto const* const run = std::get_if<RunTool>(&effect.what);
    if (run == nullptr) return false;
    auto const call = state_->calls.find(run->pending.call);
    return call != state_->calls.end() && call->second.epoch == services_.nodes.epoch();
}

std::vector<Effect> Lane::polls_to_make(Time now) const {
    CHECK(state_);
    std::vector<Effect> out;
    if (!services_.nodes.may_start() || services_.schedule.draining()) return out;
    bool const all = may_start();
    for (auto const& [id, effect] : due_polls(*state_, now)) {
        Call const& call = state_->calls.at(id.call);
        bool const held = holder_of(call) == services_.nodes.epoch();
        auto const delay = poll_delay(call);
        bool const due = delay && *call.pause->poll_at <= now - *delay;
        if (due && (all || held) && !running_.contains(id)) out.push_back(effect);
    }
    return out;
}

// Returns true if effects may start: in the store, this process is the session's driver. Polls have
// no intent and need no driver, and those that this process holds always start.
bool Lane::may_start() const {
    CHECK(state_);
    port::Nodes const& nodes = services_.nodes;
    bool const polls = outstanding(*state_).empty() && drives();
    return (nodes.alone() || polls || driver_ == nodes.epoch()) && nodes.may_start();
}

// Returns a check for the time after the data of an effect was read: it returns false if the effect
// must not start any more. Meanwhile the others may have declared this process dead, or the store
// may have fallen back, and another effect may have the same id.
std::function<bool()> Lane::after_read(EffectId id) {
    CHECK(running_.contains(id));
    return [self = shared_from_this(), id, epoch = services_.nodes.epoch(), history = history_] {
        if (history->lost || !self->running_.contains(id)) return false;
        port::Nodes const& nodes = self->services_.nodes;
        bool const may = nodes.epoch() == epoch && nodes.may_start();
        if (!may) self->forget_effect(id);
        return may;
    };
}

void Lane::start(Effect const& effect) {
    CHECK(running_.contains(effect.id));
    auto done = outcome_of(effect.id);
    if (auto const* ask = std::get_if<AskModel>(&effect.what)) {
        ask_model(effect, *ask);
    } else if (auto const* run = std::get_if<RunTool>(&effect.what)) {
        run_tool(effect.id, *run);
    } else if (auto const* poll = std::get_if<PollTool>(&effect.what)) {
        services_.effects.poll_tool(id_, effect.id, state_->agent, *poll, std::move(done));
    } else if (auto const* turn = std::get_if<AskTurn>(&effect.what)) {
        ask_turn(effect, *turn);
    } else if (auto const* notice = std::get_if<NotifyAgent>(&effect.what)) {
        services_.effects.notify_agent(id_, state_->agent, *notice);
    } else {
        services_.effects.ask_gate(id_, effect.id, state_->agent, std::get<AskGate>(effect.what),
                                   std::move(done));
    }
}

// The store fell back to a state without the outcome of a run that this process has made: the
// tool's crash policy decides whether it runs again, as after a crash (P4).
void Lane::run_tool(EffectId id, RunTool const& run) {
    CHECK(state_ && running_.contains(id));
    auto done = outcome_of(id);
    if (!services_.runs.add(id_, run)) {
        std::string const why = "its outcome was lost with the newest writes of the store";
        Sha256 const digest = submitted_error(why).digest;
        return done(ToolOutcome{run.pending, run.attempt, InDoubt{why, {}}, digest});
    }
    try {
        services_.effects.run_tool(id_, id, state_->agent, run, std::move(done));
    } catch (std::bad_alloc const&) {
        services_.runs.remove(id_, run);
        throw;
    }
}

std::optional<Time> Lane::model_until() const {
    CHECK(state_);
    if (!state_->turn || !state_->turn->request) return std::nullopt;
    return services_.effects.model_until(id_, {state_->turn->request->since, 0});
}

// Returns when the gate of the timer is given up: its time begins when a thread takes it.
std::optional<Time> Lane::gate_until(Timer const& timer) const {
    CHECK(state_);
    Call const& call = state_->calls.at(timer.call);
    if (call.phase != CallPhase::gating) return std::nullopt;
    return services_.effects.model_until(id_, {call.outstanding_since, timer.call});
}

// Those that found the queue of their threads full whenever they were started (not_begun), that
// wait in it, and that a thread has taken less than their time limit ago.
std::vector<CallNo> Lane::gates_not_begun(Time at) const {
    CHECK(state_);
    std::vector<CallNo> out;
    for (auto const& [id, effect] : outstanding(*state_)) {
        if (!std::holds_alternative<AskGate>(effect.what)) continue;
        auto const until = services_.effects.model_until(id_, id);
        if (!running_.contains(id) || (until && *until > at)) out.push_back(id.call);
    }
    return out;
}

// Returns when this process does it. nullopt: it does it already, or when another poll ends.
std::optional<Time> Lane::time_of(Timer const& timer) const {
    CHECK(state_);
    if (timer.kind == TimerKind::poll) {
        EffectId const id{state_->calls.at(timer.call).pause->polled, timer.call};
        bool const starts = !running_.contains(id) && running_.size() < limits::outstanding_max;
        auto const delay = poll_delay(state_->calls.at(timer.call));
        return starts && delay ? std::optional(timer.at + *delay) : std::nullopt;
    }
    if (timer.kind != TimerKind::give_up) return timer.at;
    auto const until = timer.call == 0 ? model_until() : gate_until(timer);
    return std::max(timer.at, until.value_or(timer.at));
}

std::optional<Time> Lane::next_time() const {
    CHECK(state_);
    bool const active = state_->lifecycle == Lifecycle::active;
    std::optional<Time> next;
    for (Timer const& timer : state_->timers) {
        if (next && *next <= timer.at) break;
        if (!active && timer.kind != TimerKind::deadline) continue;
        if (auto const at = time_of(timer); at && (!next || *at < *next)) next = at;
    }
    return next;
}

void Lane::ask_model(Effect const& effect, AskModel const& ask) {
    CHECK(state_ && running_.contains(effect.id));
    port::ModelRequest request{id_, state_->agent, ask, {}, effect.id};
    if (ask.external) request.external = agent_context(*state_);
    if (recent_from_start()) return show(wire::history_of(id_, recent_), std::move(request));
    auto read = [end = wire::journal_end(*state_), seq = ask.view_seq](port::JournalStore& store) {
        return read_view(store, end, seq);
    };
    port::ask(
        services_.journal, std::move(read),
        [self = shared_from_this(), may_start = after_read(effect.id),
         request = std::move(request)](Result<ModelView> view) mutable {
            if (!may_start()) return;
            if (!view) return self->forget_effect(request.id);
            request.view = *std::move(view);
            fit(self->services_.agents, request);
            self->continue_fresh(std::move(request), late_after, &Lane::add_files);
        },
        port::read_key(id_));
}

void Lane::show(wire::History const& history, port::ModelRequest request) {
    request.view = wire::model_view(history, request.ask.view_seq);
    fit(services_.agents, request);
    add_files(std::move(request));
}

// Reads the images and files that the view names, for this request only.
void Lane::add_files(port::ModelRequest request) {
    CHECK(running_.contains(request.id));
    auto events = wire::files_of(request.view, id_);
    if (events.empty()) return send_request(std::move(request));
    auto may_start = after_read(request.id);
    auto read = [id = id_, events = std::move(events)](port::JournalStore& store) {
        return read_files(store, id, events);
    };
    port::ask(
        services_.journal, std::move(read),
        [self = shared_from_this(), may_start = std::move(may_start),
         request = std::move(request)](Result<FilesById> files) mutable {
            if (!may_start()) return;
            if (files) {
                request.view.files = *std::move(files);
                return self->continue_fresh(std::move(request), late_after, &Lane::send_request);
            }
            // Damage (`internal`): reading again would not help.
            if (files.error().code != Code::internal) return self->forget_effect(request.id);
            AskModel const& ask = request.ask;
            Trouble const damage{"model_failed", files.error().detail};
            self->services_.outcomes.offer(
                self->id_, request.id,
                ModelFailure{ask.turn, ask.step, ask.attempt, damage, false, std::nullopt});
        },
        port::read_key(id_));
}

// A prompt to an external agent is a run. If the read before it was slow, the session is compared
// with the store again, as before a tool (compare()). It is not read again, because a slow store
// would then never let the prompt begin.
void Lane::continue_fresh(port::ModelRequest request, Duration late_after, NextStep next) {
    if (!request.external || !is_late(late_after)) return (this->*next)(std::move(request));
    auto may_begin = after_read(request.id);
    auto compared = [self = shared_from_this(), may_begin = std::move(may_begin), late_after, next,
                     request = std::move(request)](Result<Lane const*> const& read) mutable {
        if (!may_begin()) return;
        bool const is_outstanding =
            read && !self->outdated_ && outstanding(*self->state_).contains(request.id);
        EffectId const id = request.id;
        if (!is_outstanding || !self->may_start()) return self->forget_effect(id);
        try {
            self->continue_fresh(std::move(request), 2 * late_after, next);
        } catch (std::bad_alloc const&) {
            self->forget_effect(id);  // the scan starts it again
        }
    };
    read(std::move(compared));
}

void Lane::send_request(port::ModelRequest request) {
    CHECK(running_.contains(request.id));
    auto on_delta = [&observer = services_.observer, session = id_, ask = request.ask](
                        port::Delta const& delta) { observer.delta(session, ask, delta); };
    auto done = outcome_of(request.id);
    services_.effects.ask_model(std::move(request), std::move(on_delta), std::move(done));
}

port::Outcome Lane::outcome_of(EffectId id) const {
    return [&outcomes = services_.outcomes, session = id_, id,
            history = history_](Command::Body outcome) {
        if (!history->lost) outcomes.offer(session, id, std::move(outcome));
    };
}

void Lane::offer(EffectId id, Command::Body outcome) {
    Reply again = offer_again(id, outcome);
    receive(of_effect(id, std::move(outcome)), std::move(again));
}

void Lane::offer_prepared(EffectId id, Command::Body outcome) {
    Reply again = offer_again(id, outcome);
    receive_prepared(of_effect(id, std::move(outcome)), std::move(again));
}

Incoming Lane::of_effect(EffectId id, Command::Body outcome) {
    Incoming out;
    out.of_effect = id != EffectId{};
    out.at = services_.schedule.now();
    out.random = services_.entropy.random();
    out.command.body = std::move(outcome);
    return out;
}

Lane::Reply Lane::offer_again(EffectId id, Command::Body const& outcome) {
    auto again = std::make_shared<Command::Body>(outcome);
    return [self = shared_from_this(), id, again](Result<Answer> const& answer) {
        bool const answered = answer || info(answer.error().code).next != Next::retry;
        if (!answered) self->services_.outcomes.offer_later(self->id_, id, std::move(*again));
    };
}

// The effect was not started: a scan causes a dispatch that starts it.
void Lane::forget_effect(EffectId id) { running_.erase(id); }

// A draining process starts nothing again.
void Lane::not_begun(EffectId id) {
    running_.erase(id);
    if (!state_) return;
    auto const effect = outstanding(*state_).find(id);
    if (effect == outstanding(*state_).end()) return;
    auto const* const run = std::get_if<RunTool>(&effect->second.what);
    if (run == nullptr) return;
    services_.runs.remove(id_, *run);
    waiting_.insert(id);
    if (services_.schedule.draining()) give_back_runs();
}

void Lane::give_back_runs() {
    if (!state_) return;
    std::string const why = "the tool was not started: too many tools wait for a worker";
    Sha256 const digest = submitted_error(why).digest;
    for (EffectId const id : std::exchange(waiting_, {})) {
        auto const effect = outstanding(*state_).find(id);
        if (effect == outstanding(*state_).end()) continue;
        auto const& run = std::get<RunTool>(effect->second.what);
        services_.outcomes.offer(
            id_, id,
            ToolOutcome{run.pending, run.attempt, Failed{why, /*nothing_done=*/true}, digest});
    }
}

}  // namespace dormouse::runner
