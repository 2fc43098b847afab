#include "session/decide/decider.h"

#include "base/trace.h"
#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/submission.h"

#include <algorithm>

// Rules 1, 2 and 8: submissions.
namespace dormouse::session {

namespace {

std::unexpected<Error> closed_error(Code code, std::string detail, Receipt const& receipt) {
    return fail(code, std::move(detail), object_json("digest", digest_text(receipt.digest)));
}

// Rule 8: which kinds of submission settle which pause.
bool fits(PauseReason reason, SubmissionKind kind) {
    switch (reason) {
        case PauseReason::tool_result: return kind != SubmissionKind::decision;
        case PauseReason::user_input: return kind == SubmissionKind::result;
        case PauseReason::approval:
        case PauseReason::elicitation:
        case PauseReason::budget: return kind == SubmissionKind::decision;
        case PauseReason::handoff: return false;
    }
    return false;
}

std::unexpected<Error> wrong_kind(PauseReason reason) {
    std::string const word(text(reason));
    return fail(Code::wrong_kind, "This call waits for another kind of outcome (" + word + ").",
                object_json("reason", word));
}

std::optional<Error> refuse_values(Checked const& checked) {
    if (checked.refused) return checked.refused;
    if (checked.invalid.is_null()) return std::nullopt;
    return Error{Code::invalid_result,
                 "The outcome does not fit the call's schema; it still waits.",
                 object_json("errors", checked.invalid)};
}

// A larger result was stored as an artifact before, unless it exceeds that limit, too.
std::optional<Error> refuse_output(Limits const& allowed, Submission const& what) {
    std::size_t const others = what.title.size() + what.metadata.size() + what.error.size() +
                               what.reason.size() + what.arguments.size() + what.content.size();
    if (others > limits::output_bytes_max) {
        return over_limit("An outcome without its output (title, metadata, …)", "outcome_bytes",
                          limits::output_bytes_max)
            .error();
    }
    std::size_t const bytes = what.output.size();
    if (bytes <= allowed.output_bytes) return std::nullopt;
    bool const hopeless = bytes > limits::artifact_bytes_max;
    return over_limit("An output", "output_bytes",
                      hopeless ? limits::artifact_bytes_max : allowed.output_bytes)
        .error();
}

// Early: the tool has started and has not paused yet. Decided by what the tool declares.
std::optional<Error> refuse_early(Call const& call, Offer const& offer) {
    bool const declared = call.spec.terms.may_pause_for(PauseReason::tool_result);
    if (declared && offer.what.kind != SubmissionKind::decision) return std::nullopt;
    Error error{Code::not_ready, "The call is still starting; try again.", {}, 1000};
    return error;
}

std::optional<Error> refuse_asker_or_kind(State const& state, Call const& call, Offer const& offer,
                                          Actor const& by, Context const& context) {
    bool const question = call.question && call.question->pending == offer.pending;
    if (question) {
        if (offer.what.kind != SubmissionKind::decision)
            return wrong_kind(PauseReason::elicitation).error();
        std::string_view const action = offer.what.action;
        if (action == "run_again" || action == "succeeded" || action == "give_up")
            return std::nullopt;
        return Error{Code::invalid_result,
                     "content.action must be run_again, succeeded or give_up.",
                     member_error("/content/action", "run_again, succeeded or give_up")};
    }
    if (call.phase != CallPhase::waiting) return refuse_early(call, offer);
    FITS(call.pause && state.turn);
    PauseTerms const& terms = call.pause->terms;
    if (terms.reason == PauseReason::handoff) {
        return Error{Code::not_an_answerer, "The runtime itself answers this call."};
    }
    if (!may_answer(terms.answer, by, context))
        return Error{Code::not_an_answerer, "You are not among the answerers of this call."};
    if (terms.answer.forbid_requester && state.turn->by == by) {
        return Error{Code::not_an_answerer, "You requested this turn; another person must answer."};
    }
    // Capabilities and webhooks may only report results of jobs, never answer for people.
    bool const job = by.type == ActorType::capability || by.type == ActorType::webhook;
    if (job && terms.reason != PauseReason::tool_result) return wrong_kind(terms.reason).error();
    if (!fits(terms.reason, offer.what.kind)) return wrong_kind(terms.reason).error();
    // A program outside runs the tool, and expects the arguments that it gave.
    bool const outside = call.spec.ask != 0 || terms.continuation != Continuation::reentry;
    if (outside && !offer.what.arguments.is_null()) {
        return Error{Code::invalid_arguments,
                     "The arguments of a tool that runs outside cannot be changed; approve or deny "
                     "the call as it is."};
    }
    if (offer.input_digest && *offer.input_digest != call.spec.input_digest) {
        return Error{Code::input_changed,
                     "The arguments have changed since they were shown to you.",
                     object_json("inputDigest", digest_text(call.spec.input_digest))};
    }
    return std::nullopt;
}

// Returns the maximum number of files of an answer of this call.
std::size_t files_taken(Call const& call, Offer const& offer) {
    bool const own = call.pause && !call.pause->by_gate && call.pending == offer.pending;
    if (!own || offer.what.kind != SubmissionKind::result) return 0;
    PauseTerms const& terms = call.pause->terms;
    bool const one = terms.continuation == Continuation::message && terms.answer.need == 1;
    return one ? std::min<std::size_t>(terms.files, limits::input_files_max) : 0;
}

std::optional<Error> refuse_answer_files(State const& state, Call const& call, Offer const& offer) {
    if (offer.files.empty()) return std::nullopt;
    std::size_t const most = files_taken(call, offer);
    if (most == 0)
        return Error{Code::invalid_result, "This call takes no files; it still waits.",
                     member_error("/files", "must be left out")};
    if (offer.files.size() > most) {
        return Error{Code::too_large,
                     "This answer must have at most " + std::to_string(most) + " files.",
                     object_json("limit", "answer_files", "max", most)};
    }
    return refuse_files(state, offer.files);
}

// Refusals that do not depend on the submitted values.
std::optional<Error> refuse(State const& state, Call const& call, Offer const& offer,
                            Actor const& by, Context const& context) {
    if (auto error = refuse_asker_or_kind(state, call, offer, by, context)) return error;
    if (auto error = refuse_raise(call, offer)) return error;
    if (auto error = refuse_rule(call, offer, by)) return error;
    if (auto error = refuse_output(context.limits, offer.what)) return error;
    if (auto error = refuse_artifacts(state, offer.attached)) return error;
    return refuse_answer_files(state, call, offer);
}

Offer offer_of(Submit const& c) {
    return {c.pending,      c.what,     c.via,   c.delivery_id,
            c.input_digest, c.attached, c.files, c.file_parts};
}

std::optional<Result<Answer>> voted_before(Decider const& d, Call const& call, Offer const& offer) {
    auto const earlier = std::ranges::find(call.votes, d.command.by, &Vote::by);
    if (earlier == call.votes.end()) return std::nullopt;
    if (earlier->digest != offer.what.digest)
        return fail(Code::conflict, "You have already voted differently.");
    return Answer{.outcome = Answer::Outcome::counted, .seq = d.state.head, .votes = call.votes};
}

// With `need` above 1 a decision is a vote: the n-th equal vote settles, and so does one denial.
Result<Answer> vote(Decider& d, Call const& call, Offer const& offer) {
    FITS(call.pause && call.pause->terms.answer.need > 1);
    Actor const& by = d.command.by;
    d.emit(Voted{offer.pending, by, offer.what.approved, offer.what.digest, offer.what});
    auto const equal = std::ranges::count_if(
        call.votes, [&](Vote const& v) { return v.digest == offer.what.digest; });
    bool const denied = offer.what.kind == SubmissionKind::decision && !offer.what.approved;
    if (!denied && static_cast<std::uint32_t>(equal) < call.pause->terms.answer.need) {
        return Answer{
            .outcome = Answer::Outcome::counted, .seq = d.state.head, .votes = call.votes};
    }
    Receipt const receipt = settle(d, call, offer);
    return Answer{.receipt = receipt, .seq = d.state.head};
}

// Executes the answer to an in-doubt question: content {"action": run_again | succeeded | give_up}.
void follow_question(Decider& d, CallNo no, Submission const& what) {
    Call const& call = d.state.calls.at(no);
    FITS(call.in_doubt && !call.question);
    if (what.action == "run_again") {
        // Runs under the same pendingID as soon as a slot is free.
        d.emit(ToolFailed{no, call.attempt, "the attempt was cut off; it is to run again", d.at});
    } else if (what.action == "succeeded") {
        end_run(d, {no, call.attempt, std::nullopt, what.output, {}, what.title, what.metadata},
                what.digest);
    } else {
        end_run(d, {no, call.attempt, ErrorReason::unknown, {}, "outcome unknown", {}, {}},
                what.digest);
    }
}

CallStatus status_of(Submission const& what) {
    return what.kind == SubmissionKind::error ? CallStatus::failed : CallStatus::completed;
}

// The message that an answer becomes: its text or value, then its files.
Json answer_parts(Decider& d, Offer const& offer) {
    Json const& output = offer.what.output;
    json::View const view(output);
    bool const is_text = view.kind() == json::Kind::string;
    json::Writer out;
    out.begin_array();
    if (offer.files.empty() || view.string() != "") {
        out.value(is_text ? object_json("type", "text", "text", output)
                          : object_json("type", "data", "name", "answer", "data", output));
    }
    // The parts of the files keep their bytes, as `place` counts them: they only move.
    bool const first = out.text() == "[";
    std::size_t const before = out.text().size() - (first ? 1 : 0);
    json::View(offer.file_parts).elements([&](json::View part) { out.raw(part.raw()); });
    std::vector<InputFile> files = offer.files;
    for (InputFile& file : files) file.place += before;
    return keep_files(d, out.end_array().json(), files);
}

}  // namespace

bool may_answer(AnswerTerms const& terms, Actor const& actor, Context const& context) {
    if (terms.from.empty() || actor.type == ActorType::runtime) return true;
    auto const has = [&](std::string const& role) {
        return role.starts_with("role:") &&
               (!context.roles || std::ranges::find(*context.roles, role) != context.roles->end());
    };
    return std::ranges::any_of(
        terms.from, [&](std::string const& from) { return from == actor.name || has(from); });
}

void note(Decider& d, PendingId const& pending, std::string about, Sha256 const& digest,
          std::string text) {
    Found const& found = d.context.found;
    if (found.note_known || found.notes >= limits::notes_per_pause_max) return;
    d.emit(Note{pending.call, pending.generation, std::move(about), digest, found.notes + 1,
                std::move(text)});
}

Result<Answer> answer_closed(Decider& d, PendingId const& pending,
                             std::optional<Sha256> const& digest) {
    auto const receipt = d.closed(pending);
    bool const capability = d.command.by.type == ActorType::capability;
    if (!receipt) return !capability && pending.call <= d.state.base.call ? gone() : unknown();
    if (capability && d.at > receipt->at + limits::capability_grace_period) return unknown();
    bool const settled =
        receipt->status == CallStatus::completed || receipt->status == CallStatus::failed;
    if (settled && digest && receipt->digest == *digest) {
        return Answer{
            .outcome = Answer::Outcome::duplicate, .receipt = receipt, .seq = d.state.head};
    }
    if (digest)
        note(d, pending, settled ? "conflict" : "late_result", *digest,
             "Offered after the call was settled.");
    if (receipt->status == CallStatus::expired) {
        return closed_error(Code::expired, "This call has expired.", *receipt);
    }
    if (receipt->status == CallStatus::cancelled) {
        return closed_error(Code::cancelled, "This call was cancelled.", *receipt);
    }
    char const* const what = digest ? "This call was settled before, with another payload."
                                    : "This call was settled before.";
    return closed_error(Code::conflict, what, *receipt);
}

Receipt settle(Decider& d, Call const& call, Offer const& offer) {
    CHECK(offer.pending.call == call.no && offer.pending.session == d.state.id);
    CallNo const no = call.no;
    bool const question = call.question && call.question->pending == offer.pending;
    bool const message =
        !question && call.pause && call.pause->terms.continuation == Continuation::message;
    if (!question) supersede_question(d, call);
    CallSpec const spec = call.spec;
    std::uint32_t const step = call.step;
    Receipt receipt =
        d.receipt(offer.pending, offer.what.kind, status_of(offer.what), offer.what.digest);
    receipt.via = offer.via;
    receipt.delivery_id = offer.delivery_id;
    if (offer.what.rule) d.rules.push_back(rule_of(d, call, offer.what));
    d.emit(Submitted{receipt, offer.what, d.command.trace});
    if (question) follow_question(d, no, offer.what);
    if (spec.budget) follow_budget(d, no, *spec.budget, offer.what);
    if (offer.what.approved && !spec.then.empty()) ask_next(d, step, spec);
    if (message) {
        FITS(d.state.turn.has_value());
        Json const shown = answer_parts(d, offer);
        d.emit(InputReceived{d.state.turn->no, InputSource::prompt, PromptMode::steer, shown,
                             d.command.by, offer.pending, d.idem()});
    }
    return receipt;
}

Result<Answer> submit(Decider& d, Offer const& offer) {
    trace();
    Call const* const call = open_pause(d.state, offer.pending);
    if (!call) return answer_closed(d, offer.pending, offer.what.digest);
    FITS(call->no == offer.pending.call);
    if (auto error = refuse(d.state, *call, offer, d.command.by, d.context))
        return std::unexpected(std::move(*error));
    if (auto error = refuse_values(d.context.checked)) return std::unexpected(std::move(*error));
    bool const question = call->question && call->question->pending == offer.pending;
    bool const votes = !question && call->pause && call->pause->terms.answer.need > 1;
    if (votes) {
        if (auto answered = voted_before(d, *call, offer)) return std::move(*answered);
    }
    Submission what = offer.what;
    what.output = keep(d, call->no, offer.attached, what.output);
    Offer const kept{offer.pending,      what,           offer.via,   offer.delivery_id,
                     offer.input_digest, offer.attached, offer.files, offer.file_parts};
    if (votes) return vote(d, *call, kept);
    Receipt const receipt = settle(d, *call, kept);
    return Answer{.receipt = receipt, .seq = d.state.head, .rule = what.rule.has_value()};
}

Result<Answer> handle(Decider& d, Submit const& c) { return submit(d, offer_of(c)); }

Call const* call_to_check(State const& state, Command const& command, Context const& context) {
    auto const* const c = std::get_if<Submit>(&command.body);
    Call const* const call = c ? open_pause(state, c->pending) : nullptr;
    if (!call) return nullptr;
    return refuse(state, *call, offer_of(*c), command.by, context) ? nullptr : call;
}

Result<Answer> handle(Decider& d, Progress const& c) {
    if (d.context.found.progress_known)
        return Answer{.outcome = Answer::Outcome::duplicate, .seq = d.state.head};
    Call const* const call = open_pause(d.state, c.pending);
    if (!call) return answer_closed(d, c.pending, std::nullopt);
    FITS(call->no == c.pending.call);
    if (is_full(d.state)) return journal_full();
    bool const same_second = call->progress_second == to_ms(d.at) / 1000;
    bool const fast =
        same_second && call->progress_in_second >= d.context.limits.progress_per_second;
    if (fast || call->progress_count >= d.context.limits.progress_per_call) {
        return std::unexpected(Error{Code::rate_limited,
                                     "Too much progress: at most 10 a second and 10,000 a call.",
                                     {},
                                     1000});
    }
    d.emit(Progressed{c.pending, c.key, c.payload});
    return done(d);
}

Result<Answer> handle(Decider& d, Claim const& c) {
    Call const* const call = open_pause(d.state, c.pending);
    if (!call) return answer_closed(d, c.pending, std::nullopt);
    if (call->phase != CallPhase::waiting)
        return fail(Code::not_ready, "The call is not waiting yet; try again.");
    FITS(call->pause.has_value());
    bool const taken = call->claim && call->claim->until > d.at && call->claim->by != d.command.by;
    if (taken) {
        return fail(Code::claimed, "Another worker has claimed this call.",
                    object_json("until", to_ms(call->claim->until)));
    }
    bool const is_free = !call->claim || call->claim->until <= d.at;
    if (c.time == Duration(0) && is_free) return done(d);
    d.emit(Claimed{c.pending, d.command.by, d.at + std::min(c.time, limits::claim_max)});
    return done(d);
}

}  // namespace dormouse::session
