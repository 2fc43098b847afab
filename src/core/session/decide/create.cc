#include "session/decide/decider.h"
#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/limits.h"

namespace dormouse::session {

std::unexpected<Error> agent_refused(std::string const& pointer, std::string const& why) {
    return fail(Code::bad_value, (pointer.empty() ? "" : pointer + ": ") + why,
                object_json("pointer", pointer, "why", why));
}

void begin_as_fork(Decider& d, Create::ForkOf const& from) {
    Json const messages = renamed(d.state.id, from, d.state.head + 2);
    d.emit(Forked{from.from, from.seq, messages, from.message_count});
    for (auto const& [seq, artifact] : from.artifacts) (void)keep(d, 0, {{artifact}, false}, {});
}

// A repeated part is a duplicate, so a client may send a part until it is answered.
Result<Answer> handle(Decider& d, ImportMore const& c) {
    if (d.state.imports == 0) return fail(Code::wrong_kind, "This session was not imported.");
    if (c.part <= d.state.imports) return Answer{.outcome = Answer::Outcome::duplicate};
    if (c.part > limits::import_parts_max)
        return over_limit("An import", "import_parts", limits::import_parts_max);
    if (c.part != d.state.imports + 1) {
        Error gap{Code::not_ready,
                  "Part " + std::to_string(d.state.imports + 1) + " must come first.",
                  {},
                  100};
        return std::unexpected(std::move(gap));
    }
    if (d.state.turns != 0 || d.state.lifecycle != Lifecycle::active)
        return fail(Code::wrong_state,
                    "The session already has turns; import its history before the first prompt.");
    if (auto error = refuse_imported(d.state, c.artifacts))
        return std::unexpected(*std::move(error));
    begin_as_fork(
        d, {.messages = c.messages, .message_count = c.message_count, .artifacts = c.artifacts});
    FITS(d.state.imports == c.part);
    return done(d);
}

namespace {

// The call waits from the start: nothing runs for it.
void ask(Decider& d, Create::Ask const& ask) {
    FITS(d.state.agent == no_agent && !d.state.turn && d.state.calls_ever == 0);
    InputReceived input{1, InputSource::prompt, PromptMode::queue, ask.parts, d.command.by, {}, {}};
    input.trace = d.command.trace;
    d.emit(std::move(input));
    d.emit(TurnStarted{1, d.state.head, InputSource::prompt, TurnTerms(), false});
    PendingId const pending{d.state.id, 1, 1, d.draw()};
    d.emit(AgentAsked{pending, ask.call, 1, d.state.head + 1, with_reminders(d, ask.terms),
                      deadline_of(ask.terms, ask.call.terms, d.at)});
}

std::optional<Error> refuse_first(Decider const& d, Create const& c) {
    if (!c.prompt) return std::nullopt;
    if (auto error = refuse_text(d, prompt_text, c.prompt->parts)) return error;
    return refuse_files(d.state, c.prompt->files);
}

}  // namespace

void end_asked(Decider& d) {
    if (d.state.turn && !d.state.calls.empty()) return;
    if (d.state.turn) end_turn(d, FinishReason::stop, std::nullopt, "the call was settled");
    if (!d.state.alias.empty()) d.emit(SessionChanged{{}, std::string(), {}});
    d.emit(SessionEnded{d.command.by});
}

std::optional<Error> refuse_without_agent(Command const& command) {
    auto const* const message = std::get_if<Deliver>(&command.body);
    bool const works = std::holds_alternative<Prompt>(command.body) ||
                       std::holds_alternative<TaskAsk>(command.body) ||
                       std::holds_alternative<SendMail>(command.body) ||
                       std::holds_alternative<TakeMail>(command.body) ||
                       (message && std::holds_alternative<Mail>(message->what));
    if (!works) return std::nullopt;
    return Error{Code::wrong_kind,
                 "This session has no agent: it holds one call that a client made. Answer the "
                 "call, or cancel it."};
}

// REQUIRES: the state is new, or that of the session to which the Idempotency-Key led before.
Result<Answer> handle(Decider& d, Create const& c) {
    if (d.state.lifecycle == Lifecycle::deleted)
        return fail(Code::session_gone, "This session was deleted.");
    if (d.state.lifecycle != Lifecycle::none) {
        if (d.state.created_idem == d.idem()) return Answer{.outcome = Answer::Outcome::duplicate};
        return fail(Code::idempotency_mismatch,
                    "This Idempotency-Key was used with another request body.");
    }
    bool const names_agent = !c.fork || c.fork->from == SessionId();
    if (!d.context.refused.empty())
        return agent_refused(names_agent ? "/agentID" : "", d.context.refused);
    FITS(d.state.head == 0);
    d.state.id = c.id;
    if (auto error = refuse_first(d, c)) return std::unexpected(*std::move(error));
    d.emit(SessionCreated{c.project, c.agent, c.alias, c.title, c.cwd, c.labels, d.command.by,
                          d.idem(), std::nullopt, d.context.node});
    if (c.fork) begin_as_fork(d, *c.fork);
    if (c.ask) ask(d, *c.ask);
    Answer answer;
    if (c.prompt) {
        Json const parts = keep_files(d, c.prompt->parts, c.prompt->files);
        InputReceived input{1, InputSource::prompt, PromptMode::queue, parts, d.command.by, {}, {}};
        input.trace = d.command.trace;
        d.emit(std::move(input));
        answer.turn = 1;
    }
    answer.seq = d.state.head;
    return answer;
}

}  // namespace dormouse::session
