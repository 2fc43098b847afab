#include "session/fold/fold.h"

#include "session/decide/values.h"
#include "session/limits.h"
#include "session/replay.h"

#include <algorithm>
#include <stdexcept>

// One function for each event. Nothing here decides: an event has happened, and the state follows.
namespace dormouse::session {

namespace {

// Replaces the texts as a redaction does in the events that brought them (wire/redact.cc).
void remove_texts(Task& task, std::string const& text) {
    for (std::string* const gone : {&task.description, &task.error, &task.progress})
        if (!gone->empty()) *gone = text;
    if (!task.parts.is_null()) task.parts = text_parts(text_json(text));
    if (!task.result.is_null()) task.result = text_json(text);
}

struct Fold {
    State& state;
    Event const& event;

    void operator()(SessionCreated const& e) const {
        FITS(state.lifecycle == Lifecycle::none);
        state.lifecycle = Lifecycle::active;
        state.project = e.project;
        state.agent = e.agent;
        state.alias = e.alias;
        state.title = e.title;
        state.cwd = e.cwd;
        state.labels = e.labels;
        state.created_by = e.by;
        state.created_idem = e.idem;
        state.parent = e.parent;
        state.node = e.node;
        state.created = event.at;
    }

    void operator()(InputReceived const& e) const {
        ++state.messages;
        bool const prompted = e.source == InputSource::prompt && !e.answers;
        if (prompted && state.auto_title.empty()) state.auto_title = title_in(e.parts);
        state.turns = std::max(state.turns, e.turn);
        state.agent_typed = std::max(state.agent_typed, e.typed_at);
        if (!state.turn || state.turn->no != e.turn) {
            state.queue.push_back(
                {event.seq, e.turn, e.source, e.by, e.run, e.task, e.answer, e.trace});
            return;
        }
        if (e.answers) return;  // the submission in the same append is what the turn consumes
        state.turn->newest_item = event.seq;
        state.turn->steered = true;
    }

    void operator()(InputDropped const& e) const {
        auto const dropped = std::erase_if(
            state.queue, [&](QueuedInput const& queued) { return queued.seq == e.input; });
        state.messages -= std::min<std::uint64_t>(state.messages, dropped);
    }

    void operator()(TurnStarted const& e) const {
        FITS(!state.turn && state.calls.empty());
        OpenTurn turn;
        turn.no = e.turn;
        turn.input = e.input;
        turn.cause = e.cause;
        turn.started = event.at;
        turn.terms = e.terms;
        turn.newest_item = event.seq;
        turn.external.seen = state.agent_seen;
        if (e.again) {
            FITS(state.last_turn.has_value());
            turn.external.continues = e.terms.on_restart.has_value();
            turn.by = state.last_turn->by;
            turn.run = state.last_turn->run;
            turn.trace = state.last_turn->trace;
            turn.step = state.last_turn->step;
            turn.attempt = state.last_turn->attempt;
            turn.committed = turn.step == 0;  // its interceptors had refused it
            turn.usage = state.last_turn->usage;
            turn.worked = state.last_turn->worked;
            turn.raised = state.last_turn->raised;
        } else {
            begin_with_input(turn, e.input);
        }
        state.turns = std::max(state.turns, e.turn);
        state.turn = std::move(turn);
        begin_with_mail(state);
        if (e.terms.before.empty()) return;
        state.turn->unchecked = event.seq;
        add_effect(state, effect_of(*state.turn));
    }

    void operator()(ModelRequested const& e) const {
        begin_request(state, event, e.step, {e.attempt, e.view_seq, e.epoch}, false);
    }

    void operator()(ModelReplied const& e) const {
        OpenTurn& turn = turn_of(state);
        FITS(e.calls.empty() || e.first_call == state.calls_ever + 1);
        state.committed_view = request_of(turn).view_seq;
        commit_mail(state);
        abandon_request(turn);
        turn.committed = true;
        turn.failures = 0;
        turn.usage = sum(turn.usage, e.usage);
        state.usage = sum(state.usage, e.usage);
        ++state.messages;
        ++state.steps;
        turn.finish.reset();
        if (e.calls.empty()) turn.finish = e.finish;
        if (!e.calls.empty()) {
            turn.open_steps[e.step] = {e.first_call, static_cast<std::uint32_t>(e.calls.size()), 0};
        }
        for (CallSpec const& spec : e.calls) {
            Call call;
            call.no = ++state.calls_ever;
            call.step = e.step;
            call.spec = spec;
            call.created = event.at;
            add_call(state, std::move(call));
        }
    }

