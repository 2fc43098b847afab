#include "session/decide/task.h"
#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/outbox_message.h"

// Cancel (rule 10) and changes of the session's status.
namespace dormouse::session {

namespace {

Result<Answer> cancel_pause(Decider& d, PendingId const& pending, std::string const& reason) {
    Call const* const call = open_pause(d.state, pending);
    if (call) {
        CallNo const no = call->no;
        bool const budget = call->spec.budget.has_value();
        FITS(!budget || (d.state.turn && d.state.turn->budget_call == no));
        cancel_call(d, no, "cancelled", reason);
        // The budget is still used up: without the question nothing can follow.
        if (budget)
            end_turn(d, FinishReason::cancelled, std::nullopt, "the question was cancelled",
                     reason);
        return Answer{.receipt = d.closed(pending), .seq = d.state.head};
    }
    auto const receipt = d.closed(pending);
    bool const again = receipt && receipt->status == CallStatus::cancelled;
    if (again)
        return Answer{
            .outcome = Answer::Outcome::duplicate, .receipt = receipt, .seq = d.state.head};
    return answer_closed(d, pending, std::nullopt);
}

void drop_queue(Decider& d, std::string const& why, std::string const& reason = {}) {
    while (!d.state.queue.empty()) d.emit(InputDropped{d.state.queue.front().seq, why, reason});
}

void settle_everything(Decider& d, std::string const& why) {
    if (OpenTurn const* const turn = d.state.turn ? &*d.state.turn : nullptr) {
        // The end of the turn tells the parent that the session is gone.
        std::optional<Trouble> gone;
        if (turn->run != 0) gone = Trouble{std::string(child_gone), why};
        end_turn(d, FinishReason::cancelled, std::move(gone), why);
    }
    drop_queue(d, why);
    clear_tasks(d, "Its parent session has ended.");
    FITS(!d.state.turn && d.state.calls.empty());
    FITS(d.state.queue.empty() && d.state.tasks.empty());
}

Result<Answer> change_status(Decider& d, Lifecycle from, Lifecycle to, std::string_view move,
                             std::string const& why) {
    if (d.state.lifecycle != from) return wrong_state(d.state, move);
    d.emit(StatusChanged{from, to, why});
    return done(d);
}

// Changes the status from error to active; or, in an idle session, runs a failed last turn again
// with the same input.
Result<Answer> retry(Decider& d, std::string const& why) {
    if (d.state.lifecycle == Lifecycle::error) {
        return change_status(d, Lifecycle::error, Lifecycle::active, "retry", why);
    }
    bool const idle = d.state.lifecycle == Lifecycle::active && !d.state.turn;
    if (!idle || !d.state.last_turn || !d.state.last_turn->failed)
        return wrong_state(d.state, "retry");
    LastTurn const last = *d.state.last_turn;
    d.emit(TurnStarted{last.no, last.input, last.cause, d.context.terms, true});
    FITS(d.state.turn && d.state.turn->no == last.no && d.state.turn->run == last.run);
    return done(d);
}

}  // namespace

Result<Answer> handle(Decider& d, Cancel const& c) {
    FITS(c.scope != Cancel::Scope::call || c.pending);
    if (c.scope == Cancel::Scope::call) return cancel_pause(d, *c.pending, c.reason);
    bool const ended = d.state.lifecycle == Lifecycle::completed;
    if (ended) return wrong_state(d.state, "cancel");
    if (d.state.turn)
        end_turn(d, FinishReason::cancelled, std::nullopt, "the turn was cancelled", c.reason);
    if (c.scope == Cancel::Scope::all) {
        drop_queue(d, "cancelled with everything", c.reason);
        cancel_tasks(d, c.reason);
    }
    return done(d);
}

Result<Answer> handle(Decider& d, Move const& c) {
    switch (c.to) {
        case Move::To::pause:
            return change_status(d, Lifecycle::active, Lifecycle::paused, "pause", c.why);
        case Move::To::resume:
            return change_status(d, Lifecycle::paused, Lifecycle::active, "resume", c.why);
        case Move::To::retry: return retry(d, c.why);
        case Move::To::fail: {
            bool const may =
                d.state.lifecycle == Lifecycle::active || d.state.lifecycle == Lifecycle::paused;
            if (!may) return wrong_state(d.state, "fail");
            d.emit(StatusChanged{d.state.lifecycle, Lifecycle::error, c.why});
            return done(d);
        }
        case Move::To::end:
            if (d.state.lifecycle == Lifecycle::completed) return wrong_state(d.state, "end");
            settle_everything(d, "the session ended");
            if (!d.state.alias.empty()) d.emit(SessionChanged{{}, std::string(), {}});
            d.emit(SessionEnded{d.command.by});
            FITS(d.state.lifecycle == Lifecycle::completed);
            return done(d);
    }
    return wrong_state(d.state, "move");
}

namespace {

std::unexpected<Error> changed_since() {
    return fail(Code::precondition_failed, "The session has changed since you read it.");
}

// Returns why the session cannot continue on that node; nullopt: it can.
std::optional<Error> refuse_node(Decider const& d, std::string const& node) {
    State const& state = d.state;
    if (state.node.empty())
        return Error{Code::wrong_kind,
                     "This session is not bound to a server: each of them can run its agent."};
    if (state.outstanding.empty() || d.context.abandoned) return std::nullopt;
    return Error{Code::session_busy,
                 "The agent works for this session on the server \"" + state.node +
                     "\"; move it when the agent is done, or cancel its turn.",
                 object_json("from", state.node, "to", node)};
}

}  // namespace

Result<Answer> handle(Decider& d, Change const& c) {
    if (c.if_match && *c.if_match != d.state.head) return changed_since();
    bool const stays = c.unless_titled && !d.state.title.empty();
    bool const new_title = c.title && *c.title != d.state.title && !stays;
    bool const new_alias = c.alias && *c.alias != d.state.alias;
    bool const new_labels = c.labels && !(*c.labels == d.state.labels);
    bool const new_node = c.node && *c.node != d.state.node;
    if (!new_title && !new_alias && !new_labels && !new_node) return done(d);
    if (auto error = new_node ? refuse_node(d, *c.node) : std::nullopt)
        return std::unexpected(*std::move(error));
    if (new_alias && !c.alias->empty() && d.state.lifecycle == Lifecycle::completed)
        return wrong_state(d.state, "take an alias");
    SessionChanged changed;
    if (new_title) changed.title = c.title;
    if (new_alias) changed.alias = c.alias;
    if (new_labels) changed.labels = c.labels;
    if (new_node) changed.node = c.node;
    d.emit(std::move(changed));
    return done(d);
}

Result<Answer> handle(Decider& d, Repair const& c) {
    d.emit(Repaired{c.what, d.command.by});
    return done(d);
}

Result<Answer> handle(Decider& d, CutHistory const& c) {
    bool const meets =
        c.after == d.state.base.through && c.redacted == d.state.redacted && c.last <= d.state.head;
    if (!meets || c.what.through <= c.after) return changed_since();
    FITS(c.first <= c.last && c.what.through <= c.last);
    HistoryCut what = c.what;
    what.by = d.command.by;
    d.emit(std::move(what));
    FITS(d.state.base.through == c.what.through);
    return done(d);
}

namespace {

// Returns true if the parts of the state that the redaction changes (title, alias, labels, tasks,
// mail) are as they were when it was planned.
bool still_there(State const& state, Redact const& c) {
    Redacted const& what = c.what;
    if (!what.what.empty() && c.head != state.head) return false;
    bool const set = (!what.set_title || state.title == c.title) &&
                     (!what.alias || state.alias == c.alias) &&
                     (!what.labels || state.labels == c.labels);
    auto const ended = [&](TaskNo no) {
        auto const task = state.tasks.find(no);
        return task == state.tasks.end() || !task->second.active();
    };
    auto const quarantined = [&](Seq seq) {
        auto const item = std::ranges::find(state.inbox, seq, &InboxItem::seq);
        return item != state.inbox.end() && item->hold == MailHold::quarantined;
    };
    return set && std::ranges::all_of(what.tasks, ended) &&
           std::ranges::all_of(what.quarantined, quarantined);
}

}  // namespace

// Refuses a plan that was made on other frames: it would restore content that was removed from
// them. A plan with a later head than the state's has read frames of another process that are not
// known here yet.
Result<Answer> handle(Decider& d, Redact const& c) {
    bool const meets =
        c.base == d.state.base.through && c.redacted == d.state.redacted && c.head <= d.state.head;
    if (!meets || !still_there(d.state, c)) return changed_since();
    Redacted what = c.what;
    what.by = d.command.by;
    d.emit(std::move(what));
    FITS(d.state.redacted == d.state.head);
    return done(d);
}

Result<Answer> handle(Decider& d, Delete const& c) {
    if (c.if_match && *c.if_match != d.state.head) return changed_since();
    if (c.only_completed && d.state.lifecycle != Lifecycle::completed) {
        return wrong_state(d.state, "go by retention");
    }
    settle_everything(d, "the session was deleted");
    d.emit(SessionDeleted{d.command.by});
    return done(d);
}

}  // namespace dormouse::session
