#pragma once
// The fields of each event's `data`, in the order of writing. A journal keeps records of older
// releases, so a new field is a maybe() whose default means the previous behaviour.

#include "session/event.h"
#include "wire/part_fields.h"

namespace dormouse::wire {

// The id of the message or artifact that the event itself adds: session and seq. Not read.
struct OwnId {
    std::string_view name;
    std::string_view prefix;
    template <class E> void write(json::Writer& out, E const&, FieldContext const& context) const {
        out.member(name, numbered_id(prefix, context.session, context.seq));
    }
    template <class E> void read(Members&, E&, FieldContext const&) const {}
};
inline constexpr OwnId own_message{"messageID", "msg_"};

// The number of a message, task or mail of this session, as its text id.
template <char... Prefix> struct NumberForm {
    static constexpr char prefix[] = {Prefix..., '_', '\0'};
    static void write(json::Writer& out, std::uint64_t number, FieldContext const& context) {
        out.value(numbered_id(prefix, context.session, number));
    }
    [[nodiscard]] static std::optional<std::uint64_t> read(json::View view, FieldContext const&) {
        auto const id = parse_numbered(prefix, view.string_or(""));
        return id ? std::optional(id->number) : std::nullopt;
    }
};
using MessageForm = NumberForm<'m', 's', 'g'>;
using TaskForm = NumberForm<'t', 's', 'k'>;
using MailForm = NumberForm<'m', 'a', 'i', 'l'>;
using TurnForm = NumberForm<'t', 'r', 'n'>;

// An array of such ids; unreadable ones are dropped.
template <class Id, class Number> struct IdsForm {
    static void write(json::Writer& out, std::vector<Number> const& all,
                      FieldContext const& context) {
        out.begin_array();
        for (Number const number : all) Id::write(out, number, context);
        out.end_array();
    }
    [[nodiscard]] static std::optional<std::vector<Number>> read(json::View view,
                                                                 FieldContext const& context) {
        std::vector<Number> all;
        view.elements([&](json::View element) {
            if (auto const number = Id::read(element, context))
                all.push_back(static_cast<Number>(*number));
        });
        return all;
    }
};

// callID, pendingID, and the generation, which the first pause of a call omits.
void write_pause_id(json::Writer& out, PendingId const& pending);
[[nodiscard]] PendingId read_pause_id(Members& from);

template <class E> struct PauseId {
    PendingId E::* member;
    void write(json::Writer& out, E const& from, FieldContext const&) const {
        write_pause_id(out, from.*member);
    }
    void read(Members& from, E& to, FieldContext const&) const { to.*member = read_pause_id(from); }
};
template <class E> PauseId(PendingId E::*) -> PauseId<E>;

// The same with the receipt.
struct ReceiptRow {
    static void write(json::Writer& out, Receipt const& receipt, FieldContext const& context);
    [[nodiscard]] static Receipt read(Members& from, FieldContext const& context);

