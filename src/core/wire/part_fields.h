#pragma once
// Fields shared by several events, the snapshot and outbox messages.

#include "session/external_agent.h"
#include "session/mail.h"
#include "wire/fields.h"
#include "wire/names.h"

namespace dormouse::wire {

using namespace dormouse::session;  // included only by codecs

// Milliseconds; "none": unlimited.
template <> struct Form<Duration> {
    static void write(json::Writer& out, Duration value, FieldContext const& context);
    [[nodiscard]] static std::optional<Duration> read(json::View view, FieldContext const& context);
};
template <> struct Form<Sha256> {
    static void write(json::Writer& out, Sha256 const& value, FieldContext const& context);
    [[nodiscard]] static std::optional<Sha256> read(json::View view, FieldContext const& context);
};
template <> struct Form<Actor> {
    static void write(json::Writer& out, Actor const& by, FieldContext const&) {
        out.value(actor_text(by));
    }
    [[nodiscard]] static std::optional<Actor> read(json::View view, FieldContext const&) {
        auto const text = view.string();
        return text ? std::optional(parse_actor(*text)) : std::nullopt;
    }
};
template <> struct Form<InputSource> {
    static void write(json::Writer& out, InputSource source, FieldContext const&) {
        out.value(source_text(source));
    }
    [[nodiscard]] static std::optional<InputSource> read(json::View view, FieldContext const&) {
        return parse_source(view.string_or(""));
    }
};
// An id with a text form of its own.
template <class Id> struct IdForm {
    static void write(json::Writer& out, Id const& id, FieldContext const&) {
        out.value(id.text());
    }
    [[nodiscard]] static std::optional<Id> read(json::View view, FieldContext const&) {
        return Id::parse(view.string_or(""));
    }
};
template <> struct Form<SessionId> : IdForm<SessionId> {};
template <> struct Form<PendingId> : IdForm<PendingId> {};
template <> struct Form<MailId> {
    static void write(json::Writer& out, MailId const& id, FieldContext const&) {
        out.value(text(id));
    }
    [[nodiscard]] static std::optional<MailId> read(json::View view, FieldContext const&) {
        return parse_mail_id(view.string_or(""));
    }
};

// An array of exactly one element.
template <class T> struct OneOfForm {
    static void write(json::Writer& out, T const& value, FieldContext const& context) {
        out.begin_array();
        Form<T>::write(out, value, context);
        out.end_array();
    }
    [[nodiscard]] static std::optional<T> read(json::View view, FieldContext const& context) {
        auto list = Form<std::vector<T>>::read(view, context);
        return list->empty() ? std::nullopt : std::optional(std::move(list->back()));
    }
};

// "call_7".
struct CallForm {
    static void write(json::Writer& out, CallNo call, FieldContext const&) {
        out.value(call_text(call));
    }
    [[nodiscard]] static std::optional<CallNo> read(json::View view, FieldContext const&) {
        return parse_call(view.string_or(""));
    }
};

template <>
inline constexpr auto rows<Trouble> =
    std::tuple(field("code", &Trouble::code), field("message", &Trouble::message));

// {"USD":1250}
template <> struct Form<Cost> {
    static void write(json::Writer& out, Cost const& cost, FieldContext const&) {
        out.begin_object();
        for (auto const& [currency, micros] : cost) out.member(currency, micros);
        out.end_object();
    }
    [[nodiscard]] static std::optional<Cost> read(json::View view, FieldContext const&) {
        Cost out;
        view.members([&](std::string_view currency, json::View micros) {
            if (auto const number = micros.integer()) out.emplace(currency, *number);
        });
        return out;
    }
};
template <>
inline constexpr auto rows<Usage> = std::tuple(
    field("inputTokens", &Usage::input_tokens), field("outputTokens", &Usage::output_tokens),
    maybe("cachedTokens", &Usage::cached_tokens),
    maybe("reasoningTokens", &Usage::reasoning_tokens),
    maybe("cacheWrittenTokens", &Usage::cache_written_tokens), maybe("cost", &Usage::cost));

template <>
inline constexpr auto rows<Join> =
    std::tuple(maybe("joinN", &Join::n), maybe("joinCancelsRest", &Join::cancel_rest));

template <>
inline constexpr auto rows<TurnTerms> = std::tuple(
    Inline(&TurnTerms::join), maybe("toolConcurrency", &TurnTerms::tool_concurrency, 8),
    maybe("stepLimit", &TurnTerms::step_limit, 50), maybe("digest", &TurnTerms::digest),
    maybe("before", &TurnTerms::before), maybe("after", &TurnTerms::after),
    maybe("program", &TurnTerms::on_restart, OnRestart::ask), maybe("timed", &TurnTerms::timed));

template <>
inline constexpr auto rows<AnswerTerms> = std::tuple(
    maybe("need", &AnswerTerms::need, 1), maybe("forbidRequester", &AnswerTerms::forbid_requester),
    maybe("from", &AnswerTerms::from));

// Omitted if it is the default of the reason.
struct ContinuationRow {
    static void write(json::Writer& out, PauseTerms const& from, FieldContext const&) {
        if (from.continuation != default_continuation(from.reason))
            out.member("continuation", text(from.continuation));
    }
    static void read(Members& from, PauseTerms& to, FieldContext const& context) {
        to.continuation = Form<Continuation>::read(from["continuation"], context)
                              .value_or(default_continuation(to.reason));
    }
};

template <>
inline constexpr auto rows<PauseTerms> = std::tuple(
    field("reason", &PauseTerms::reason), ContinuationRow(),
    maybe("placeholder", &PauseTerms::placeholder), maybe("message", &PauseTerms::message),
    maybe("form", &PauseTerms::form), maybe("schema", &PauseTerms::schema),
    maybe("externalRef", &PauseTerms::external_ref), maybe("within", &PauseTerms::timeout),
    maybe("estimatedDuration", &PauseTerms::estimated),
    maybe("onDeadline", &PauseTerms::on_deadline), maybe("state", &PauseTerms::state),
    maybe("metadata", &PauseTerms::metadata), maybe("webhookURL", &PauseTerms::webhook_url),
    maybe("warnBefore", &PauseTerms::warn_before), maybe("remindAfter", &PauseTerms::remind_after),
    maybe("remindEvery", &PauseTerms::remind_every), maybe("escalateTo", &PauseTerms::escalate_to),
    maybe("pollEvery", &PauseTerms::poll_every), maybe("task", &PauseTerms::task),
    maybe("files", &PauseTerms::files), maybe("alwaysAsk", &PauseTerms::always_ask),
    maybe("definition", &PauseTerms::definition), Inline(&PauseTerms::answer));

template <>
inline constexpr auto rows<ToolTerms> = std::tuple(
    maybe("crash", &ToolTerms::crash, CrashPolicy::never), maybe("mayPause", &ToolTerms::may_pause),
    maybe("gates", &ToolTerms::gates), maybe("pauseTimeout", &ToolTerms::pause_timeout),
    maybe("timeLimit", &ToolTerms::time_limit, ToolTerms().time_limit),
    maybe("webhookURL", &ToolTerms::webhook_url));

template <>
inline constexpr auto rows<BudgetName> =
    std::tuple(field("per", &BudgetName::per), field("kind", &BudgetName::kind),
               maybe("currency", &BudgetName::currency));
template <>
inline constexpr auto rows<BudgetUse> =
    std::tuple(Inline(&BudgetUse::name), field("limit", &BudgetUse::limit),
               field("used", &BudgetUse::used), field("raise", &BudgetUse::raise));
template <>
inline constexpr auto rows<BudgetRaise> =
    std::tuple(Inline(&BudgetRaise::name), field("amount", &BudgetRaise::amount));

template <>
inline constexpr auto rows<CallSpec> = std::tuple(
    maybe("modelID", &CallSpec::model_id), field("tool", &CallSpec::tool),
    field("input", &CallSpec::input), Inline(&CallSpec::terms),
    maybe("refused", &CallSpec::refused), maybe("ask", &CallSpec::ask),
    only([](CallSpec const& spec) { return spec.ask != 0; },
         field("askAttempt", &CallSpec::ask_attempt)),
    maybe("shown", &CallSpec::shown), maybe("then", &CallSpec::then),
    maybe("atOnce", &CallSpec::at_once), maybe("budget", &CallSpec::budget),
    Derived([](CallSpec& spec) { spec.input_digest = sha256(json::canonical(spec.input)); }));

template <>
inline constexpr auto rows<RuleTerms> =
    std::tuple(field("scope", &RuleTerms::scope), maybe("match", &RuleTerms::match),
               maybe("forMs", &RuleTerms::lifetime));

inline constexpr auto decision_rows =
    std::tuple(field("approved", &Submission::approved), maybe("reason", &Submission::reason),
               maybe("arguments", &Submission::arguments), maybe("content", &Submission::content),
               maybe("action", &Submission::action), maybe("output", &Submission::output),
               maybe("rule", &Submission::rule));
inline constexpr auto result_rows =
    std::tuple(maybe("title", &Submission::title), field("output", &Submission::output),
               maybe("metadata", &Submission::metadata));

// One of `error`, `decision` and `result`.
struct SubmissionRow {
    static void write(json::Writer& out, Submission const& from, FieldContext const& context);
    static void read(Members& from, Submission& to, FieldContext const& context);
};
template <> inline constexpr auto rows<Submission> = std::tuple(SubmissionRow());

// Time and seq are those of the event; the pendingID is written beside it.
template <>
inline constexpr auto rows<Receipt> =
    std::tuple(field("kind", &Receipt::kind), field("status", &Receipt::status),
               field("digest", &Receipt::digest), field("by", &Receipt::by),
               maybe("via", &Receipt::via), maybe("deliveryID", &Receipt::delivery_id));

template <>
inline constexpr auto rows<MailTarget> =
    std::tuple(field("sessionID", &MailTarget::session), maybe("alias", &MailTarget::alias));

// Omitted if the mail begins its conversation.
struct ConversationRow {
    static void write(json::Writer& out, Mail const& from, FieldContext const&) {
        if (from.conversation != from.id) out.member("conversation", text(from.conversation));
    }
    static void read(Members& from, Mail& to, FieldContext const& context) {
        json::View const found = from["conversation"];
        to.conversation =
            found.exists() ? Form<MailId>::read(found, context).value_or(MailId()) : to.id;
    }
};

template <>
inline constexpr auto rows<TraceHeaders> = std::tuple(maybe("traceparent", &TraceHeaders::parent),
                                                      maybe("tracestate", &TraceHeaders::state));

template <>
inline constexpr auto rows<Mail> = std::tuple(
    field("mailID", &Mail::id), field("projectID", &Mail::project), maybe("from", &Mail::from),
    maybe("fromAlias", &Mail::from_alias), maybe("toAlias", &Mail::to_alias),
    field("text", &Mail::text), maybe("replyTo", &Mail::reply_to), ConversationRow(),
    maybe("hops", &Mail::hops), maybe("wake", &Mail::wake), field("by", &Mail::by),
    field("sent", &Mail::sent), maybe("expires", &Mail::expires), Inline(&Mail::trace));

template <>
inline constexpr auto rows<AgentOutput> = std::tuple(
    field("kind", &AgentOutput::kind, AgentOutputKind::plan), maybe("begins", &AgentOutput::begins),
    only([](AgentOutput const& output) { return output.kind == AgentOutputKind::tool; },
         field("toolCallID", &AgentOutput::tool_call), field("status", &AgentOutput::status),
         maybe("title", &AgentOutput::title)),
    field("body", &AgentOutput::body));

}  // namespace dormouse::wire
