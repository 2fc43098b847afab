#pragma once
// The members of the objects that are made from a session's state and history (fields.h).

#include "http/objects/fields.h"
#include "http/objects/objects.h"
#include "wire/names.h"

#include <set>

namespace dormouse::http {

using namespace dormouse::session;  // what writes and describes objects alone includes this

template <>
inline constexpr auto rows<Actor> = object("Actor", "The originator.", field("type", &Actor::type),
                                           field("name", or_null(&Actor::name)));
template <>
inline constexpr auto rows<Trouble> =
    object("Trouble",
           "The failure of a turn or session. Codes: model_failed, model_refused, "
           "step_limit, budget_reached, agent_crashed, agent_lost_session, agent_gone.",
           field("code", &Trouble::code), field("message", &Trouble::message));

struct UsageSource {
    Usage usage;
    std::uint64_t steps = 0;
};
template <>
inline constexpr auto rows<UsageSource> = object(
    "Usage", "",
    of(&UsageSource::usage, field("inputTokens", &Usage::input_tokens),
       field("outputTokens", &Usage::output_tokens), field("cachedTokens", &Usage::cached_tokens),
       field("reasoningTokens", &Usage::reasoning_tokens),
       field("cacheWrittenTokens", &Usage::cache_written_tokens),
       field("cost", [](Usage const& usage) { return wire::cost_json(usage.cost); },
             {.about = "The cost by the prices of the models, in millionths of each currency; "
                       "null: no price was known.",
              .more = R"("type":["object","null"],"additionalProperties":{"type":"integer"})"})),
    field("steps", &UsageSource::steps));

// ---- Session

inline TurnText open_turn(State const& state) { return {state.id, state.turn->no}; }

struct Idle {};
template <> inline constexpr auto rows<Idle> = object("", "", Constant{"type", "idle"});

struct Busy {
    Ref<State> state;
};
template <>
inline constexpr auto rows<Busy> =
    object("", "", Constant{"type", "busy"},
           of(&Busy::state, field("turnID", open_turn),
              field("step", [](State const& state) { return state.turn->step; })));

struct Retry {
    Ref<State> state;
};
template <>
inline constexpr auto rows<Retry> =
    object("", "", Constant{"type", "retry"},
           of(&Retry::state, field("turnID", open_turn),
              field("attempt", [](State const& state) { return state.turn->attempt; }),
              field("message",
                    [](State const& state) {
                        auto const& retry = state.turn->retry;
                        return retry ? retry->error.message : "a tool is tried again";
                    }),
              field("next", next_timer)));

// `calls`: the open calls, in the order of requests. While calls wait for a missing gate none is
// open, and `awaiting` is the first of them.
struct WaitingAsync {
    Ref<State> state;
    std::vector<Ref<Call>> calls = {};
    Call const* awaiting = nullptr;

