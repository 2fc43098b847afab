#include "session/decide/decider.h"
#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/limits.h"

#include <algorithm>

// Rule 7: prompts.
namespace dormouse::session {

namespace {

Result<Answer> answer_earlier(Decider const& d, Found::Earlier const& earlier) {
    FITS(!earlier.idem.empty());
    if (earlier.idem != d.idem()) {
        return fail(Code::idempotency_mismatch,
                    "This Idempotency-Key was used with another request body.");
    }
    Answer answer{.outcome = Answer::Outcome::duplicate, .seq = earlier.seq, .turn = earlier.turn};
    if (earlier.behind != 0) answer.behind = earlier.behind;
    return answer;
}

Json ids_json(std::vector<PendingId> const& ids) {
    json::Writer out;
    out.begin_object().key("ids").begin_array();
    for (PendingId const& id : ids) out.value(id.text());
    return out.end_array().end_object().json();
}

std::unexpected<Error> ambiguous(State const& state) {
    std::vector<PendingId> open;
    for (CallNo no : state.message_pauses) open.push_back(state.calls.at(no).pending);
    return fail(Code::ambiguous,
                "Several questions are open; name the one that this answers in `answers`.",
                ids_json(open));
}

// Settles a pause with continuation `message`: receipt and input in one append.
Result<Answer> answer_pause(Decider& d, Prompt const& c, PendingId const& pending) {
    static std::string const via = "prompt";
    static std::string const no_delivery;
    Submission what;
    what.output = c.answer_output;
    what.digest = c.answer_digest;
    TurnNo const turn = d.state.turn ? d.state.turn->no : 0;
    Call const* const call = open_pause(d.state, pending);
    if (call && (!call->pause || call->pause->terms.continuation != Continuation::message)) {
        return fail(Code::wrong_kind, "This call does not wait for a message.");
    }
    if (call && !c.only_text) {
        return fail(
            Code::wrong_kind,
            "A prompt answers the open question with text only. To begin a turn with images "
            "or files instead, set `when` to `queue`; to attach files to the answer, "
            "submit it as a result of the call.");
    }
    if (call && !call->pause->terms.schema.is_null()) {
        return fail(Code::wrong_kind,
                    "The open question wants an answer of a certain form: submit it as a result of "
                    "the call. To begin a turn with a prompt instead, set `when` to `queue`.",
                    ids_json({pending}));
    }
    auto settled = submit(d, {pending, what, via, no_delivery, std::nullopt, {}, {}, {}});
    if (!settled || settled->outcome != Answer::Outcome::applied) return settled;
    FITS(turn != 0);  // the call was open
    settled->turn = turn;
    settled->seq = d.state.head;
    return settled;
}

void interrupt(Decider& d) {
    FITS(d.state.turn.has_value());
    OpenTurn const& turn = *d.state.turn;
    if (turn.request || turn.retry) {
        d.emit(ModelFailed{
            turn.step, turn.attempt, {"interrupted", "A prompt interrupted this request."}, {}});
    }
    std::vector<CallNo> in_work;
    for (auto const& [no, call] : d.state.calls) {
        if (call.phase != CallPhase::waiting) in_work.push_back(no);
    }
    for (CallNo no : in_work) cancel_call(d, no, "interrupted by a prompt");
}

std::string open_ids(State const& state) {
    std::string ids;
    for (auto const& [no, call] : state.calls) {
        if (call.phase == CallPhase::waiting)
            ids += (ids.empty() ? "" : ", ") + call.pending.text();
    }
    return ids.empty() ? "the model's answer" : ids;
}

Result<Answer> take_input(Decider& d, Prompt const& c, PromptMode when) {
    State& state = d.state;
    bool const idle = !state.turn && state.queue.empty();
    if (!idle && when == PromptMode::reject) {
        return fail(Code::session_busy,
                    "The session is in a turn; it waits for " + open_ids(state) + ".");
    }
    // An external agent accepts nothing during a prompt.
    bool const programmed = state.turn && state.turn->terms.on_restart;
    bool const own_turn = idle || when == PromptMode::queue || !state.turn || programmed;
    if (own_turn && state.queue.size() >= d.context.limits.queue) {
        return fail(Code::queue_full, "The session's queue is full (" +
                                          std::to_string(d.context.limits.queue) + ").");
    }
    if (auto error = refuse_files(state, c.files)) return std::unexpected(*std::move(error));
    if (programmed && when == PromptMode::interrupt) {
        end_turn(d, FinishReason::cancelled, std::nullopt, "interrupted by a prompt");
    } else if (!own_turn && when == PromptMode::interrupt) {
        interrupt(d);
    }
    Json const parts = keep_files(d, c.parts, c.files);
    FITS(own_turn || state.turn);
    TurnNo const turn = own_turn ? state.turns + 1 : state.turn->no;
    Answer answer;
    answer.turn = turn;
    if (own_turn && state.turn) answer.behind = state.turn->no;
    InputReceived input{turn, InputSource::prompt, when, parts, d.command.by, {}, d.idem()};
    input.behind = answer.behind.value_or(0);
    input.trace = d.command.trace;
    d.emit(std::move(input));
    answer.seq = state.head;
    return answer;
}

}  // namespace

Result<Answer> handle(Decider& d, Prompt const& c) {
    if (d.context.found.earlier) return answer_earlier(d, *d.context.found.earlier);
    State& state = d.state;
    if (auto error = refuse_text(d, prompt_text, c.parts))
        return std::unexpected(*std::move(error));
    if (is_full(d.state)) return journal_full();
    if (state.lifecycle == Lifecycle::error) return wrong_state(state, "prompt");
    if (state.lifecycle == Lifecycle::completed) {
        if (!c.reopen) return wrong_state(state, "prompt");
        if (c.answers)
            return answer_pause(d, c, *c.answers);  // its calls are closed, so this opens nothing
        d.emit(StatusChanged{Lifecycle::completed, Lifecycle::active, "reopened by a prompt"});
    }
    FITS(state.lifecycle == Lifecycle::active || state.lifecycle == Lifecycle::paused);
    if (c.answers) return answer_pause(d, c, *c.answers);
    if (!c.when && !state.message_pauses.empty()) {
        if (state.message_pauses.size() > 1) return ambiguous(state);
        PendingId const pending = state.calls.at(*state.message_pauses.begin()).pending;
        return answer_pause(d, c, pending);
    }
    return take_input(d, c, c.when.value_or(PromptMode::queue));
}

}  // namespace dormouse::session
