#pragma once
// A decision in progress. Command handlers add events by emit(), which applies each at once, so
// that later steps are decided on the resulting state. Private to the layer.

#include "session/decide.h"

#include <string>

namespace dormouse::session {

class Decider {
public:
    Decider(State& state, Command const& command, Context const& context)
        : state(state), command(command), context(context), at(context.at) {}

    void emit(Event::Body body);
    [[nodiscard]] Bits128 draw() { return dormouse::draw(context.random, ++drawn_); }
    // Returns the digest of the request that an input remembers; empty: it had no Idempotency-Key.
    [[nodiscard]] std::string idem() const;
    // The receipt of a closed pause: closed by this append (rule 9), or found by key.
    [[nodiscard]] std::optional<Receipt> closed(PendingId const& pending) const;
    [[nodiscard]] PendingId new_pending(Call const& call);
    [[nodiscard]] Receipt receipt(PendingId const& pending, SubmissionKind kind, CallStatus status,
                                  Sha256 const& digest) const;

    State& state;
    Command const& command;
    Context const& context;
    Time const at;
    std::vector<Event> events;
    std::vector<PendingChange> pending;
    std::vector<KeptArtifact> artifacts;
    std::vector<OutboxMessage> outbox;
    std::optional<OutboxKey> took;
    std::vector<StandingRule> rules;
    // Pauses of calls that start in the append of their reply: the reply need not store them.
    std::map<CallNo, PauseTerms> at_once;