    template <class E>
    static void write(json::Writer& out, E const& from, FieldContext const& context) {
        write(out, from.receipt, context);
    }
    template <class E> static void read(Members& from, E& to, FieldContext const& context) {
        to.receipt = read(from, context);
    }
};

template <> inline constexpr auto rows<Parent> = std::tuple(maybe("depth", &Parent::depth, 1));
struct ParentRow {
    static void write(json::Writer& out, SessionCreated const& from, FieldContext const& context);
    static void read(Members& from, SessionCreated& to, FieldContext const& context);
};
template <>
inline constexpr auto rows<SessionCreated> = std::tuple(
    field("projectID", &SessionCreated::project), field("agentID", &SessionCreated::agent),
    maybe("alias", &SessionCreated::alias), maybe("title", &SessionCreated::title),
    maybe("cwd", &SessionCreated::cwd), maybe("labels", &SessionCreated::labels),
    field("by", &SessionCreated::by), maybe("idem", &SessionCreated::idem), ParentRow(),
    maybe("node", &SessionCreated::node));

template <>
inline constexpr auto rows<InputReceived> =
    std::tuple(own_message, field("turn", &InputReceived::turn),
               field("parts", &InputReceived::parts), field("source", &InputReceived::source),
               maybe("when", &InputReceived::when), field("by", &InputReceived::by),
               maybe("answers", &InputReceived::answers), maybe("idem", &InputReceived::idem),
               maybe("run", &InputReceived::run), maybe<TaskForm>("taskID", &InputReceived::task),
               maybe("typedAt", &InputReceived::typed_at), maybe("answer", &InputReceived::answer),
               maybe("behind", &InputReceived::behind), Inline(&InputReceived::trace));

template <>
inline constexpr auto rows<InputDropped> =
    std::tuple(field<MessageForm>("messageID", &InputDropped::input),
               field("why", &InputDropped::why), maybe("reason", &InputDropped::reason));

template <>
inline constexpr auto rows<TurnStarted> =
    std::tuple(field("input", &TurnStarted::input), field("cause", &TurnStarted::cause),
               Inline(&TurnStarted::terms), maybe("again", &TurnStarted::again));

template <>
inline constexpr auto rows<ModelRequested> =
    std::tuple(field("step", &ModelRequested::step), field("attempt", &ModelRequested::attempt),
               field("viewSeq", &ModelRequested::view_seq), field("epoch", &ModelRequested::epoch));

struct PartsForm : Form<Json> {
    [[nodiscard]] static bool left_out(Json const& parts) { return parts.text() == "[]"; }
    [[nodiscard]] static std::optional<Json> read(json::View view, FieldContext const&) {
        return view.exists() ? view.copy() : Json::trusted("[]");
    }
};
// The calls with their numbers, which follow the first call's.
struct CallsRow {
    static void write(json::Writer& out, ModelReplied const& from, FieldContext const& context);
    static void read(Members& from, ModelReplied& to, FieldContext const& context);
};
template <>
inline constexpr auto rows<ModelReplied> = std::tuple(
    own_message, field("step", &ModelReplied::step), field("attempt", &ModelReplied::attempt),
    maybe("finishReason", &ModelReplied::finish), maybe<PartsForm>("parts", &ModelReplied::parts),
    CallsRow(), field("usage", &ModelReplied::usage));

template <>
inline constexpr auto rows<ModelFailed> =
    std::tuple(field("step", &ModelFailed::step), field("attempt", &ModelFailed::attempt),
               field("error", &ModelFailed::error), maybe("retryAt", &ModelFailed::retry_at));

template <>
inline constexpr auto rows<ToolStarted> =
    std::tuple(PauseId(&ToolStarted::pending), maybe("attempt", &ToolStarted::attempt, 1),
               field("epoch", &ToolStarted::epoch));

template <>
inline constexpr auto rows<ToolFinished> = std::tuple(
    field<CallForm>("callID", &ToolFinished::call), maybe("attempt", &ToolFinished::attempt, 1),
    only([](ToolFinished const& e) { return e.error_reason.has_value(); },
         field("error", &ToolFinished::error),
         maybe("reason", &ToolFinished::error_reason, ErrorReason::failed)),
    only([](ToolFinished const& e) { return !e.error_reason; },
         field("output", &ToolFinished::output), maybe("title", &ToolFinished::title),
         maybe("metadata", &ToolFinished::metadata)));

template <>
inline constexpr auto rows<ToolFailed> =
    std::tuple(field<CallForm>("callID", &ToolFailed::call), field("attempt", &ToolFailed::attempt),
               field("error", &ToolFailed::error), field("retryAt", &ToolFailed::retry_at));

template <>
inline constexpr auto rows<CallPaused> =
    std::tuple(PauseId(&CallPaused::pending), Inline(&CallPaused::terms),
               maybe("timeout", &CallPaused::deadline));

template <>
inline constexpr auto rows<GateAsked> =
    std::tuple(PauseId(&GateAsked::pending), field("gate", &GateAsked::gate),
               Inline(&GateAsked::terms), maybe("timeout", &GateAsked::deadline));

struct AllowForm {
    static void write(json::Writer& out, bool allowed, FieldContext const&) {
        out.value(allowed ? "allow" : "deny");
    }
    [[nodiscard]] static std::optional<bool> read(json::View view, FieldContext const&) {
        return view.string_or("") == "allow";
    }
};
template <>
inline constexpr auto rows<GateDecided> = std::tuple(
    field<CallForm>("callID", &GateDecided::call), field("gate", &GateDecided::gate),
    field<AllowForm>("verdict", &GateDecided::allowed), maybe("message", &GateDecided::message),
    maybe("arguments", &GateDecided::input), Derived([](GateDecided& e) {
        if (e.input) e.input_digest = sha256(json::canonical(*e.input));
    }),
    maybe("rule", &GateDecided::rule), maybe("by", &GateDecided::by),
    maybe("again", &GateDecided::again));

template <>
inline constexpr auto rows<GateMissing> =
    std::tuple(field<CallForm>("callID", &GateMissing::call), field("gate", &GateMissing::gate));
template <>
inline constexpr auto rows<GateBack> =
    std::tuple(field<CallForm>("callID", &GateBack::call), field("gate", &GateBack::gate));

template <>
inline constexpr auto rows<Submitted> =
    std::tuple(ReceiptRow(), Inline(&Submitted::what), Inline(&Submitted::trace),
               Derived([](Submitted& e) { e.what->digest = e.receipt.digest; }));

template <>
inline constexpr auto rows<Voted> =
    std::tuple(PauseId(&Voted::pending),
               nested("vote", field("by", &Voted::by), field("approved", &Voted::approved),
                      field("digest", &Voted::digest)),
               Inline(&Voted::what), Derived([](Voted& e) { e.what->digest = e.digest; }));

template <>
inline constexpr auto rows<DeadlineNear> =
    std::tuple(PauseId(&DeadlineNear::pending), maybe("timeout", &DeadlineNear::deadline));
template <>
inline constexpr auto rows<Reminded> =
    std::tuple(PauseId(&Reminded::pending), field("number", &Reminded::number),
               maybe("next", &Reminded::next));
template <>
inline constexpr auto rows<Reassigned> =
    std::tuple(PauseId(&Reassigned::pending), field("from", &Reassigned::answerers),
               maybe("timeout", &Reassigned::deadline), maybe("by", &Reassigned::by));
template <>
inline constexpr auto rows<Polled> =
    std::tuple(PauseId(&Polled::pending), field("next", &Polled::next),
               maybe("failures", &Polled::failures), maybe("error", &Polled::error));
template <>
inline constexpr auto rows<Progressed> =
    std::tuple(PauseId(&Progressed::pending), maybe("key", &Progressed::key),
               field("payload", &Progressed::payload));
template <>
inline constexpr auto rows<Claimed> = std::tuple(
    PauseId(&Claimed::pending), field("by", &Claimed::by), field("until", &Claimed::until));
template <>
inline constexpr auto rows<Expired> =
    std::tuple(ReceiptRow(), maybe("reason", &Expired::reason, ErrorReason::expired));

// The receipt of a call that had a pendingID; otherwise the callID.
struct CancelledRow {
    static void write(json::Writer& out, Cancelled const& from, FieldContext const& context);
    static void read(Members& from, Cancelled& to, FieldContext const& context);
};
template <>
inline constexpr auto rows<Cancelled> =
    std::tuple(CancelledRow(), field("mayHaveRun", &Cancelled::may_have_run),
               field("why", &Cancelled::why), maybe("reason", &Cancelled::reason));

template <>
inline constexpr auto rows<CallInDoubt> =
    std::tuple(PauseId(&CallInDoubt::pending), field("policy", &CallInDoubt::policy),
               maybe("question", &CallInDoubt::question), maybe("timeout", &CallInDoubt::deadline),
               maybe("why", &CallInDoubt::why), maybe("remindAfter", &CallInDoubt::remind_after),
               maybe("remindEvery", &CallInDoubt::remind_every));

template <>
inline constexpr auto rows<Note> =
    std::tuple(field<CallForm>("callID", &Note::call), field("generation", &Note::generation),
               field("about", &Note::about), field("digest", &Note::digest),
               field("number", &Note::number), field("text", &Note::text));

template <>
inline constexpr auto rows<TurnEnded> =
    std::tuple(field("finishReason", &TurnEnded::finish), field("usage", &TurnEnded::usage),
               maybe("error", &TurnEnded::error), maybe("reason", &TurnEnded::reason));

template <> inline constexpr auto rows<TurnChecked> = std::tuple();
template <> inline constexpr auto rows<TurnNotified> = std::tuple();
template <>
inline constexpr auto rows<StatusChanged> =
    std::tuple(field("from", &StatusChanged::from), field("to", &StatusChanged::to),
               field("why", &StatusChanged::why));
template <>
inline constexpr auto rows<Forked> =
    std::tuple(maybe("from", &Forked::from), field("seq", &Forked::seq),
               field("messageCount", &Forked::message_count), field("messages", &Forked::messages));
template <>
inline constexpr auto rows<SessionChanged> =
    std::tuple(maybe("title", &SessionChanged::title), maybe("alias", &SessionChanged::alias),
               maybe("labels", &SessionChanged::labels), maybe("node", &SessionChanged::node));
template <> inline constexpr auto rows<SessionEnded> = std::tuple(field("by", &SessionEnded::by));
template <>
inline constexpr auto rows<SessionDeleted> = std::tuple(field("by", &SessionDeleted::by));
template <>
inline constexpr auto rows<Repaired> =
    std::tuple(field("what", &Repaired::what), field("by", &Repaired::by));

template <>
inline constexpr auto rows<ArtifactEmitted> = std::tuple(
    OwnId{"artifactID", "art_"}, field("name", &ArtifactEmitted::name),
    field("mime", &ArtifactEmitted::mime), field("bytes", &ArtifactEmitted::bytes),
    field("digest", &ArtifactEmitted::digest), maybe<CallForm>("callID", &ArtifactEmitted::call));

template <>
inline constexpr auto rows<TaskStarted> =
    std::tuple(field<TaskForm>("taskID", &TaskStarted::task),
               field("sessionID", &TaskStarted::child), field("agentID", &TaskStarted::agent),
               field("description", &TaskStarted::description), field("parts", &TaskStarted::parts),
               maybe("queued", &TaskStarted::queued), maybe("notify", &TaskStarted::notify),
               maybe<CallForm>("callID", &TaskStarted::call), field("by", &TaskStarted::by),
               maybe("idem", &TaskStarted::idem), maybe("mark", &TaskStarted::mark),
               maybe("fork", &TaskStarted::fork), Inline(&TaskStarted::trace));

template <>
inline constexpr auto rows<TaskChanged> = std::tuple(
    field<TaskForm>("taskID", &TaskChanged::task), field("status", &TaskChanged::status),
    field("run", &TaskChanged::run), maybe("parts", &TaskChanged::parts),
    only([](TaskChanged const& e) { return !e.parts.is_null(); }, field("by", &TaskChanged::by)),
    maybe("queued", &TaskChanged::queued), maybe("begins", &TaskChanged::begins),
    maybe("stops", &TaskChanged::stops), maybe("gone", &TaskChanged::gone),
    maybe("notify", &TaskChanged::notify), maybe("result", &TaskChanged::result),
    maybe("error", &TaskChanged::error), maybe("idem", &TaskChanged::idem),
    maybe("progress", &TaskChanged::progress), maybe("reason", &TaskChanged::reason),
    Inline(&TaskChanged::trace));

template <>
inline constexpr auto rows<RunReported> =
    std::tuple(field("run", &RunReported::run), field("text", &RunReported::text));
template <>
inline constexpr auto rows<TaskCleared> =
    std::tuple(field<TaskForm>("taskID", &TaskCleared::task), field("why", &TaskCleared::why));
template <>
inline constexpr auto rows<BudgetReached> = std::tuple(
    PauseId(&BudgetReached::pending), field("step", &BudgetReached::step),
    field<MessageForm>("messageID", &BudgetReached::message), field("call", &BudgetReached::spec),
    Inline(&BudgetReached::terms), maybe("timeout", &BudgetReached::deadline));
template <>
inline constexpr auto rows<BudgetRaised> =
    std::tuple(field<CallForm>("callID", &BudgetRaised::call), Inline(&BudgetRaised::what),
               field("by", &BudgetRaised::by));

template <>
inline constexpr auto rows<HistoryCut> = std::tuple(
    field("through", &HistoryCut::through), field("messages", &HistoryCut::messages),
    field("artifactBytes", &HistoryCut::artifact_bytes), field("turn", &HistoryCut::turn),
    field("call", &HistoryCut::call), field("by", &HistoryCut::by));

template <>
inline constexpr auto rows<Redacted> = std::tuple(
    maybe<MessageForm>("messageID", &Redacted::message), maybe<CallForm>("callID", &Redacted::call),
    maybe<TurnForm>("turnID", &Redacted::turn), maybe("what", &Redacted::what),
    field("reason", &Redacted::reason), maybe("title", &Redacted::title),
    maybe("setTitle", &Redacted::set_title), maybe("alias", &Redacted::alias),
    maybe("labels", &Redacted::labels), maybe<IdsForm<TaskForm, TaskNo>>("tasks", &Redacted::tasks),
    maybe<IdsForm<MailForm, Seq>>("quarantined", &Redacted::quarantined),
    maybe("text", &Redacted::text), field("events", &Redacted::events),
    field("bytes", &Redacted::bytes), field("artifacts", &Redacted::artifacts),
    field("artifactBytes", &Redacted::artifact_bytes), field("deliveries", &Redacted::deliveries),
    field("by", &Redacted::by));

// Absent: the mail begins its conversation.
struct SentConversationRow {
    static void write(json::Writer& out, MailSent const& from, FieldContext const& context) {
        if (from.conversation != MailId{context.session, context.seq})
            out.member("conversation", text(from.conversation));
    }
    static void read(Members& from, MailSent& to, FieldContext const& context) {
        to.conversation = Form<MailId>::read(from["conversation"], context)
                              .value_or(MailId{context.session, context.seq});
    }
};
template <>
inline constexpr auto rows<MailSent> = std::tuple(
    OwnId{"mailID", "mail_"}, field("to", &MailSent::to), field("text", &MailSent::text),
    maybe("replyTo", &MailSent::reply_to), SentConversationRow(), maybe("hops", &MailSent::hops),
    maybe("wake", &MailSent::wake), field("by", &MailSent::by), maybe("idem", &MailSent::idem),
    maybe("expires", &MailSent::expires), Inline(&MailSent::trace));
template <>
inline constexpr auto rows<MailExpired> = std::tuple(field("numbers", &MailExpired::numbers));
template <>
inline constexpr auto rows<MailReceived> =
    std::tuple(own_message, field("number", &MailReceived::number), Inline(&MailReceived::mail),
               maybe("hold", &MailReceived::hold), maybe("until", &MailReceived::until),
               maybe("idem", &MailReceived::idem));
template <>
inline constexpr auto rows<MailReleased> =
    std::tuple(field("numbers", &MailReleased::numbers), field("by", &MailReleased::by));
template <>
inline constexpr auto rows<MailBounced> = std::tuple(
    own_message, field<MailForm>("mailID", &MailBounced::mail),
    field<OneOfForm<MailTarget>>("to", &MailBounced::to), field("error", &MailBounced::error));

template <>
inline constexpr auto rows<AgentPrompted> =
    std::tuple(field("step", &AgentPrompted::step), field("attempt", &AgentPrompted::attempt),
               field("viewSeq", &AgentPrompted::view_seq), field("epoch", &AgentPrompted::epoch),
               field("marker", &AgentPrompted::marker));
template <>
inline constexpr auto rows<AgentAttached> = std::tuple(
    field("acpSessionID", &AgentAttached::acp_session), field("how", &AgentAttached::how),
    maybe("program", &AgentAttached::program), maybe("told", &AgentAttached::history_repeated),
    maybe("mode", &AgentAttached::mode));
template <>
inline constexpr auto rows<AgentDetached> =
    std::tuple(field("error", &AgentDetached::error), maybe("retryAt", &AgentDetached::retry_at),
               maybe("died", &AgentDetached::died), maybe("lost", &AgentDetached::lost));
template <>
inline constexpr auto rows<AgentUpdate> =
    std::tuple(field("attempt", &AgentUpdate::attempt), field("number", &AgentUpdate::number),
               maybe<MessageForm>("messageID", &AgentUpdate::message), Inline(&AgentUpdate::what));
template <>
inline constexpr auto rows<AgentReplied> =
    std::tuple(field("step", &AgentReplied::step), field("attempt", &AgentReplied::attempt),
               maybe("finishReason", &AgentReplied::finish), field("usage", &AgentReplied::usage),
               maybe("spent", &AgentReplied::spent));
template <>
inline constexpr auto rows<AgentAsked> = std::tuple(
    PauseId(&AgentAsked::pending), field("step", &AgentAsked::step),
    field<MessageForm>("messageID", &AgentAsked::message), field("call", &AgentAsked::spec),
    Inline(&AgentAsked::terms), maybe("timeout", &AgentAsked::deadline));
template <>
inline constexpr auto rows<AgentGranted> =
    std::tuple(maybe<CallForm>("callID", &AgentGranted::call),
               field("attempt", &AgentGranted::attempt), field("ask", &AgentGranted::ask),
               field("toolCallID", &AgentGranted::tool_call), maybe("own", &AgentGranted::own));

}  // namespace dormouse::wire