    void operator()(ModelFailed const& e) const {
        OpenTurn& turn = turn_of(state);
        abandon_request(turn);
        turn.attempt = e.attempt;
        set_timer(state, 0, TimerKind::model_retry, e.retry_at);
        turn.retry.reset();
        if (e.retry_at) turn.retry = ModelRetry{*e.retry_at, e.error};
        // No retry: the turn ends, or a prompt interrupted it, which is not the model's failure.
        turn.failures = e.retry_at ? turn.failures + 1 : 0;
    }

    void operator()(ToolStarted const& e) const {
        Call& call = call_of(state, e.pending.call);
        FITS(e.attempt > 0 && !call.spec.refused);
        call.question.reset();
        set_phase(state, call, CallPhase::running);
        if (e.attempt == 1) call.started = event.at;
        call.generation = std::max(call.generation, e.pending.generation);
        call.in_doubt = call.in_doubt && call.pending == e.pending;
        call.pending = e.pending;
        call.attempt = e.attempt;
        call.epoch = e.epoch;
        call.pause.reset();
        call.claim.reset();
        call.outstanding_since = event.seq;
        RunTool run{e.pending,    e.attempt,         call.spec.tool, call.spec.input,
                    call.resumed, turn_of(state).no, call.kept,      turn_of(state).trace};
        add_effect(state, {{event.seq, call.no}, std::move(run)});
        set_timer(state, call.no, TimerKind::give_up, event.at + call.spec.terms.time_limit);
    }

    void operator()(ToolFinished const& e) const { close_call(state, e.call, event.seq); }

    void operator()(ToolFailed const& e) const {
        Call& call = call_of(state, e.call);
        set_phase(state, call, CallPhase::retry_wait);
        set_timer(state, call.no, TimerKind::tool_retry, e.retry_at);
    }

    void operator()(CallPaused const& e) const {
        Call& call = call_of(state, e.pending.call);
        FITS(e.pending == call.pending);
        call.resumed.reset();
        call.kept = {};
        call.in_doubt = false;
        // A poll reported that the call waits for something else now.
        bool const replaces = call.phase == CallPhase::waiting;
        if (replaces) call.votes.clear();
        if (replaces) call.claim.reset();
        Pause pause{e.terms, e.deadline, event.at, event.seq, false};
        if (e.terms->poll_every) pause.poll_at = event.at + *e.terms->poll_every;
        pause.polled = event.seq;
        wait(call, std::move(pause));
    }

    void operator()(GateAsked const& e) const {
        Call& call = call_of(state, e.pending.call);
        call.generation = e.pending.generation;
        call.pending = e.pending;
        call.decision.reset();
        wait(call, {e.terms, e.deadline, event.at, event.seq, true});
    }

    void operator()(GateDecided const& e) const {
        if (!e.allowed) return close_call(state, e.call, event.seq);
        Call& call = call_of(state, e.call);
        call.decision.reset();
        if (e.input) set_input(call, *e.input, e.input_digest);
        pass_gate(call, e.again);
        set_phase(state, call, CallPhase::ready);
    }

    void operator()(GateMissing const& e) const {
        set_phase(state, call_of(state, e.call), CallPhase::awaiting_gate);
    }

    void operator()(GateBack const& e) const {
        set_phase(state, call_of(state, e.call), CallPhase::ready);
    }

    void operator()(Submitted const& e) const {
        Call& call = call_of(state, e.receipt.pending.call);
        FITS(e.receipt.pending == call.pending ||
             (call.question && e.receipt.pending == call.question->pending));
        // The next pause of the call follows.
        bool const goes_on = e.what->approved && !call.spec.then.empty();
        if (call.spec.ask != 0 && !goes_on)
            add_permission(state, event.seq, call, e.what->approved, false);
        if (call.question && call.question->pending == e.receipt.pending)
            return close_question(call);
        if (!call.pause || call.pause->terms.continuation != Continuation::reentry) {
            return close_call(state, call.no, event.seq);
        }
        if (call.pause->by_gate) {
            call.decision = *e.what;
        } else {
            resume(call, e.what);
        }
        call.votes.clear();
        call.claim.reset();
        set_phase(state, call, CallPhase::ready);
        call.pause.reset();
    }

    void operator()(Voted const& e) const {
        Call& call = call_of(state, e.pending.call);
        call.votes.push_back({e.by, e.approved, e.digest, event.at});
    }

