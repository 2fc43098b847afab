#include "session/budget/cost.h"
#include "session/decide/decider.h"
#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/limits.h"

#include <algorithm>

// Sessions of external agents: prompts, observed updates, and what happens to a turn during which
// the agent exits.
namespace dormouse::session {

namespace {

template <class Outcome> bool is_newest(State const& state, Outcome const& c) {
    if (!state.turn || !state.turn->request || !state.turn->terms.on_restart) return false;
    return state.turn->no == c.turn && state.turn->step == c.step &&
           state.turn->request->attempt == c.attempt;
}

// The lane retries updates that it could not write; later ones must not overtake them.
std::unexpected<Error> too_early() {
    Error error{Code::not_ready, "An earlier update is not stored yet; retry.", {}, 100};
    return std::unexpected(std::move(error));
}

// Returns when the agent is started again; nullopt: a permission waits for a person.
std::optional<Time> next_start(Decider const& d) {
    FITS(d.state.turn.has_value());
    State const& state = d.state;
    if (!state.calls.empty()) return std::nullopt;
    return d.at + std::min(limits::retry_max,
                           limits::retry_base * (1 << std::min(state.turn->failures, 6U)));
}

// Returns why the agent is not started again; empty: it is.
std::string gives_up(Decider const& d) {
    FITS(d.state.turn.has_value());
    auto const& deaths = d.state.agent_deaths;
    constexpr std::size_t before = limits::agent_deaths_max - 1;
    bool const often = deaths.size() >= before &&
                       d.at - deaths[deaths.size() - before] <= limits::agent_deaths_time;
    if (often)
        return "The agent's program died " + std::to_string(limits::agent_deaths_max) +
               " times within a minute: ";
    if (d.state.turn->failures + 1 < limits::agent_attempts_max) return "";
    return "The agent's program did not answer the prompt in " +
           std::to_string(limits::agent_attempts_max) + " attempts: ";
}

std::vector<std::string> open_tools(OpenTurn const& turn) {
    std::vector<std::string> out;
    for (auto const& [id, title] : turn.external.tools) out.push_back(title.empty() ? id : title);
    return out;
}

void change_status(Decider& d, Lifecycle to, std::string why) {
    if (d.state.lifecycle == Lifecycle::active)
        d.emit(StatusChanged{Lifecycle::active, to, std::move(why)});
}

Seq message_for(Decider const& d, bool begins) {
    Seq const known = d.state.turn && d.state.turn->request ? d.state.turn->external.message : 0;
    return begins || known == 0 ? d.state.head + 1 : known;
}

void record_update(Decider& d, std::uint32_t attempt, std::uint32_t number, TurnNo turn,
                   AgentOutput const& what) {
    FITS(attempt == 0 || d.state.turn);
    if (what.kind == AgentOutputKind::plan)
        return d.emit(AgentUpdate{attempt, number, turn, 0, what});
    bool const begins = what.kind == AgentOutputKind::message && what.begins;
    bool const known = attempt != 0 && what.kind == AgentOutputKind::tool &&
                       d.state.turn->external.tools.contains(what.tool_call);
    Seq const message = known ? 0 : message_for(d, begins);
    d.emit(AgentUpdate{attempt, number, turn, message, what});
}

// An unprompted update gets a turn of its own, which ends in the same append. Not in a task, whose
// turns are its runs, and not after a failed turn, which waits for retry.
bool opens_turn(State const& state) {
    FITS(state.last_turn.has_value());
    bool const idle = state.lifecycle == Lifecycle::active && !state.turn && state.queue.empty();
    LastTurn const& last = *state.last_turn;
    return idle && !state.parent && !last.failed && last.cause != InputSource::external;
}

// An update that came after the prompt was answered.
void notify_late(Decider& d, AgentReport const& c) {
    bool const gone = d.state.lifecycle == Lifecycle::deleted || !d.state.last_turn;
    if (gone || is_full(d.state) || c.what.kind == AgentOutputKind::plan) return;
    if (!c.by_itself || !opens_turn(d.state))
        return record_update(d, 0, 0, d.state.last_turn->no, c.what);
    TurnTerms terms = d.context.terms;
    terms.before.clear();
    terms.after.clear();
    InputReceived input;
    input.turn = d.state.turns + 1;
    input.source = InputSource::external;
    input.parts = text_parts(text_json("[The agent continued without a prompt.]"));
    d.emit(input);
    FITS(d.state.queue.size() == 1);  // the turn begins with it
    d.emit(TurnStarted{input.turn, d.state.head, InputSource::external, std::move(terms), false});
    record_update(d, 0, 0, input.turn, c.what);
    end_turn(d, FinishReason::stop, std::nullopt, "");
}

void cancel_asks(Decider& d) {
    while (!d.state.calls.empty())
        cancel_call(d, d.state.calls.begin()->first, "the agent went on without an answer");
}

// Returns true for an approval in an earlier attempt, for the same input and tool.
bool resembles(PermissionAnswer const& v, AgentAsk const& c) {
    return !c.spec.input.is_null() && v.call != 0 && v.approved && v.attempt < c.attempt &&
           v.tool == c.spec.tool && v.input_digest == c.spec.input_digest;
}

// Returns true if the answer resembles the question and was given for exactly what is asked now.
bool fits(PermissionAnswer const& v, AgentAsk const& c) {
    return c.spec.shown && v.shown == c.spec.shown && resembles(v, c);
}

// An approval that came after the agent had exited, so that it was not used.
PermissionAnswer const* grant_for(State const& state, AgentAsk const& c) {
    FITS(state.turn.has_value());
    auto const& permissions = state.turn->external.permissions;
    auto const found = std::ranges::find_if(permissions, [&](PermissionAnswer const& v) {
        return fits(v, c) && !v.may_be_used && !v.granted;
    });
    return found == permissions.end() ? nullptr : &*found;
}

std::string warning_of_repeat(State const& state, AgentAsk const& c) {
    FITS(state.turn.has_value());
    auto const& permissions = state.turn->external.permissions;
    if (std::ranges::any_of(permissions, [&](PermissionAnswer const& v) { return fits(v, c); }))
        return "\nIt was approved before the agent's program ended, and may have run already.";
    bool like = false, may_have_run = false;
    for (PermissionAnswer const& v : permissions) {
        if (!resembles(v, c)) continue;
        like = true;
        may_have_run = may_have_run || v.may_be_used || v.granted;
    }
    if (!like) return "";
    return std::string(
               "\nAn approval of the same input, from before the agent's program ended, does "
               "not apply: this request may differ from the approved one.") +
           (may_have_run ? " What was approved may have run already." : "");
}

// A person who is asked again should know about the earlier approval.
void warn_of_repeat(State const& state, AgentAsk& c) {
    std::string const warning = warning_of_repeat(state, c);
    c.terms.message += warning;
    for (PauseTerms& terms : c.spec.then) terms.message += warning;
}

void ask(Decider& d, std::uint32_t step, CallSpec const& spec, PauseTerms const& terms) {
    CHECK(spec.ask != 0 && spec.ask_attempt != 0);
    PendingId const pending{d.state.id, d.state.calls_ever + 1, 1, d.draw()};
    d.emit(AgentAsked{pending, spec, step, message_for(d, false), with_reminders(d, terms),
                      deadline_of(terms, spec.terms, d.at)});
}

bool asked_before(State const& state, CallSpec const& spec) {
    FITS(state.turn.has_value());
    auto const same = [&](std::uint32_t attempt, std::uint32_t ask) {
        return attempt == spec.ask_attempt && ask == spec.ask;
    };
    return std::ranges::any_of(state.calls,
                               [&](auto const& entry) {
                                   CallSpec const& known = entry.second.spec;
                                   return known.ask != 0 && same(known.ask_attempt, known.ask);
                               }) ||
           std::ranges::any_of(state.turn->external.permissions,
                               [&](PermissionAnswer const& v) { return same(v.attempt, v.ask); });
}

// A gate's denial is stored like a person's, and the agent is notified in the same way.
void deny(Decider& d, AgentAsk const& c) {
    ask(d, c.step, c.spec, c.terms);
    Call const& call = d.state.calls.at(d.state.calls_ever);
    FITS(call.spec.ask == c.spec.ask && call.phase == CallPhase::waiting);
    Submission denial;
    denial.kind = SubmissionKind::decision;
    denial.reason = c.denied;
    denial.digest = sha256(R"({"decision":{"approved":false}})");
    PendingId const pending = call.pending;
    settle(d, call, {pending, denial, "runtime", {}, std::nullopt, {}, {}, {}});
}

}  // namespace

void prompt_again(Decider& d) {
    FITS(d.state.turn && d.state.turn->terms.on_restart && !d.state.turn->request);
    OpenTurn const& turn = *d.state.turn;
    std::uint32_t const step = turn.committed ? turn.step + 1 : turn.step;
    std::uint32_t const attempt = turn.committed ? 1 : turn.attempt + 1;
    FITS(step > 0);
    std::string const marker = marker_of(d.state.id, turn.no, step) + std::to_string(attempt);
    // A session that had no node yet: it was made by an earlier release, or imported.
    if (d.state.node.empty() && !d.context.node.empty())
        d.emit(SessionChanged{{}, {}, {}, d.context.node});
    d.emit(AgentPrompted{step, attempt, d.state.head, d.context.epoch, marker});
}

void lose_agent(Decider& d, Trouble const& error, bool died) {
    FITS(d.state.turn && d.state.turn->terms.on_restart);
    OpenTurn const& turn = *d.state.turn;
    bool const continues = turn.terms.on_restart == OnRestart::resume || turn.external.continues;
    AgentDetached detached{error, std::nullopt, open_tools(turn), died};
    std::string const end = died ? gives_up(d) : "";
    if (died && continues && end.empty()) detached.retry_at = next_start(d);
    d.emit(std::move(detached));
    FITS(d.state.turn && !d.state.turn->request);
    if (!end.empty()) {
        d.emit(StatusChanged{d.state.lifecycle, Lifecycle::error, end + error.message});
    } else if (!continues) {
        change_status(d, Lifecycle::paused, error.message);
    }
}

Result<Answer> handle(Decider& d, AgentAttach const& c) {
    bool const first = c.turn == 0 && !d.state.turn && d.state.acp_session.empty();
    if (first || is_newest(d.state, c))
        d.emit(AgentAttached{c.acp_session, c.how, c.program, c.history_repeated, c.mode});
    return done(d);
}

// A user message in a turn of its own, after the queued ones. Belongs to no run of a task.
Result<Answer> handle(Decider& d, AgentTyped const& c) {
    State const& state = d.state;
    if (is_full(state) || c.at <= state.agent_typed) return done(d);
    if (state.queue.size() >= d.context.limits.queue) return too_early();
    InputReceived input;
    input.turn = state.turns + 1;
    input.source = InputSource::external;
    input.parts = c.parts;
    input.typed_at = c.at;
    input.answer = c.answer;
    d.emit(std::move(input));
    FITS(state.agent_typed == c.at);
    return done(d);
}

Result<Answer> handle(Decider& d, AgentReport const& c) {
    if (c.number == 0) {
        notify_late(d, c);
        return done(d);
    }
    if (!is_newest(d.state, c)) return done(d);
    std::uint32_t const known = d.state.turn->external.updates;
    if (c.number <= known) return done(d);
    if (c.number > known + 1) return too_early();
    record_update(d, c.attempt, c.number, c.turn, c.what);
    FITS(d.state.turn->external.updates == c.number);
    return done(d);
}

Result<Answer> handle(Decider& d, AgentReply const& c) {
    if (!is_newest(d.state, c)) return done(d);
    if (c.updates > d.state.turn->external.updates) return too_early();
    if (c.last) record_update(d, c.attempt, c.updates + 1, c.turn, *c.last);
    cancel_asks(d);
    Usage usage = c.usage;
    usage.cost = cost_since(d.state.agent_spent, c.spent);
    d.emit(AgentReplied{c.step, c.attempt, c.finish, usage, c.spent});
    FITS(d.state.turn->committed && !d.state.turn->request && d.state.calls.empty());
    return done(d);
}

Result<Answer> handle(Decider& d, AgentAsk const& c) {
    if (!is_newest(d.state, c) || asked_before(d.state, c.spec)) return done(d);
    if (c.updates > d.state.turn->external.updates) return too_early();
    FITS(c.spec.ask != 0 && c.spec.ask_attempt == c.attempt);
    if (!c.own.empty()) {
        d.emit(AgentGranted{0, c.attempt, c.spec.ask, c.spec.model_id, c.own});
        return done(d);
    }
    if (!c.denied.empty()) {
        deny(d, c);
        return done(d);
    }
    if (PermissionAnswer const* const grant = grant_for(d.state, c)) {
        d.emit(AgentGranted{grant->call, c.attempt, c.spec.ask, c.spec.model_id});
        return done(d);
    }
    AgentAsk warned = c;
    warn_of_repeat(d.state, warned);
    ask(d, c.step, warned.spec, warned.terms);
    return done(d);
}

void ask_next(Decider& d, std::uint32_t step, CallSpec spec) {
    FITS(!spec.then.empty());
    PauseTerms const terms = std::move(spec.then.front());
    spec.then.erase(spec.then.begin());
    ask(d, step, spec, terms);
}

Result<Answer> handle(Decider& d, AgentFailure const& c) {
    if (!is_newest(d.state, c)) return done(d);
    if (c.how == AgentFailure::How::died) {
        lose_agent(d, c.error, true);
        return done(d);
    }
    d.emit(AgentDetached{c.error, std::nullopt, open_tools(*d.state.turn), false});
    end_turn(d, FinishReason::error, c.error, "the agent's program refused");
    return done(d);
}

}  // namespace dormouse::session
