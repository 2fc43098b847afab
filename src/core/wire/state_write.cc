#include "wire/state_json.h"

#include "wire/event_json.h"
#include "wire/names.h"
#include "wire/program_json.h"

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

void time_member(json::Writer& out, std::string_view name, std::optional<Time> const& time) {
    if (time) out.member(name, to_ms(*time));
}

void trouble(json::Writer& out, Trouble const& error) {
    out.key("error")
        .begin_object()
        .member("code", error.code)
        .member("message", error.message)
        .end_object();
}

void write_pause(json::Writer& out, Pause const& pause) {
    out.key("pause").begin_object();
    write_pause_terms(out, pause.terms);
    time_member(out, "deadline", pause.deadline);
    out.member("since", to_ms(pause.since))
        .member("opened", pause.opened)
        .member("byGate", pause.by_gate);
    time_member(out, "pollAt", pause.poll_at);
    out.member("polled", pause.polled).member("pollFailures", pause.poll_failures);
    time_member(out, "nearAt", pause.near_at);
    time_member(out, "remindAt", pause.remind_at);
    out.member("reminders", pause.reminders);
    out.end_object();
}

void write_answers(json::Writer& out, Call const& call) {
    for (auto const& [name, what] :
         {std::pair("decided", &call.decision), {"resumed", &call.resumed}}) {
        if (!*what) continue;
        out.key(name).begin_object();
        write_submission(out, **what);
        out.member("digest", digest_text((*what)->digest)).end_object();
    }
    if (!call.kept.is_null()) out.member("kept", call.kept);
    if (call.question) {
        out.key("question").begin_object().member("pendingID", call.question->pending.text());
        out.member("since", to_ms(call.question->since))
            .member("opened", call.question->opened)
            .end_object();
    }
    if (call.claim) {
        out.key("claim").begin_object().member("by", actor_text(call.claim->by));
        out.member("until", to_ms(call.claim->until)).end_object();
    }
    if (call.votes.empty()) return;
    out.key("votes").begin_array();
    for (Vote const& vote : call.votes) {
        out.begin_object().member("by", actor_text(vote.by)).member("approved", vote.approved);
        out.member("digest", digest_text(vote.digest)).member("at", to_ms(vote.at)).end_object();
    }
    out.end_array();
}

void write_call(json::Writer& out, State const& state, Call const& call) {
    out.begin_object().member("no", call.no).member("step", call.step).key("spec").begin_object();
    write_call_spec(out, call.spec);
    out.end_object();
    out.member("phase", static_cast<int>(call.phase)).member("gatesPassed", call.gates_passed);
    out.member("generation", call.generation)
        .member("attempt", call.attempt)
        .member("epoch", call.epoch);
    if (call.pending != PendingId()) out.member("pendingID", call.pending.text());
    out.member("created", to_ms(call.created)).member("started", to_ms(call.started));
    out.member("owedSince", call.owed_since).member("inDoubt", call.in_doubt);
    out.member("progressCount", call.progress_count).member("progressSecond", call.progress_second);
    out.member("progressInSecond", call.progress_in_second);
    if (call.pause) write_pause(out, *call.pause);
    write_answers(out, call);
    for (auto const& [kind, name] :
         {std::pair(TimerKind::tool_retry, "retryAt"), {TimerKind::give_up, "giveUpAt"}}) {
        auto const timer = state.timer_at.find({call.no, kind});
        if (timer != state.timer_at.end()) out.member(name, to_ms(timer->second));
    }
    out.end_object();
}

void write_request(json::Writer& out, State const& state, OpenTurn const& turn) {
    if (turn.request) {
        out.key("request").begin_object().member("attempt", turn.request->attempt);
        out.member("viewSeq", turn.request->view_seq).member("epoch", turn.request->epoch);
        out.member("since", turn.request->since);
        out.member("giveUpAt", to_ms(state.timer_at.at({0, TimerKind::give_up}))).end_object();
    }
    if (turn.retry) {
        out.key("retry").begin_object().member("at", to_ms(turn.retry->at));
        trouble(out, turn.retry->error);
        out.end_object();
    }
}