    void operator()(Reassigned const& e) const {
        Call& call = call_of(state, e.pending.call);
        Pause& pause = pause_of(call);
        FITS(call.phase == CallPhase::waiting);
        call.claim.reset();
        pause.terms.answer.from = e.answerers;
        if (!e.by) pause.terms.escalate_to.clear();
        pause.terms.definition.reset();  // other people are asked: their rules would answer for all
        pause.deadline = e.deadline;
        pause.near_at = near_of(pause, event.at);
        pause.remind_at = reminder_of(pause.terms, event.at);
        pause.reminders = 0;
        set_timer(state, call.no, TimerKind::deadline, e.deadline);
        set_timer(state, call.no, TimerKind::near, pause.near_at);
        set_timer(state, call.no, TimerKind::remind, pause.remind_at);
    }

    void operator()(Reminded const& e) const {
        Call& call = call_of(state, e.pending.call);
        FITS(call.phase == CallPhase::waiting);
        pause_of(call).reminders = e.number;
        pause_of(call).remind_at = e.next;
        set_timer(state, call.no, TimerKind::remind, e.next);
    }

    void operator()(DeadlineNear const& e) const {
        Call& call = call_of(state, e.pending.call);
        FITS(call.phase == CallPhase::waiting);
        pause_of(call).near_at.reset();
        set_timer(state, call.no, TimerKind::near, std::nullopt);
    }

    void operator()(Polled const& e) const {
        Call& call = call_of(state, e.pending.call);
        Pause& pause = pause_of(call);
        FITS(call.phase == CallPhase::waiting);
        pause.poll_at = e.next;
        pause.polled = event.seq;
        pause.poll_failures = e.failures;
        set_timer(state, call.no, TimerKind::poll, e.next);
    }

    void operator()(Progressed const& e) const {
        Call& call = call_of(state, e.pending.call);
        auto const second = to_ms(event.at) / 1000;
        call.progress_in_second = second == call.progress_second ? call.progress_in_second + 1 : 1;
        call.progress_second = second;
        ++call.progress_count;
    }

    void operator()(Claimed const& e) const {
        call_of(state, e.pending.call).claim = ClaimState{e.by, e.until};
    }

    void operator()(Expired const& e) const {
        Call const& call = call_of(state, e.receipt.pending.call);
        if (call.spec.ask != 0) add_permission(state, event.seq, call, false, false);
        close_call(state, e.receipt.pending.call, event.seq);
    }

    void operator()(Cancelled const& e) const {
        Call& call = call_of(state, e.call);
        FITS(!e.receipt || e.receipt->pending.call == e.call);
        bool const question_only =
            e.receipt && call.question && call.question->pending == e.receipt->pending;
        if (question_only) return close_question(call);
        if (call.spec.ask != 0) add_permission(state, event.seq, call, false, true);
        close_call(state, e.call, event.seq);
    }

    void close_question(Call& call) const {
        call.question.reset();
        if (call.pause) call.pause->remind_at.reset();
        set_timer(state, call.no, TimerKind::remind, std::nullopt);
    }

    void operator()(CallInDoubt const& e) const {
        Call& call = call_of(state, e.pending.call);
        FITS(e.pending == call.pending);
        PauseTerms terms = in_doubt_terms(call.spec.terms);
        call.in_doubt = true;
        // Reminders are for the question; the result needs none.
        terms.remind_after = e.remind_after;
        terms.remind_every = e.remind_every;
        Pause pause{terms, e.deadline, event.at, event.seq, false};
        pause.remind_at = reminder_of(terms, event.at);
        wait(call, std::move(pause));
        if (!e.question) return;
        call.generation = e.question->generation;
        call.question = Question{*e.question, event.at, event.seq};
    }

    void operator()(Note const&) const {}

