#include "session/fold/fold.h"

#include "base/check.h"
#include "session/limits.h"

#include <algorithm>

// Sessions of external agents: the fold of what was observed.
namespace dormouse::session {

std::string marker_of(SessionId const& session, TurnNo turn, std::uint32_t step) {
    return "dormouse:" + session.bare() + "/" + std::to_string(turn) + "." + std::to_string(step) +
           ".";
}

AgentContext agent_context(State const& state) {
    CHECK(state.turn && state.turn->terms.on_restart);
    OpenTurn const& turn = *state.turn;
    AgentContext out{state.acp_session, state.cwd, turn.external.seen, turn.attempt > 1,
                     turn.external};
    out.project = state.project;
    out.titled = !state.title.empty();
    out.began = turn.started;
    return out;
}

Effect effect_of(PermissionAnswer const& answer) {
    NotifyAgent notify{answer.attempt, answer.ask, answer.approved, answer.cancelled};
    return {{answer.seq, answer.call}, notify};
}

namespace {

// Drops permissions whose tool call has ended, or that are older than the newest permissions_max.
void forget_permissions(State& state, auto which) {
    OpenTurn& turn = turn_of(state);
    std::erase_if(turn.external.permissions, [&](PermissionAnswer const& answer) {
        if (!which(answer)) return false;
        bool const outstanding = turn.request && answer.attempt == turn.request->attempt;
        if (outstanding) remove_effect(state, {answer.seq, answer.call});
        return true;
    });
}

void keep(State& state, PermissionAnswer answer) {
    FITS(answer.seq == state.head);
    OpenTurn& turn = turn_of(state);
    if (turn.external.permissions.size() >= limits::permissions_max) {
        Seq const oldest = turn.external.permissions.front().seq;
        forget_permissions(state, [&](PermissionAnswer const& v) { return v.seq == oldest; });
    }
    bool const outstanding = turn.request && answer.attempt == turn.request->attempt;
    if (outstanding) add_effect(state, effect_of(answer));
    turn.external.permissions.push_back(std::move(answer));
}

}  // namespace

void prompt_agent(State& state, Event const& event, AgentPrompted const& e) {
    begin_request(state, event, e.step, {e.attempt, e.view_seq, e.epoch}, true);
    state.turn->external.updates = 0;
    state.turn->external.message = 0;
}

void detach_agent(State& state, Event const& event, AgentDetached const& e) {
    OpenTurn& turn = turn_of(state);
    FITS(turn.terms.on_restart.has_value());
    abandon_request(state, turn);
    turn.external.tools.clear();
    for (std::string const& title : e.lost) {
        if (turn.external.lost.size() < limits::agent_tools_max)
            turn.external.lost.push_back(title);
    }
    set_timer(state, 0, TimerKind::model_retry, e.retry_at);
    turn.retry.reset();
    if (e.retry_at) turn.retry = ModelRetry{*e.retry_at, e.error};
    if (!e.died) return;
    ++turn.failures;
    state.agent_deaths.push_back(event.at);
    if (state.agent_deaths.size() > limits::agent_deaths_max)
        state.agent_deaths.erase(state.agent_deaths.begin());
}

void receive_from_agent(State& state, Event const& event, AgentUpdate const& e) {
    FITS(e.message <= event.seq);
    bool const begins = e.message == event.seq;
    if (begins) ++state.messages;
    // The agent need not be given what the turn began with.
    bool const by_itself = state.turn && state.turn->cause == InputSource::external;
    if (e.attempt == 0 && by_itself) state.agent_seen = event.seq;
    if (!state.turn || !state.turn->request || e.attempt == 0) return;
    ExternalTurn& external = state.turn->external;
    external.updates = e.number;
    external.prompt_received = true;
    state.agent_seen = state.turn->request->view_seq;
    if (begins) external.message = event.seq;
    if (e.what.kind != AgentOutputKind::tool) return;
    if (is_open(e.what.status)) {
        if (external.tools.size() < limits::agent_tools_max)
            external.tools[e.what.tool_call] = e.what.title;
        return;
    }
    external.tools.erase(e.what.tool_call);
    forget_permissions(state,
                       [&](PermissionAnswer const& v) { return v.tool_call == e.what.tool_call; });
}

void end_prompt(State& state, AgentReplied const& e) {
    OpenTurn& turn = turn_of(state);
    FITS(turn.terms.on_restart.has_value());
    state.committed_view = request_of(turn).view_seq;
    commit_mail(state);
    abandon_request(state, turn);
    turn.committed = true;
    turn.failures = 0;
    turn.usage = sum(turn.usage, e.usage);
    state.usage = sum(state.usage, e.usage);
    if (!e.spent.empty()) state.agent_spent = e.spent;
    ++state.steps;
    turn.finish = e.finish;
    state.agent_seen = state.committed_view;
    turn.external = {.seen = state.agent_seen};
    state.agent_deaths.clear();
}

void ask_for_agent(State& state, Event const& event, AgentAsked const& e) {
    FITS(e.message <= event.seq);
    OpenTurn& turn = turn_of(state);
    auto const [step, is_new] = turn.open_steps.try_emplace(e.step);
    if (is_new) step->second.first = e.pending.call;
    ++step->second.calls;
    if (e.message == event.seq) {
        ++state.messages;
        turn.external.message = event.seq;
    }
    turn.external.prompt_received = true;
    if (turn.request) state.agent_seen = turn.request->view_seq;
    add_call(state, asked_call(state, event, e));
}

void grant_to_agent(State& state, Event const& event, AgentGranted const& e) {
    ExternalTurn& external = turn_of(state).external;
    if (e.call == 0) {
        PermissionAnswer own{0, event.seq, e.attempt, e.ask, e.tool_call, e.own};
        own.approved = own.granted = own.may_be_used = true;
        return keep(state, std::move(own));
    }
    auto const given = std::ranges::find(external.permissions, e.call, &PermissionAnswer::call);
    FITS(given != external.permissions.end());
    PermissionAnswer again = *given;
    again.seq = event.seq;
    again.attempt = e.attempt;
    again.ask = e.ask;
    again.tool_call = e.tool_call;
    again.granted = true;
    external.permissions.erase(given);
    keep(state, std::move(again));
}

void add_permission(State& state, Seq seq, Call const& call, bool approved, bool cancelled) {
    FITS(call.spec.ask != 0);
    if (!state.turn) return;
    PermissionAnswer answer{call.no,
                            seq,
                            call.spec.ask_attempt,
                            call.spec.ask,
                            call.spec.model_id,
                            call.spec.tool,
                            call.spec.input_digest,
                            approved,
                            cancelled};
    answer.may_be_used = state.turn->request && state.turn->request->attempt == answer.attempt;
    answer.shown = call.spec.shown;
    bool const denied = !approved && !cancelled && answer.shown;
    if (denied) {  // a denial revokes what is left of an earlier approval
        forget_permissions(state, [&](PermissionAnswer const& v) {
            return v.shown == answer.shown && v.approved && !v.may_be_used && !v.granted;
        });
    }
    keep(state, std::move(answer));
}

}  // namespace dormouse::session