    [[nodiscard]] std::vector<PendingId> pending() const;
    [[nodiscard]] std::optional<PendingId> first() const;
    [[nodiscard]] std::string const& tool() const;
    [[nodiscard]] Time since() const;
    [[nodiscard]] std::optional<Time> timeout() const;
    [[nodiscard]] std::set<std::string> missing_gates() const;
};
template <>
inline constexpr auto rows<WaitingAsync> = object(
    "", "", Constant{"type", "waiting_async"}, of(&WaitingAsync::state, field("turnID", open_turn)),
    field("pendingIDs", &WaitingAsync::pending),
    field("pendingID", &WaitingAsync::first, "The first of them; null when there is none."),
    field("tool", &WaitingAsync::tool), field("since", &WaitingAsync::since),
    field("timeout", &WaitingAsync::timeout, "The nearest deadline."),
    field("missingGates", &WaitingAsync::missing_gates,
          "Gates that are not configured any more and that calls wait for."));

struct ActivitySource {
    std::variant<Idle, Busy, Retry, WaitingAsync> now;
};
template <>
inline constexpr auto rows<ActivitySource> =
    OneOf{"Activity", "The current activity of a session; in every status.", &ActivitySource::now};
[[nodiscard]] ActivitySource activity_of(State const& state);

struct LastTurnSource {
    SessionId session;
    Ref<LastTurn> turn;
};
template <>
inline constexpr auto rows<LastTurnSource> = object(
    "", "The newest turn that ended.",
    field("id", [](LastTurnSource const& s) { return TurnText{s.session, s.turn.get().no}; }),
    of(&LastTurnSource::turn, field("failed", &LastTurn::failed),
       field("error", &LastTurn::error)));

template <>
inline constexpr auto rows<State> = object(
    "Session", "One durable conversation with one agent.", field("id", &State::id),
    field("projectID", &State::project), field("agentID", &State::agent),
    field("alias", or_null(&State::alias)), field("title", or_null(shown_title)),
    field("status", &State::lifecycle), field("activity", activity_of),
    field(
        "parentID",
        [](State const& s) { return s.parent ? std::optional(s.parent->session) : std::nullopt; }),
    field("forkedFrom", &State::forked_from), field("acpSessionID", or_null(&State::acp_session)),
    field("cwd", or_null(&State::cwd)),
    maybe("node", or_null(&State::node),
          "Name of the only server on which the session can continue, because its external "
          "agent stores data there. Omitted otherwise."),
    field("labels",
          [](State const& s) { return s.labels.is_null() ? Json::trusted("{}") : s.labels; },
          {.more = R"("type":"object","additionalProperties":{"type":"string"})"}),
    of(&State::base, maybe("historyAfter", or_null(&HistoryBase::through),
                           "Only there when retention has removed what was up to this event.")),
    field("seq", &State::head, "Number of its newest event; also its ETag."),
    field("messageCount", message_count, "Number of messages in its list."),
    field("usage", [](State const& s) { return UsageSource{s.usage, s.steps}; }),
    field("error", &State::trouble),
    field("lastTurn",
          [](State const& s) {
              return s.last_turn ? std::optional(LastTurnSource{s.id, *s.last_turn}) : std::nullopt;
          }),
    nested("time", "", field("created", &State::created), field("updated", &State::updated),
           field("ended", &State::ended)));

// ---- Turn

enum class TurnStatus : std::uint8_t { queued, running, waiting, ended };

struct TurnSource {
    Ref<State> state;
    Ref<wire::TurnView> turn;

    [[nodiscard]] TurnText id() const { return {state.get().id, turn.get().no}; }
    [[nodiscard]] bool open() const;
    [[nodiscard]] TurnStatus status() const;
    [[nodiscard]] std::optional<std::string_view> finish() const;
    [[nodiscard]] MessageText input() const { return {state.get().id, turn.get().input}; }
    [[nodiscard]] std::vector<MessageText> messages() const;
    [[nodiscard]] std::vector<PendingId> pending() const;
    [[nodiscard]] std::uint32_t step_limit() const;
    [[nodiscard]] UsageSource usage() const { return {turn.get().usage, turn.get().steps}; }
};
template <>
inline constexpr auto rows<TurnSource> = object(
    "Turn", "The work on one input, until the agent stops, fails or is cancelled.",
    field("id", &TurnSource::id), of(&TurnSource::state, field("sessionID", &State::id)),
    field("status", &TurnSource::status),
    field("finishReason", &TurnSource::finish,
          {.about = "paused while waiting; null while queued or running.",
           .words = "paused stop length refusal step_limit cancelled error budget"}),
    of(&TurnSource::turn,
       field("cancelReason", or_null(&wire::TurnView::cancel_reason),
             "The given reason of a cancel, or null."),
       nested("cause", "", field("type", &wire::TurnView::cause), field("by", &wire::TurnView::by),
              field("ref", [](auto const&) { return std::optional<std::string>(); })),
       field("step", &wire::TurnView::step)),
    field("stepLimit", &TurnSource::step_limit), field("inputMessageID", &TurnSource::input),
    field("messageIDs", &TurnSource::messages), field("pendingIDs", &TurnSource::pending),
    field("usage", &TurnSource::usage),
    of(&TurnSource::turn, field("error", &wire::TurnView::error),
       nested("time", "", field("created", &wire::TurnView::created),
              field("started", &wire::TurnView::started), field("ended", &wire::TurnView::ended))));

// ---- PendingCall

struct ConsumedSource {
    SessionId session;
    wire::Consumed what;
    [[nodiscard]] TurnText turn() const { return {session, what.turn}; }
};
template <>
inline constexpr auto rows<ConsumedSource> = object(
    "Consumed", "The committed step that used an outcome.", field("turnID", &ConsumedSource::turn),
    of(&ConsumedSource::what,
       field("step", or_null(&wire::Consumed::step), "Null: the turn's end used it."),
       field("seq", &wire::Consumed::seq), field("at", &wire::Consumed::at)));
[[nodiscard]] inline std::optional<ConsumedSource> consumed_source(
    SessionId const& session, std::optional<wire::Consumed> const& consumed) {
    return consumed ? std::optional(ConsumedSource{session, *consumed}) : std::nullopt;
}

struct ReceiptSource {
    Ref<Receipt> receipt;
    std::optional<wire::Consumed> consumption;