    void operator()(TurnEnded const& e) const {
        FITS(state.turn && state.turn->no == e.turn && state.calls.empty());
        OpenTurn& turn = *state.turn;
        // The next prompt does not repeat what was cancelled, whether it was delivered or not.
        if (turn.terms.on_restart && e.finish == FinishReason::cancelled)
            state.agent_seen = std::max(state.agent_seen, state.asked_view);
        // The agent had the input of such a turn before the session did.
        if (turn.terms.on_restart && turn.cause == InputSource::external)
            state.agent_seen = std::max(state.agent_seen, event.seq);
        abandon_request(turn);
        if (turn.unchecked != 0) remove_effect(state, {turn.unchecked, 0});
        set_timer(state, 0, TimerKind::model_retry, std::nullopt);
        if (!turn.terms.after.empty()) {
            state.unnotified.push_back(
                {turn.no, event.seq, e.finish, e.error, e.usage, turn.terms.after});
            add_effect(state, effect_of(state.unnotified.back()));
        }
        state.last_turn =
            LastTurn{turn.no,    turn.input,   turn.cause, turn.by,
                     turn.step,  turn.attempt, turn.usage, e.finish == FinishReason::error,
                     e.error,    turn.run,     turn.trace, turn.worked,
                     turn.raised};
        state.turn.reset();
        end_mail(state);
    }

    void operator()(TurnChecked const&) const {
        OpenTurn& turn = turn_of(state);
        FITS(turn.unchecked != 0);
        remove_effect(state, {turn.unchecked, 0});
        turn.unchecked = 0;
    }

    void operator()(TurnNotified const& e) const {
        auto const ended = std::ranges::find(state.unnotified, e.turn, &EndedTurn::no);
        FITS(ended != state.unnotified.end());
        remove_effect(state, {ended->since, 0});
        state.unnotified.erase(ended);
    }

    void operator()(StatusChanged const& e) const {
        FITS(e.to != Lifecycle::none && e.to != Lifecycle::deleted);
        state.lifecycle = e.to;
        state.trouble.reset();
        if (e.to == Lifecycle::error)
            state.trouble =
                Trouble{state.agent_deaths.empty() ? "agent_gone" : "agent_crashed", e.why};
        if (e.to != Lifecycle::active) return;
        state.ended.reset();
        state.agent_deaths.clear();
        if (!state.turn) return;
        state.turn->external.continues = true;
        if (state.turn->terms.on_restart) state.turn->failures = 0;
    }

    void operator()(Forked const& e) const {
        if (e.from != SessionId()) state.forked_from = e.from;
        if (e.from == SessionId()) ++state.imports;
        state.messages += e.message_count;
        if (state.auto_title.empty()) state.auto_title = title_in(e.messages);
    }

    void operator()(SessionChanged const& e) const {
        if (e.title) state.title = *e.title;
        if (e.alias) state.alias = *e.alias;
        if (e.labels) state.labels = *e.labels;
        if (e.node) state.node = *e.node;
    }

    void operator()(SessionEnded const&) const {
        state.lifecycle = Lifecycle::completed;
        state.ended = event.at;
    }

    void operator()(SessionDeleted const&) const {
        for (EndedTurn const& turn : state.unnotified) remove_effect(state, {turn.since, 0});
        state.unnotified.clear();
        state.lifecycle = Lifecycle::deleted;
        state.ended = event.at;
    }

    void operator()(ArtifactEmitted const& e) const { state.artifact_bytes += e.bytes; }

    void operator()(Repaired const&) const {}
    void operator()(MailSent const&) const {}
    void operator()(MailReceived const& e) const { receive_mail(state, event, e); }
    void operator()(MailReleased const& e) const { release_mail(state, event, e); }
    void operator()(MailBounced const&) const { ++state.new_bounces; }
    void operator()(MailExpired const& e) const { expire_mail(state, e); }
    void operator()(RunReported const&) const {}
    void operator()(HistoryCut const& e) const {
        FITS(e.through < event.seq);
        state.base = {e.through, e.turn, e.call, state.base.messages + e.messages};
        state.artifact_bytes -= std::min(state.artifact_bytes, e.artifact_bytes);
    }

    void operator()(Redacted const& e) const {
        state.redacted = state.head;
        if (e.title) state.auto_title = *e.title;
        if (e.set_title) state.title = *e.set_title;
        if (e.alias) state.alias = *e.alias;
        if (e.labels) state.labels = *e.labels;
        for (TaskNo const no : e.tasks)
            if (auto const task = state.tasks.find(no); task != state.tasks.end())
                remove_texts(task->second, e.text);
        for (InboxItem& item : state.inbox)
            if (std::ranges::find(e.quarantined, item.seq) != e.quarantined.end()) ++item.rewrites;
        state.artifact_bytes -= std::min(state.artifact_bytes, e.artifact_bytes);
    }

