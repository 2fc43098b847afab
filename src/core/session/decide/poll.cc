#include "session/decide/decider.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/submission.h"

#include <algorithm>

// Polling: a tool asks its service for the result of a paused call. A poll writes one event, when
// it has ended; starting it writes none, since it has no side effects.
namespace dormouse::session {

namespace {

constexpr Duration day{24 * 3600 * 1000};

// poll_every; longer after each failure, and at least what the service requests.
Duration delay(Pause const& pause, std::uint32_t failures, std::optional<Duration> retry_after) {
    FITS(pause.terms.poll_every.has_value());
    Duration const every = *pause.terms.poll_every;
    Duration const most = std::max(every, limits::poll_back_off_max);
    Duration const wait = std::min(most, every * (1 << std::min(failures, 20U)));
    return std::max(wait, std::min(limits::retry_after_max, retry_after.value_or(Duration())));
}

void not_yet(Decider& d, Call const& call, NotYet const& answer) {
    FITS(call.pause.has_value());
    std::uint32_t const failures = answer.error.empty() ? 0 : call.pause->poll_failures + 1;
    Duration const wait = is_full(d.state) ? day : delay(*call.pause, failures, answer.retry_after);
    d.emit(Polled{call.pending, d.at + wait, failures, answer.error});
}

// Returns why the job's new pause is refused; empty: it was written.
std::string pause_again(Decider& d, Call const& call, PauseTerms const& terms) {
    auto why = wrong_pause(call, terms);
    if (why.empty())
        d.emit(CallPaused{call.pending, with_reminders(d, terms),
                          deadline_of(terms, call.spec.terms, d.at)});
    return why;
}

// Stores the artifacts, too.
Submission submission_of(Decider& d, CallNo call, PollOutcome const& c) {
    FITS(call == c.pending.call);
    Submission what;
    what.digest = c.digest;
    if (auto const* done = std::get_if<Done>(&c.what)) {
        if (auto const error = refuse_artifacts(d.state, done->attached)) {
            what.error = error->detail + " Nothing of it was kept.";
        } else if (done->output.size() <= d.context.limits.output_bytes) {
            what.output = keep(d, call, done->attached, done->output);
            what.title = done->title;
            what.metadata = done->metadata;
            return what;
        } else {
            what.error = "the tool's output is larger than " +
                         bytes_text(d.context.limits.output_bytes) + "; nothing of it was kept";
        }
    } else {
        what.error = std::get<Failed>(c.what).message;
    }
    what.kind = SubmissionKind::error;
    return what;
}

}  // namespace

// Ignores outcomes of older polls and of settled calls.
Result<Answer> handle(Decider& d, PollOutcome const& c) {
    Call const* const call = open_pause(d.state, c.pending);
    bool const polls = call && call->phase == CallPhase::waiting && call->pending == c.pending &&
                       call->pause->poll_at && call->pause->polled == c.since;
    if (!polls) return done(d);
    FITS(!call->pause->by_gate);  // the tool made the pause
    if (auto const* answer = std::get_if<NotYet>(&c.what)) {
        not_yet(d, *call, *answer);
        return done(d);
    }
    if (auto const* terms = std::get_if<PauseTerms>(&c.what)) {
        auto const why = pause_again(d, *call, *terms);
        Submission const refused = submitted_error(why);
        if (!why.empty())
            settle(d, *call, {c.pending, refused, "poll", {}, std::nullopt, {}, {}, {}});
        return done(d);
    }
    Submission const what = submission_of(d, call->no, c);
    settle(d, *call, {c.pending, what, "poll", {}, std::nullopt, {}, {}, {}});
    return done(d);
}

}  // namespace dormouse::session