    // The id of the session that this command creates.
    [[nodiscard]] SessionId new_session();
    [[nodiscard]] std::uint64_t sessions() const { return sessions_; }

private:
    std::uint64_t sessions_ = 0;
    std::uint32_t drawn_ = 0;
};

// advance.cc: does what has become possible (rules 2 and 4), in the same append.
void advance(Decider& d);
// Settles everything open in the turn and ends it. `reason`: given by the caller of a cancel.
void end_turn(Decider& d, FinishReason finish, std::optional<Trouble> error, std::string const& why,
              std::string const& reason = {});
// Settles the newest pause or run of one open call as cancelled.
void cancel_call(Decider& d, CallNo call, std::string const& why, std::string const& reason = {});
void start_tool(Decider& d, CallNo call);

// program.cc: writes the intent to prompt the external agent.
void prompt_again(Decider& d);
// REQUIRES: the permission was approved and has further pauses (CallSpec::then).
void ask_next(Decider& d, std::uint32_t step, CallSpec spec);
// The open prompt will have no answer: detaches the agent and decides whether it starts again.
void lose_agent(Decider& d, Trouble const& error, bool died);

// time.cc: writes everything that is due by the command's time (rule 9).
void fall_due(Decider& d);
// Fills in the default reminder intervals for pauses that people answer.
[[nodiscard]] PauseTerms with_reminders(Decider const& d, PauseTerms terms);
[[nodiscard]] std::optional<Time> deadline_of(PauseTerms const& terms, ToolTerms const& tool,
                                              Time at);

// adopt.cc: puts an attempt with unknown outcome in doubt; its tool must not run again without
// being asked. `why` may be empty.
void doubt(Decider& d, Call const& call, std::string const& why);

// tool.cc: the outcome of a run. A run that was in doubt is listed as waiting, so its outcome
// leaves a receipt (P2).
void end_run(Decider& d, ToolFinished outcome, Sha256 const& digest);

// tool.cc: why the call's tool must not pause on these terms; empty: it may.
[[nodiscard]] std::string wrong_pause(Call const& call, PauseTerms const& terms);

// tool.cc: the question about a call in doubt is cancelled, because the call has its outcome. Does
// nothing if there is no question.
void supersede_question(Decider& d, Call const& call);

// mail.cc
[[nodiscard]] Result<Answer> receive_mail(Decider& d, Mail const& mail);
void bounce_mail(Decider& d, Undelivered const& back, Mail const& mail);
void lose_mail(Decider& d, MailLost const& lost);
void mail_is_due(Decider& d);  // releases or expires mail that is due

// artifact.cc: the error if the artifacts exceed a limit; nullopt: none.
[[nodiscard]] std::optional<Error> refuse_artifacts(State const& state, Attached const& attached);
// Stores them and returns the output, with the id of the artifact that it describes. REQUIRES: not
// refused.
[[nodiscard]] Json keep(Decider& d, CallNo call, Attached const& attached, Json const& output);
// nullopt: within the limits.
[[nodiscard]] std::optional<Error> refuse_imported(
    State const& state, std::vector<std::pair<Seq, Artifact>> const& files);
// The images and files of an input. nullopt: within the limits.
[[nodiscard]] std::optional<Error> refuse_files(State const& state,
                                                std::vector<InputFile> const& files);
// Stores them and returns the parts with their ids. REQUIRES: not refused.
[[nodiscard]] Json keep_files(Decider& d, Json const& parts, std::vector<InputFile> const& files);
// The messages of a fork with its own artifact ids in place of the original's; `next` is the event
// of its first artifact.
[[nodiscard]] Json renamed(SessionId const& fork, Create::ForkOf const& from, Seq next);
// create.cc: the error for an agent that cannot serve this project (Context::refused). `pointer`
// names the agent in the request; empty: the request does not name it.
[[nodiscard]] std::unexpected<Error> agent_refused(std::string const& pointer,
                                                   std::string const& why);
// create.cc: the session has no agent and its call is settled, or its turn was cancelled: ends it.
void end_asked(Decider& d);
// create.cc: why a session without an agent refuses the command; nullopt: it does not.
[[nodiscard]] std::optional<Error> refuse_without_agent(Command const& command);
// create.cc: gives the session, which was just created, that history.
void begin_as_fork(Decider& d, Create::ForkOf const& from);

// submit.cc: an outcome for a pause, also as a prompt's answer.
struct Offer {
    PendingId const& pending;
    Submission const& what;
    std::string const& via;
    std::string const& delivery_id;
    std::optional<Sha256> const& input_digest;
    Attached const& attached;
    std::vector<InputFile> const& files;
    Json const& file_parts;  // array; read if there are files
};
// `from` names the actor, or a role ("role:approve") that the caller has.
[[nodiscard]] bool may_answer(AnswerTerms const& terms, Actor const& actor, Context const& context);
[[nodiscard]] Result<Answer> submit(Decider& d, Offer const& offer);
// budget.cc: asks people if a budget is used up. False: none is.
[[nodiscard]] bool ask_about_budget(Decider& d);
// Returns why the amount of a raise is invalid; nullopt if it is valid or the call is not about a
// budget.
[[nodiscard]] std::optional<Error> refuse_raise(Call const& call, Offer const& offer);
// Raises the budget, or ends the turn.
void follow_budget(Decider& d, CallNo call, BudgetUse const& use, Submission const& what);
// Nobody answered in time, or the next day began.
void expire_budget(Decider& d, BudgetUse const& use, Pause const& pause);
// Cancels the question about a budget of a day that was raised from another session.
void withdraw_question(Decider& d);
// standing.cc: why the rule of a submission cannot be made; nullopt: it has none, or it can.
[[nodiscard]] std::optional<Error> refuse_rule(Call const& call, Offer const& offer,
                                               Actor const& by);
// REQUIRES: not refused; the next event settles the pause.
[[nodiscard]] StandingRule rule_of(Decider const& d, Call const& call, Submission const& what);
// Writes the settling event and what follows from an answered in-doubt question.
Receipt settle(Decider& d, Call const& call, Offer const& offer);
// The answer to a submission with `digest` for a closed or unknown pause.
[[nodiscard]] Result<Answer> answer_closed(Decider& d, PendingId const& pending,
                                           std::optional<Sha256> const& digest);
void note(Decider& d, PendingId const& pending, std::string about, Sha256 const& digest,
          std::string text);

[[nodiscard]] Result<Answer> handle(Decider& d, Create const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Adopt const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Tick const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Prompt const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, ModelReply const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, ModelFailure const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, ToolOutcome const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, GateOutcome const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, TurnOutcome const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, PollOutcome const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Submit const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Progress const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Claim const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Reassign const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Cancel const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Move const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Change const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Delete const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Deliver const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Undelivered const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Repair const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, CutHistory const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Redact const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, TaskAsk const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, SendMail const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, TakeMail const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, ReleaseMail const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, ImportMore const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentAttach const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentTyped const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentReport const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentReply const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentAsk const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentFailure const& c);

// Returns the trace headers of a mail or run that the next event sends: those of the request that
// asked for it, else those of the open turn. A queued run that begins later gets those of the last
// turn.
[[nodiscard]] TraceHeaders trace_of_sent(Decider const& d);

[[nodiscard]] inline Result<Answer> done(Decider const& d) { return Answer{.seq = d.state.head}; }
[[nodiscard]] bool is_full(State const& state);
[[nodiscard]] std::unexpected<Error> journal_full();
// "1 MiB", "2048 bytes".
[[nodiscard]] std::string bytes_text(std::size_t bytes);
// "A prompt's text must be at most 1 MiB.", with the limit's name and value.
[[nodiscard]] std::unexpected<Error> over_limit(std::string const& what, std::string_view limit,
                                                std::size_t max);
inline constexpr char const* prompt_text = "A prompt's text";
// The error if the text of `parts`, which every prompt of a session or a task passes, exceeds the
// limit; `what` names it. nullopt: it does not.
[[nodiscard]] std::optional<Error> refuse_text(Decider const& d, std::string const& what,
                                               Json const& parts);
[[nodiscard]] std::unexpected<Error> unknown();
// Retention removed what the command is about.
[[nodiscard]] std::unexpected<Error> gone();
[[nodiscard]] std::unexpected<Error> wrong_state(State const& state, std::string_view move);

}  // namespace dormouse::session
