#include "session/decide/task.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/submission.h"

// Outcomes of tools and gates. The first outcome of any attempt of a tool settles the call; later
// ones become notes.
namespace dormouse::session {

namespace {

// The call, if it can take an outcome: running, between attempts, or in doubt after a crash.
Call* awaiting_outcome(State& state, PendingId const& pending) {
    auto found = state.calls.find(pending.call);
    if (found == state.calls.end() || found->second.pending != pending) return nullptr;
    Call& call = found->second;
    bool const runs = call.phase == CallPhase::running || call.phase == CallPhase::retry_wait;
    return runs || call.in_doubt ? &call : nullptr;
}

// A repeat of a failure after which the call has already continued: another attempt runs or is
// scheduled. It must not count as that attempt's outcome.
bool has_continued_after(Call const& call, ToolOutcome const& c) {
    auto const* failed = std::get_if<Failed>(&c.what);
    if (!failed || !failed->nothing_done) return false;
    bool const waits_for_next = call.phase == CallPhase::retry_wait;
    return waits_for_next || (call.phase == CallPhase::running && c.attempt < call.attempt);
}

// Larger outputs were replaced by artifacts before this.
std::string too_large(Decider const& d, Done const& outcome) {
    if (outcome.output.size() > d.context.limits.output_bytes) {
        return "the tool's output is larger than " + bytes_text(limits::artifact_bytes_max) +
               "; nothing of it was kept";
    }
    if (outcome.title.size() + outcome.metadata.size() > limits::output_bytes_max) {
        return "the tool's title and metadata are larger than " +
               bytes_text(limits::output_bytes_max) + "; nothing of its outcome was kept";
    }
    auto const error = refuse_artifacts(d.state, outcome.attached);
    return error ? error->detail + " Nothing of this outcome was kept." : "";
}

void finish(Decider& d, ToolOutcome const& c, Done const& outcome) {
    CallNo const no = c.pending.call;
    FITS(d.state.calls.contains(no));
    if (std::string const error = too_large(d, outcome); !error.empty())
        return end_run(d, {no, c.attempt, ErrorReason::failed, {}, error, {}, {}},
                       submitted_error(error).digest);
    Json const output = keep(d, no, outcome.attached, outcome.output);
    end_run(d, {no, c.attempt, std::nullopt, output, {}, outcome.title, outcome.metadata},
            c.digest);
}

Duration back_off(std::uint32_t attempt) {
    FITS(attempt <= limits::tool_attempts_max);
    return std::min(limits::retry_max, limits::retry_base * (1 << attempt));
}

void attempt_failed(Decider& d, Call const& call, ToolOutcome const& c, Failed const& failed) {
    FITS(call.no == c.pending.call);
    bool const again = failed.nothing_done && call.phase == CallPhase::running &&
                       c.attempt == call.attempt && c.attempt < limits::tool_attempts_max;
    if (!again)
        return end_run(d, {call.no, c.attempt, ErrorReason::failed, {}, failed.message, {}, {}},
                       c.digest);
    d.emit(ToolFailed{call.no, c.attempt, failed.message, d.at + back_off(c.attempt)});
}

// Only the loss of the newest attempt counts.
void attempt_lost(Decider& d, Call const& call, ToolOutcome const& c, InDoubt const& lost) {
    FITS(call.no == c.pending.call);
    if (call.phase != CallPhase::running || c.attempt != call.attempt) return;
    if (call.spec.terms.crash != CrashPolicy::retry) return doubt(d, call, lost.message);
    if (c.attempt >= limits::tool_attempts_max) {
        return end_run(d, {call.no, c.attempt, ErrorReason::failed, {}, lost.message, {}, {}},
                       c.digest);
    }
    Duration const asked = std::min(limits::retry_after_max, lost.retry_after.value_or(Duration()));
    Duration const delay = std::max(back_off(c.attempt), asked);
    d.emit(ToolFailed{call.no, c.attempt, lost.message, d.at + delay});
}

void pause(Decider& d, Call const& call, ToolOutcome const& c, PauseTerms const& terms) {
    FITS(call.pending == c.pending);
    if (auto const why = wrong_pause(call, terms); !why.empty()) {
        return end_run(d, {call.no, c.attempt, ErrorReason::failed, {}, why, {}, {}},
                       submitted_error(why).digest);
    }
    d.emit(CallPaused{call.pending, with_reminders(d, terms),
                      deadline_of(terms, call.spec.terms, d.at)});
}

}  // namespace

std::string wrong_pause(Call const& call, PauseTerms const& terms) {
    bool const declared = call.spec.terms.may_pause_for(terms.reason);
    if (terms.valid() && declared) return {};
    return "the tool paused for " + std::string(text(terms.reason)) +
           (terms.valid() ? " without having declared it" : " with terms that do not fit");
}

void supersede_question(Decider& d, Call const& call) {
    if (!call.question) return;
    static Sha256 const digest = submitted_error("superseded").digest;
    auto receipt =
        d.receipt(call.question->pending, SubmissionKind::cancel, CallStatus::cancelled, digest);
    receipt.by = {};
    d.emit(Cancelled{call.no, receipt, false, "superseded by the call's outcome"});
    FITS(!call.question);
}

void end_run(Decider& d, ToolFinished outcome, Sha256 const& digest) {
    Call const& call = d.state.calls.at(outcome.call);
    FITS(call.in_doubt || call.phase == CallPhase::running || call.phase == CallPhase::retry_wait);
    if (!call.in_doubt) return d.emit(std::move(outcome));
    if (outcome.error_reason == ErrorReason::unknown) {
        Receipt receipt =
            d.receipt(call.pending, SubmissionKind::expiry, CallStatus::expired, digest);
        return d.emit(Expired{std::move(receipt), ErrorReason::unknown});
    }
    Submission what;
    what.kind = outcome.error_reason ? SubmissionKind::error : SubmissionKind::result;
    what.output = outcome.output;
    what.title = outcome.title;
    what.metadata = outcome.metadata;
    what.error = outcome.error;
    what.digest = digest;
    CallStatus const status = outcome.error_reason ? CallStatus::failed : CallStatus::completed;
    Receipt receipt = d.receipt(call.pending, what.kind, status, digest);
    receipt.via = "runtime";
    d.emit(Submitted{std::move(receipt), std::move(what)});
}

Result<Answer> handle(Decider& d, ToolOutcome const& c) {
    Call* const call = awaiting_outcome(d.state, c.pending);
    if (!call) {
        bool const open = d.state.calls.contains(c.pending.call);
        if (!open && d.context.found.receipt)
            note(d, c.pending, "late_outcome", c.digest,
                 "The tool answered after its call was settled.");
        return done(d);
    }
    if (has_continued_after(*call, c)) return done(d);
    FITS(call->pending == c.pending && !call->spec.budget);
    if (auto const* lost = std::get_if<InDoubt>(&c.what)) {
        attempt_lost(d, *call, c, *lost);
        return done(d);
    }
    supersede_question(d, *call);
    if (auto const* outcome = std::get_if<Done>(&c.what)) {
        finish(d, c, *outcome);
    } else if (auto const* failed = std::get_if<Failed>(&c.what)) {
        attempt_failed(d, *call, c, *failed);
    } else if (auto const* ask = std::get_if<TaskAsk>(&c.what)) {
        ask_tasks(d, c, *ask);
    } else {
        pause(d, *call, c, std::get<PauseTerms>(c.what));
    }
    return done(d);
}

Result<Answer> handle(Decider& d, GateOutcome const& c) {
    auto const found = d.state.calls.find(c.call);
    if (found == d.state.calls.end() || found->second.phase != CallPhase::gating) return done(d);
    Call const& call = found->second;
    FITS(call.no == c.call && !call.spec.refused);
    if (gate_of(call) != c.gate) return done(d);
    if (auto const* allow = std::get_if<GateOutcome::Allow>(&c.what)) {
        bool const edits = allow->input && allow->input_digest != call.spec.input_digest;
        GateDecided decided{call.no, c.gate, true, {}, allow->input, allow->input_digest};
        decided.again = edits && call.gates_passed > 0;
        d.emit(std::move(decided));
    } else if (auto const* deny = std::get_if<GateOutcome::Deny>(&c.what)) {
        d.emit(GateDecided{call.no, c.gate, false, deny->message, std::nullopt, {}});
    } else if (auto const* terms = std::get_if<PauseTerms>(&c.what)) {
        if (!terms->valid()) {
            std::string const why = "denied: gate '" + c.gate + "' paused in a way that may not be";
            d.emit(GateDecided{call.no, c.gate, false, why, std::nullopt, {}});
            return done(d);
        }
        if (auto const* rule = rule_for(d.context.rules, d.state, call, c.gate, *terms, d.at)) {
            d.emit(GateDecided{call.no, c.gate, true, {}, std::nullopt, {}, rule->id(), rule->by});
            return done(d);
        }
        d.emit(GateAsked{d.new_pending(call), c.gate, with_reminders(d, *terms),
                         deadline_of(*terms, call.spec.terms, d.at)});
    } else {
        d.emit(GateMissing{call.no, c.gate});
    }
    return done(d);
}

}  // namespace dormouse::session