    [[nodiscard]] SessionId const& session() const { return receipt.get().pending.session; }
    [[nodiscard]] ReceiptText id() const { return {session(), receipt.get().seq}; }
    [[nodiscard]] auto consumed() const { return consumed_source(session(), consumption); }
};
template <>
inline constexpr auto rows<ReceiptSource> = object(
    "Receipt", "Who settled a call, when, and the digest of the outcome.",
    field("id", &ReceiptSource::id),
    of(&ReceiptSource::receipt, field("pendingID", &Receipt::pending)),
    field("sessionID", &ReceiptSource::session),
    of(&ReceiptSource::receipt, field("kind", &Receipt::kind), field("status", &Receipt::status),
       field("digest", &Receipt::digest), field("at", &Receipt::at), field("by", &Receipt::by),
       field("via", or_null(&Receipt::via)), field("deliveryID", or_null(&Receipt::delivery_id)),
       field("seq", &Receipt::seq)),
    field("consumed", &ReceiptSource::consumed));

// The part of a receipt that capabilities get.
struct BriefReceipt {
    Ref<Receipt> receipt;
};
template <>
inline constexpr auto rows<BriefReceipt> =
    object("BriefReceipt", "The receipt as the holder of a callback URL sees it.",
           of(&BriefReceipt::receipt, field("status", &Receipt::status),
              field("digest", &Receipt::digest), field("at", &Receipt::at)));

template <>
inline constexpr auto rows<Vote> = object("Vote", "One of several votes.", field("by", &Vote::by),
                                          field("approved", &Vote::approved),
                                          field("digest", &Vote::digest,
                                                "Digest of the content that it applies to: votes "
                                                "count together only if their digests are equal."),
                                          field("at", &Vote::at));

template <>
inline constexpr auto rows<wire::ProgressView> = object(
    "", "", field("seq", &wire::ProgressView::seq), field("key", or_null(&wire::ProgressView::key)),
    field("payload", &wire::ProgressView::payload), field("at", &wire::ProgressView::at));

struct ResultSource {
    Ref<Submission> what;
};
template <>
inline constexpr auto rows<ResultSource> =
    object("Result", "",
           of(&ResultSource::what, field("title", or_null(&Submission::title)),
              field("output", &Submission::output), field("metadata", &Submission::metadata)));

struct DecisionSource {
    Ref<Submission> what;
};
template <>
inline constexpr auto rows<DecisionSource> =
    object("Decision", "",
           of(&DecisionSource::what, field("approved", &Submission::approved),
              field("reason", or_null(&Submission::reason)),
              field("arguments", &Submission::arguments), field("content", &Submission::content)));

struct PendingSource {
    Ref<State> state;
    Ref<wire::History> history;
    Ref<wire::PauseView> pause;
    Ref<wire::CallView> call;
    Time now;

