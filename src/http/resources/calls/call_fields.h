#pragma once
// The members of the answers to submissions (http/objects/fields.h).

#include "http/access/tokens.h"
#include "http/objects/object_fields.h"
#include "session/decide.h"

namespace dormouse::http {

// With the receipt that the caller may see: of a capability the brief one.
template <class Shown> struct OutcomeSource {
    Ref<Answer> answer;
    std::optional<Shown> receipt;
};
[[nodiscard]] inline std::optional<std::string> rule_id(Answer const& answer) {
    if (!answer.rule || !answer.receipt) return std::nullopt;
    return numbered_id("rul_", answer.receipt->pending.session, answer.receipt->seq);
}
template <class Shown>
inline constexpr auto rows<OutcomeSource<Shown>> = object(
    std::same_as<Shown, BriefReceipt> ? "CapabilityAnswer" : "SubmissionAnswer",
    "The treatment of the submission. counted: one of several votes.",
    of(&OutcomeSource<Shown>::answer, field("outcome", &Answer::outcome),
       field("duplicate",
             [](Answer const& answer) { return answer.outcome == Answer::Outcome::duplicate; })),
    field("receipt", &OutcomeSource<Shown>::receipt),
    of(&OutcomeSource<Shown>::answer,
       maybe("ruleID", rule_id, "The standing rule that the approval made.")),
    of(&OutcomeSource<Shown>::answer, field("votes", [](Answer const& answer) {
        bool const counted = answer.outcome == Answer::Outcome::counted;
        return counted ? std::optional(Ref<std::vector<Vote>>(answer.votes)) : std::nullopt;
    })));

struct AskedSource {
    PendingId pending;
    std::string url;
    bool duplicate = false;
    PendingSource call;

    [[nodiscard]] SessionId const& session() const { return pending.session; }
};
template <>
inline constexpr auto rows<AskedSource> =
    object("AskedCall", "The call that a client made.", field("pendingID", &AskedSource::pending),
           field("sessionID", &AskedSource::session, "It holds this call and completes with it."),
           field("answerURL", &AskedSource::url, "The page on which a person answers it."),
           field("duplicate", &AskedSource::duplicate, "The Idempotency-Key was used before."),
           field("call", &AskedSource::call));

struct ProgressAnswer {
    bool duplicate = false;  // its key was used before
};
template <>
inline constexpr auto rows<ProgressAnswer> =
    object("ProgressAnswer", "",
           field("outcome",
                 [](ProgressAnswer const& answer) {
                     return std::string_view(answer.duplicate ? "duplicate" : "applied");
                 },
                 {.words = "applied duplicate"}),
           field("duplicate", &ProgressAnswer::duplicate, "Its key was used before."));

// The fields of a call in the inbox besides the call itself.
struct InboxSource {
    Ref<State> state;
    Ref<wire::History> history;
    Ref<wire::PauseView> pause;
    Ref<wire::CallView> call;
    Ref<Principal> who;
    Time now;

    struct Gate {
        std::string id;
        bool always_ask = false;
        bool rules = false;  // an approval can make a standing rule
    };
    struct Claim {
        std::string by;
        Time until;
    };
    [[nodiscard]] std::optional<Ref<Actor>> requester() const;
    [[nodiscard]] std::optional<Gate> gate() const;
    [[nodiscard]] std::optional<OnDeadline> at_deadline() const;
    [[nodiscard]] std::optional<std::string> last_text() const;
    [[nodiscard]] std::optional<Claim> claim() const;
    [[nodiscard]] bool mine() const;
    [[nodiscard]] bool doubt_question() const;
};
template <>
inline constexpr auto rows<InboxSource::Gate> =
    object("", "", field("id", &InboxSource::Gate::id),
           field("alwaysAsk", &InboxSource::Gate::always_ask,
                 "No standing rule applies; each call needs its own decision."),
           field("rules", &InboxSource::Gate::rules, "An approval can make a standing rule."));
template <>
inline constexpr auto rows<InboxSource::Claim> = object(
    "", "", field("by", &InboxSource::Claim::by), field("until", &InboxSource::Claim::until));
template <>
inline constexpr auto rows<InboxSource> = object(
    "PendingCall", "",
    of(&InboxSource::state,
       field("agentID", &State::agent, "With view=inbox. The session's agent."),
       field("sessionTitle", or_null(shown_title), "With view=inbox. The session's title.")),
    field("requestedBy", &InboxSource::requester,
          "With view=inbox. Who requested the turn; null: no longer known."),
    field("gate", &InboxSource::gate, "With view=inbox. The approval rule that asks."),
    field("onDeadline", &InboxSource::at_deadline,
          "With view=inbox. What happens at the deadline: the agent gets an error, the call is "
          "denied, or it is done."),
    field("lastText", &InboxSource::last_text,
          "With view=inbox. What the agent said with the call, at most 4 KiB. Nobody has checked "
          "it."),
    field("claim", &InboxSource::claim, "With view=inbox. Who has claimed the call."),
    field("mine", &InboxSource::mine,
          "With view=inbox. Whether it waits for the caller, who may answer it and has not voted; "
          "nobody else has claimed it."),
    field("doubtQuestion", &InboxSource::doubt_question,
          "With view=inbox. It asks what became of an attempt that a crash cut off."));

// The fields of a call that its callback URL shows.
struct CallbackSource {
    PendingId pending;
    wire::PauseView const* pause;  // nullptr: the tool still runs
    Time now;

    [[nodiscard]] std::string_view status() const {
        return pause ? word_of(pending_status(*pause, now)) : "running";
    }
    [[nodiscard]] std::optional<Time> timeout() const {
        return pause ? pause->deadline : std::nullopt;
    }
    [[nodiscard]] std::optional<BriefReceipt> receipt() const {
        return pause && pause->receipt ? std::optional(BriefReceipt{*pause->receipt})
                                       : std::nullopt;
    }
};
template <>
inline constexpr auto rows<CallbackSource> =
    object("Callback", "", field("pendingID", &CallbackSource::pending),
           field("status", &CallbackSource::status,
                 {.words = "running waiting processing completed failed expired cancelled"}),
           field("timeout", &CallbackSource::timeout), field("receipt", &CallbackSource::receipt),
           field("next", [](auto const&) {
               return R"(POST {"result": {"output": …}} or {"error": "…"} to this address)";
           }));

// The secret address of a call, for a person who gives it to a job.
struct CallbackUrl {
    PendingId pending;
    std::string url;
    std::optional<Time> timeout;
};
template <>
inline constexpr auto rows<CallbackUrl> =
    object("CallbackURL", "A secret: everybody who has the address may answer the call.",
           field("pendingID", &CallbackUrl::pending), field("url", &CallbackUrl::url),
           field("timeout", &CallbackUrl::timeout));

}  // namespace dormouse::http