void write_thread(json::Writer& out, Thread const& thread) {
    out.member("conversation", text(thread.conversation)).member("hops", thread.hops);
}

void write_turn(json::Writer& out, State const& state, OpenTurn const& turn) {
    out.key("turn").begin_object().member("no", turn.no).member("input", turn.input);
    out.member("cause", source_text(turn.cause)).member("by", actor_text(turn.by));
    out.member("started", to_ms(turn.started))
        .member("step", turn.step)
        .member("attempt", turn.attempt)
        .member("run", turn.run);
    if (turn.unchecked != 0) out.member("unchecked", turn.unchecked);
    out.member("committed", turn.committed).member("failures", turn.failures);
    out.member("newestItem", turn.newest_item).member("steered", turn.steered);
    if (turn.finish) out.member("finish", text(*turn.finish));
    if (turn.thread) {
        out.key("thread").begin_object();
        write_thread(out, *turn.thread);
        out.end_object();
    }
    out.key("terms").begin_object();
    write_turn_terms(out, turn.terms);
    out.end_object().key("usage");
    write_usage(out, turn.usage);
    write_request(out, state, turn);
    write_program_turn(out, turn.program);
    out.key("openSteps").begin_array();
    for (auto const& [step, calls] : turn.open_steps) {
        out.begin_array()
            .value(step)
            .value(calls.first)
            .value(calls.calls)
            .value(calls.settled)
            .end_array();
    }
    out.end_array().end_object();
}

void write_last_turn(json::Writer& out, LastTurn const& last) {
    out.key("lastTurn").begin_object().member("no", last.no).member("input", last.input);
    out.member("cause", source_text(last.cause))
        .member("by", actor_text(last.by))
        .member("step", last.step);
    out.member("attempt", last.attempt).member("run", last.run);
    out.member("failed", last.failed).key("usage");
    write_usage(out, last.usage);
    if (last.error) trouble(out, *last.error);
    out.end_object();
}

void write_untold(json::Writer& out, EndedTurn const& turn) {
    out.begin_object().member("no", turn.no).member("since", turn.since);
    out.member("finish", text(turn.finish)).key("usage");
    write_usage(out, turn.usage);
    if (turn.error) trouble(out, *turn.error);
    out.key("after").begin_array();
    for (std::string const& name : turn.after) out.value(name);
    out.end_array().end_object();
}

void write_tasks(json::Writer& out, State const& state) {
    out.member("tasksEver", state.tasks_ever).key("tasks").begin_array();
    for (auto const& [no, task] : state.tasks) {
        out.begin_object().member("no", no).member("child", task.child.text());
        out.member("agent", task.agent).member("description", task.description);
        out.member("status", text(task.status)).member("run", task.run);
        out.member("byCall", task.by_call).member("queued", task.queued);
        out.member("notify", task.notify).member("gone", task.gone);
        if (!task.parts.is_null()) out.member("parts", task.parts);
        if (!task.result.is_null()) out.member("result", task.result);
        if (task.is_call()) out.member("mark", task.mark);
        if (task.fork) out.member("fork", true);
        if (!task.progress.empty()) out.member("progress", task.progress);
        out.member("error", task.error).member("by", actor_text(task.by)).end_object();
    }
    out.end_array();
}