    [[nodiscard]] SessionId const& session() const { return state.get().id; }
    [[nodiscard]] TurnText turn() const { return {session(), call.get().turn}; }
    [[nodiscard]] MessageText message() const { return {session(), call.get().message}; }
    [[nodiscard]] std::string call_id() const { return wire::call_text(call.get().no); }
    [[nodiscard]] Generation generation() const { return pause.get().pending.generation; }
    [[nodiscard]] Json model_input() const;
    [[nodiscard]] Sha256 input_digest() const;
    [[nodiscard]] CallState status() const { return pending_status(pause, now); }
    [[nodiscard]] std::vector<std::string> answerers() const;
    [[nodiscard]] bool in_doubt() const { return pause.get().in_doubt && !pause.get().receipt; }
    [[nodiscard]] std::optional<Time> completed() const;
    [[nodiscard]] bool settled_by(SubmissionKind kind) const;
    [[nodiscard]] std::optional<ResultSource> result() const;
    [[nodiscard]] std::optional<std::string> error() const;
    [[nodiscard]] std::optional<DecisionSource> decision() const;
    [[nodiscard]] std::string cancel_reason() const;
    [[nodiscard]] std::optional<ReceiptSource> receipt() const;
};
template <>
inline constexpr auto rows<PendingSource> = object(
    "PendingCall", "A tool call whose outcome comes from outside.",
    of(&PendingSource::pause, field("id", &wire::PauseView::pending)),
    of(&PendingSource::state, field("projectID", &State::project)),
    field("sessionID", &PendingSource::session), field("turnID", &PendingSource::turn),
    field("messageID", &PendingSource::message), field("callID", &PendingSource::call_id),
    field("generation", &PendingSource::generation, "Which pause of the call."),
    of(&PendingSource::call,
       of(&wire::CallView::spec, field("tool", &CallSpec::tool), field("input", &CallSpec::input))),
    field("modelInput", &PendingSource::model_input,
          "The arguments that the model gave, if they were changed since; else null."),
    field("inputDigest", &PendingSource::input_digest), field("status", &PendingSource::status),
    of(&PendingSource::pause,
       of(&wire::PauseView::terms, field("reason", &PauseTerms::reason),
          field("continuation", &PauseTerms::continuation),
          field("message", or_null(&PauseTerms::message)), field("form", &PauseTerms::form),
          field("schema", &PauseTerms::schema, "JSON Schema of the outcome, or null."),
          field("files", &PauseTerms::files, "Maximum number of files of the answer."),
          field("placeholder", &PauseTerms::placeholder),
          field("webhookURL", or_null(&PauseTerms::webhook_url)),
          field("externalRef", or_null(&PauseTerms::external_ref)),
          field("estimatedDuration", &PauseTerms::estimated)),
       field("timeout", &wire::PauseView::deadline, "Deadline, in ms since the epoch.")),
    nested(
        "answer",
        "The people who may answer, and how many equal approvals are needed; one denial is enough.",
        field("from", &PendingSource::answerers),
        of(&PendingSource::pause, of(&wire::PauseView::terms,
                                     field("escalateTo", &PauseTerms::escalate_to,
                                           "The people who are asked when the deadline passes; the "
                                           "call then has a new one."),
                                     of(&PauseTerms::answer, field("need", &AnswerTerms::need)))),
        of(&PendingSource::pause, field("votes", &wire::PauseView::votes))),
    of(&PendingSource::pause, field("progress", &wire::PauseView::progress, "The last 20."),
       field("progressCount", &wire::PauseView::progress_count)),
    field("inDoubt", &PendingSource::in_doubt),
    nested("time", "",
           of(&PendingSource::pause, field("created", &wire::PauseView::created),
              field("started", &wire::PauseView::started)),
           field("completed", &PendingSource::completed)),
    field("result", &PendingSource::result), field("error", &PendingSource::error),
    field("decision", &PendingSource::decision),
    field("cancelReason", or_null(&PendingSource::cancel_reason),
          "The given reason of a cancel, or null."),
    field("receipt", &PendingSource::receipt));

// ---- Task

struct TaskSource {
    Ref<State> parent;
    Ref<wire::TaskView> task;
    [[nodiscard]] TaskText id() const { return {parent.get().id, task.get().no}; }
};
[[nodiscard]] std::string prompt_of(wire::TaskView const& task);
template <>
inline constexpr auto rows<TaskSource> =
    object("Task", "A child session that runs in the background for its parent.",
           field("taskID", &TaskSource::id),
           of(&TaskSource::task, field("sessionID", &wire::TaskView::child)),
           of(&TaskSource::parent, field("parentID", &State::id)),
           of(&TaskSource::task, field("agentID", &wire::TaskView::agent),
              field("description", &wire::TaskView::description),
              field("prompt", prompt_of, "The prompt that it was started with."),
              field("status", &wire::TaskView::status),
              field("queued", &wire::TaskView::queued,
                    "Its run waits until fewer tasks of the session run (at most 8 at once)."),
              field("resumeCount", [](wire::TaskView const& task) { return task.run - 1; }),
              field("result", &wire::TaskView::result,
                    {.about = "Its last text in its newest run, once that has ended.",
                     .more = R"("type":["string","null"])"}),
              field("progress", or_null(&wire::TaskView::progress),
                    "Its reports of this run (report_progress)."),
              field("error", or_null(&wire::TaskView::error), "Why there is no result."),
              field("by", &wire::TaskView::by),
              nested("time", "", field("created", &wire::TaskView::created),
                     field("completed", &wire::TaskView::ended),
                     field("resumed", &wire::TaskView::resumed))),
           AddedLater{"tasks",
                      {.about = "With tree: those that it has started.",
                       .more = R"("type":"array","items":{"$ref":"#/components/schemas/Task"})"}});

}  // namespace dormouse::http
