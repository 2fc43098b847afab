#include "session/decide/task.h"

#include "session/fold/fold.h"

// Messages from other sessions. Each is applied once: the append that applies it also writes the
// key by which the lane remembers it.
namespace dormouse::session {

namespace {

Result<Answer> begin_run(Decider& d, Deliver const& c, StartRun const& run) {
    OutboxKey const& key = c.key;
    State& state = d.state;
    if (is_full(state)) return journal_full();
    if (state.lifecycle == Lifecycle::none) {
        if (run.run != 1) return unknown();
        d.emit(SessionCreated{run.project,
                              run.agent,
                              {},
                              run.title,
                              run.cwd,
                              {},
                              run.by,
                              {},
                              Parent{key.from, run.task, run.depth},
                              d.context.node});
        if (c.past) begin_as_fork(d, *c.past);
    } else if (state.lifecycle == Lifecycle::completed || state.lifecycle == Lifecycle::error) {
        return wrong_state(state, "prompt");
    }
    FITS(state.lifecycle == Lifecycle::active || state.lifecycle == Lifecycle::paused);
    InputReceived input{
        state.turns + 1, InputSource::task, PromptMode::queue, run.parts, run.by, {}, {}, run.run};
    input.trace = run.trace;
    d.emit(std::move(input));
    return done(d);
}

Result<Answer> stop_run(Decider& d, StopRun const& stop) {
    State& state = d.state;
    for (QueuedInput const& input : std::vector(state.queue)) {
        if (input.run == stop.run) d.emit(InputDropped{input.seq, stop.why, stop.reason});
    }
    if (state.turn && state.turn->run == stop.run)
        end_turn(d, FinishReason::cancelled, std::nullopt, stop.why, stop.reason);
    FITS(!state.turn || state.turn->run != stop.run);
    if (stop.ends && state.lifecycle != Lifecycle::completed)
        return handle(d, Move{Move::To::end, stop.why});
    return done(d);
}

struct Take {
    Decider& d;
    Deliver const& c;

    Result<Answer> operator()(StartRun const& run) const { return begin_run(d, c, run); }
    Result<Answer> operator()(StopRun const& stop) const { return stop_run(d, stop); }
    Result<Answer> operator()(RunEnded const& ended) const {
        run_ended(d, c.key.from, ended);
        return done(d);
    }
    Result<Answer> operator()(RunProgress const& progress) const {
        run_goes_on(d, c.key.from, progress);
        return done(d);
    }
    Result<Answer> operator()(MailLost const& lost) const {
        lose_mail(d, lost);
        return done(d);
    }
    Result<Answer> operator()(Mail const& mail) const { return receive_mail(d, mail); }
};

struct TakeBack {
    Decider& d;
    Undelivered const& back;

    Result<Answer> operator()(StartRun const& run) const {
        child_is_gone(d, back.to, run.task);
        return done(d);
    }
    Result<Answer> operator()(Mail const& mail) const {
        bounce_mail(d, back, mail);
        return done(d);
    }
    template <class Any> Result<Answer> operator()(Any const&) const { return done(d); }
};

// A command that wrote no event need not be remembered.
Result<Answer> remembered(Decider& d, OutboxKey const& key, std::size_t before,
                          Result<Answer> result) {
    if (!result) return result;
    FITS(d.events.size() >= before && !d.took);
    if (d.events.size() == before) {
        result->outcome = Answer::Outcome::duplicate;
    } else {
        d.took = key;
    }
    return result;
}

}  // namespace

Result<Answer> handle(Decider& d, Deliver const& c) {
    if (d.context.found.taken) return Answer{.outcome = Answer::Outcome::duplicate};
    std::size_t const before = d.events.size();
    return remembered(d, c.key, before, std::visit(Take{d, c}, c.what));
}

Result<Answer> handle(Decider& d, Undelivered const& c) {
    if (d.context.found.taken) return Answer{.outcome = Answer::Outcome::duplicate};
    std::size_t const before = d.events.size();
    return remembered(d, c.key, before, std::visit(TakeBack{d, c}, c.what));
}

}  // namespace dormouse::session
