#pragma once
// One decision in the making. Families add events through emit(), which applies each at once, so
// that what follows is decided on the state after it. Private to the layer.

#include "session/decide.h"

#include <string>

namespace dormouse::session {

class Decider {
public:
    Decider(State& state, Command const& command, Context const& context)
        : state(state), command(command), context(context), at(context.at) {}

    void emit(Event::Body body);
    [[nodiscard]] Bits128 draw() { return dormouse::draw(context.random, ++drawn_); }
    // What an input remembers of the request that brought it; empty: it bore no Idempotency-Key.
    [[nodiscard]] std::string idem() const;
    // The receipt of a closed pause: this very append may have closed it (rule 9), else it was
    // found by key.
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
    std::vector<Post> posts;
    std::optional<PostKey> took;
    // Pauses of calls that start in the very append of their reply: they need not stand in the
    // reply too.
    std::map<CallNo, PauseTerms> at_once;

    // A session that does not exist yet: its first command makes it.
    [[nodiscard]] SessionId new_session();
    [[nodiscard]] std::uint64_t sessions() const { return sessions_; }

private:
    std::uint64_t sessions_ = 0;
    std::uint32_t drawn_ = 0;
};

// advance.cc: does what has become possible (rules 2 and 4), in the same append.
void advance(Decider& d);
// Settles everything that is open in the turn and ends it.
// `reason`: of a cancel.
void end_turn(Decider& d, FinishReason finish, std::optional<Trouble> error, std::string const& why,
              std::string const& reason = {});
// Settles the newest pause or run of one open call as cancelled.
void cancel_call(Decider& d, CallNo call, std::string const& why, std::string const& reason = {});
void start_tool(Decider& d, CallNo call);

// program.cc: intent to prompt the agent's program; and what follows when the prompt that is under
// way will have no answer.
void prompt_again(Decider& d);
// REQUIRES: the permission was allowed, and somebody else is to be asked too.
void ask_next(Decider& d, std::uint32_t step, CallSpec spec);
void lose_program(Decider& d, Trouble const& error, bool died);

// time.cc: everything that is due by the command's time (rule 9).
void fall_due(Decider& d);
// Fills in the default reminder intervals for pauses that people answer.
[[nodiscard]] PauseTerms with_reminders(Decider const& d, PauseTerms terms);
[[nodiscard]] std::optional<Time> deadline_of(PauseTerms const& terms, ToolTerms const& tool,
                                              Time at);

// adopt.cc: nobody knows what became of an attempt, and its tool is not to be run again unasked.
// `why` may be empty.
void doubt(Decider& d, Call const& call, std::string const& why);

// tool.cc: what became of a run. One that was in doubt is listed as waiting: its outcome leaves a
// receipt (P2).
void end_run(Decider& d, ToolFinished outcome, Sha256 const& digest);

// mail.cc
[[nodiscard]] Result<Answer> receive_mail(Decider& d, Mail const& mail);
void bounce_mail(Decider& d, Undelivered const& back, Mail const& mail);
void lose_mail(Decider& d, MailLost const& lost);
void mail_is_due(Decider& d);  // some is released, or has expired

// artifact.cc: what there is no room for; nullopt: there is room for all.
[[nodiscard]] std::optional<Error> refuse_artifacts(State const& state, Attached const& attached);
// Keeps them, and gives the output with the id of the one that it tells of. REQUIRES: not refused.
[[nodiscard]] Json keep(Decider& d, CallNo call, Attached const& attached, Json const& output);
// nullopt: there is room for all.
[[nodiscard]] std::optional<Error> refuse_imported(
    State const& state, std::vector<std::pair<Seq, Artifact>> const& files);
// The images and files of an input. nullopt: there is room for all.
[[nodiscard]] std::optional<Error> refuse_files(State const& state,
                                                std::vector<InputFile> const& files);
// Keeps them, and gives the parts with their ids. REQUIRES: not refused.
[[nodiscard]] Json keep_files(Decider& d, Json const& parts, std::vector<InputFile> const& files);
// The messages of a fork with its own ids in place of the original's; `next` is the event of its
// first artifact.
[[nodiscard]] Json renamed(SessionId const& fork, Create::ForkOf const& from, Seq next);
// create.cc: of what its agent does not take (Context::refused). `pointer`: to the agent's name in
// the request, empty when it names none.
[[nodiscard]] std::unexpected<Error> agent_refused(std::string const& pointer,
                                                   std::string const& why);
// create.cc: the session, which was just made, begins with that past.
void begin_as_fork(Decider& d, Create::ForkOf const& from);

// submit.cc: an outcome for a pause, also as a prompt's answer.
struct Offer {
    PendingId const& pending;
    Submission const& what;
    std::string const& via;
    std::string const& delivery_id;
    std::optional<Sha256> const& input_digest;
    Attached const& attached;
};
[[nodiscard]] Result<Answer> submit(Decider& d, Offer const& offer);
// Writes the settling event and, for an answered in-doubt question, what follows from it.
Receipt settle(Decider& d, Call const& call, Offer const& offer);
// What the receipt of a closed pause (or its absence) answers to a submission with `digest`.
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
[[nodiscard]] Result<Answer> handle(Decider& d, Cancel const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Move const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Change const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Delete const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Deliver const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Undelivered const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, Repair const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, CutHistory const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, TaskAsk const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, SendMail const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, TakeMail const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, ReleaseMail const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, ImportMore const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentAttach const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentTyped const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentNews const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentReply const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentAsk const& c);
[[nodiscard]] Result<Answer> handle(Decider& d, AgentFailure const& c);

[[nodiscard]] inline Result<Answer> done(Decider const& d) { return Answer{.seq = d.state.head}; }
[[nodiscard]] bool is_full(State const& state);
[[nodiscard]] std::unexpected<Error> journal_full();
// "1 MiB", "2048 bytes"
[[nodiscard]] std::string bytes_text(std::size_t bytes);
// "A prompt's text may have 1 MiB.", with the limit's name and value.
[[nodiscard]] std::unexpected<Error> over_limit(std::string const& what, std::string_view limit,
                                                std::size_t max);
[[nodiscard]] std::unexpected<Error> unknown();
// What it is about is not in the journal any more.
[[nodiscard]] std::unexpected<Error> gone();
[[nodiscard]] std::unexpected<Error> wrong_state(State const& state, std::string_view move);

}  // namespace dormouse::session