void write_mail_state(json::Writer& out, State const& state) {
    out.member("mails", state.mails).member("askedView", state.asked_view);
    if (state.new_bounces != 0) out.member("newBounces", state.new_bounces);
    out.key("inbox").begin_array();
    for (InboxItem const& item : state.inbox) {
        out.begin_object().member("mailID", text(item.id)).member("number", item.number);
        out.member("seq", item.seq)
            .member("hold", text(item.hold))
            .member("by", actor_text(item.by));
        out.member("until", to_ms(item.until));
        if (item.expires) out.member("expires", to_ms(*item.expires));
        if (item.raised != 0) out.member("raised", item.raised).member("before", item.before);
        write_thread(out, item.thread);
        out.end_object();
    }
    out.end_array().key("conversations").begin_array();
    for (ConversationState const& known : state.conversations) {
        out.begin_array().value(text(known.id)).value(known.wakes).value(to_ms(known.minute));
        out.value(known.in_minute).end_array();
    }
    out.end_array();
}

void write_profile(json::Writer& out, State const& state) {
    out.member("head", state.head)
        .member("lifecycle", text(state.lifecycle))
        .member("project", state.project);
    out.member("agent", state.agent).member("alias", state.alias).member("title", state.title);
    if (!state.auto_title.empty()) out.member("autoTitle", state.auto_title);
    out.member("cwd", state.cwd)
        .member("labels", state.labels)
        .member("createdBy", actor_text(state.created_by));
    out.member("createdIdem", state.created_idem);
    if (state.parent) {
        out.member("parent", numbered_id("tsk_", state.parent->session, state.parent->task));
        out.member("depth", state.parent->depth);
    }
    if (state.imports != 0) out.member("imports", state.imports);
    if (state.forked_from) out.member("forkedFrom", state.forked_from->text());
    out.member("created", to_ms(state.created)).member("updated", to_ms(state.updated));
    time_member(out, "ended", state.ended);
    out.member("turns", state.turns)
        .member("callsEver", state.calls_ever)
        .member("messages", state.messages);
    if (state.base.through != 0) {
        HistoryBase const& base = state.base;
        out.key("base").begin_array().value(base.through).value(base.turn).value(base.call);
        out.value(base.messages).end_array();
    }
    if (state.artifact_bytes != 0) out.member("artifactBytes", state.artifact_bytes);
    out.member("steps", state.steps).member("committedView", state.committed_view).key("usage");
    write_usage(out, state.usage);
}

}  // namespace

std::string write_state(State const& state) {
    json::Writer out;
    out.begin_object();
    write_profile(out, state);
    if (state.turn) write_turn(out, state, *state.turn);
    if (state.last_turn) write_last_turn(out, *state.last_turn);
    if (!state.untold.empty()) {
        out.key("untold").begin_array();
        for (EndedTurn const& turn : state.untold) write_untold(out, turn);
        out.end_array();
    }
    out.key("calls").begin_array();
    for (auto const& [no, call] : state.calls) write_call(out, state, call);
    out.end_array().key("queue").begin_array();
    for (QueuedInput const& input : state.queue) {
        out.begin_array().value(input.seq).value(input.turn).value(source_text(input.source));
        out.value(actor_text(input.by)).value(input.run).value(input.task);
        if (!input.answer.is_null()) out.value(input.answer);
        out.end_array();
    }
    out.end_array();
    if (state.tasks_ever != 0) write_tasks(out, state);
    write_mail_state(out, state);
    if (state.program_seen != 0) out.member("programSeen", state.program_seen);
    if (state.program_typed != 0) out.member("programTyped", state.program_typed);
    if (!state.acp_session.empty()) out.member("acpSession", state.acp_session);
    if (!state.acp_left.empty()) {
        out.key("acpLeft").begin_array();
        for (std::string const& left : state.acp_left) out.value(left);
        out.end_array();
    }
    if (state.trouble) {
        out.key("trouble").begin_array().value(state.trouble->code).value(state.trouble->message);
        out.end_array();
    }
    if (!state.program_deaths.empty()) {
        out.key("programDeaths").begin_array();
        for (Time const at : state.program_deaths) out.value(to_ms(at));
        out.end_array();
    }
    return out.end_object().take();
}

}  // namespace dormouse::wire