    void operator()(TaskStarted const& e) const {
        FITS(e.task > state.tasks_ever);
        Task task{e.task, e.child, e.agent, e.description};
        task.by_call = e.call != 0;
        task.notify = e.notify;
        task.by = e.by;
        task.mark = e.mark;
        task.fork = e.fork;
        wait_for_place(task, e.queued, e.parts);
        state.tasks_ever = e.task;
        state.tasks.emplace(e.task, std::move(task));
    }

    void operator()(TaskChanged const& e) const {
        Task& task = state.tasks.at(e.task);
        FITS(e.run >= task.run);
        task.status = e.status;
        task.run = e.run;
        task.gone = task.gone || e.gone;
        if (!e.parts.is_null()) {
            task.result = {};
            task.error.clear();
            task.by = e.by;
            task.progress.clear();
            wait_for_place(task, e.queued, e.parts);
        }
        if (e.begins || !task.active()) wait_for_place(task, false, {});
        if (!e.result.is_null()) task.result = e.result;
        if (!e.error.empty()) task.error = e.error;
        if (!e.progress.empty()) task.progress = e.progress;
        task.notify = task.active() && (task.notify || e.notify);
    }

    void operator()(TaskCleared const& e) const { state.tasks.erase(e.task); }

    void operator()(BudgetReached const& e) const { ask_about_budget(state, event, e); }
    void operator()(BudgetRaised const& e) const { raise_budget(state, e); }

    void operator()(AgentPrompted const& e) const { prompt_agent(state, event, e); }
    void operator()(AgentAttached const& e) const {
        bool const is_new = !state.acp_session.empty() && state.acp_session != e.acp_session;
        if (is_new && state.acp_left.size() < limits::acp_left_max)
            state.acp_left.insert(state.acp_session);
        state.acp_left.erase(e.acp_session);
        state.acp_session = e.acp_session;
    }
    void operator()(AgentDetached const& e) const { detach_agent(state, event, e); }
    void operator()(AgentUpdate const& e) const { receive_from_agent(state, event, e); }
    void operator()(AgentReplied const& e) const { end_prompt(state, e); }
    void operator()(AgentAsked const& e) const { ask_for_agent(state, event, e); }
    void operator()(AgentGranted const& e) const { grant_to_agent(state, event, e); }

private:
    void wait_for_place(Task& task, bool queued, Json const& parts) const {
        task.queued = queued ? event.seq : 0;
        task.parts = queued ? parts : Json();
    }

    // The input is a queued prompt, or the mail that woke the session.
    void begin_with_input(OpenTurn& turn, Seq seq) const {
        auto const input = std::ranges::find(state.queue, seq, &QueuedInput::seq);
        if (input != state.queue.end()) {
            turn.by = input->by;
            turn.run = input->run;
            turn.trace = input->trace;
            std::erase_if(state.queue,
                          [&](QueuedInput const& queued) { return queued.turn == turn.no; });
            return;
        }
        auto const mail = std::ranges::find(state.inbox, seq, &InboxItem::seq);
        FITS(mail != state.inbox.end());
        turn.by = mail->by;
        turn.trace = mail->trace;
    }
    void abandon_request(OpenTurn& turn) const { session::abandon_request(state, turn); }

    // The decisions of its gates stay valid unless the arguments changed: then all are asked again.
    void resume(Call& call, Submission const& what) const {
        call.resumed = what;
        call.kept = pause_of(call).terms.state;
        if (!what.approved || what.arguments.is_null()) return;
        set_input(call, what.arguments, what.arguments_digest);
        call.gates_passed = 0;
    }

    // Leaves the old phase before replacing the pause, whose deadline belongs to that phase.
    void wait(Call& call, Pause pause) const {
        call.pause = std::move(pause);
        call.pause->near_at = near_of(*call.pause, event.at);
        call.pause->remind_at = reminder_of(call.pause->terms, event.at);
        set_phase(state, call, CallPhase::waiting);
    }
};

}  // namespace

void apply(State& state, Event const& event) {
    FITS(event.seq == state.head + 1);
    count_work(state, event.at);
    state.head = event.seq;
    state.updated = event.at;
    std::visit(Fold{state, event}, event.body);
    promote_gates(state, event.seq);
}

Result<void> replay(State& state, Event const& event) {
    try {
        apply(state, event);
    } catch (std::logic_error const&) {  // Misfit, or of a map's at()
        return fail(Code::internal, "Event " + std::to_string(event.seq) + " of " +
                                        state.id.text() +
                                        " does not follow from the events before it.");
    }
    return {};
}

}  // namespace dormouse::session
