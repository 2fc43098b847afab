#pragma once
// The members of mail and its deliveries (http/objects/fields.h).

#include "http/objects/object_fields.h"
#include "session/mail.h"

namespace dormouse::http {

struct MailText {
    MailId id;
    [[nodiscard]] std::string text() const { return session::text(id); }
};

// A sender or a receiver.
struct MailSide {
    std::optional<SessionId> session;
    std::string alias;
};
template <>
inline constexpr auto rows<MailSide> = object("", "", field("sessionID", &MailSide::session),
                                              field("alias", or_null(&MailSide::alias)));

inline MailText mail_text(Mail const& mail) { return {mail.id}; }
inline MailSide mail_from(Mail const& mail) { return {mail.from, mail.from_alias}; }
inline std::optional<MailText> mail_answered(Mail const& mail) {
    return mail.reply_to ? std::optional(MailText{*mail.reply_to}) : std::nullopt;
}
inline MailText mail_conversation(Mail const& mail) { return {mail.conversation}; }

// The state of one receiver, as far as it is known at once.
struct MailDeliverySource {
    std::string to;
    std::optional<SessionId> session;
    std::optional<std::string> mail;
    std::string_view status;
    std::string reason;
};
template <>
inline constexpr auto rows<MailDeliverySource> = object(
    "MailFate", "The delivery to one receiver, as far as it is known.",
    field("to", &MailDeliverySource::to), field("sessionID", &MailDeliverySource::session),
    field("mailID", &MailDeliverySource::mail),
    field("status", &MailDeliverySource::status, {.words = "queued delivered quarantined failed"}),
    field("reason", or_null(&MailDeliverySource::reason)));

struct MailAnswer {
    std::optional<std::string> id;
    bool duplicate = false;
    std::vector<MailDeliverySource> receivers;
};
template <>
inline constexpr auto rows<MailAnswer> =
    object("MailAnswer", "", field("id", &MailAnswer::id),
           field("duplicate", &MailAnswer::duplicate), field("receivers", &MailAnswer::receivers));

// A mail in the inbox of `receiver`.
struct InboxMail {
    SessionId receiver;
    Ref<wire::MailView> view;
    std::optional<wire::Consumed> consumed;

    [[nodiscard]] Mail const& mail() const { return view.get().what.mail; }
    [[nodiscard]] std::uint64_t number() const { return view.get().what.number; }
    [[nodiscard]] MailSide to() const { return {receiver, mail().to_alias}; }
    [[nodiscard]] std::string_view status() const;
    [[nodiscard]] std::optional<std::string> reason() const;
    [[nodiscard]] std::optional<Time> read() const {
        return consumed ? std::optional(consumed->at) : std::nullopt;
    }
};
template <>
inline constexpr auto rows<InboxMail> = object(
    "Mail", "", of(&InboxMail::mail, field("id", mail_text), field("projectID", &Mail::project)),
    field("number", &InboxMail::number, "In this inbox, from 1 without gaps."),
    of(&InboxMail::mail, field("from", mail_from), field("by", &Mail::by)),
    field("to", &InboxMail::to),
    of(&InboxMail::mail, field("text", &Mail::text), field("replyTo", mail_answered),
       field("conversation", mail_conversation, "The first mail of it."),
       field("hops", &Mail::hops)),
    field("status", &InboxMail::status, {.words = "delivered quarantined read expired"}),
    field("reason", &InboxMail::reason,
          "Why the session has not read it; null: it has, or nothing keeps it from reading it."),
    nested("time", "", of(&InboxMail::mail, field("created", &Mail::sent)),
           of(&InboxMail::view, field("delivered", &wire::MailView::at)),
           field("read", &InboxMail::read),
           of(&InboxMail::mail, field("expires", &Mail::expires))));

struct Inbox {
    std::uint64_t read = 0;
    std::vector<InboxMail> items = {};
    std::optional<std::uint64_t> next = {};
};
template <>
inline constexpr auto rows<Inbox> = object(
    "Inbox", "", field("read", &Inbox::read, "Number of mails of the inbox that have been read."),
    field("items", &Inbox::items),
    field("next", &Inbox::next, "The next page begins after this number."));

struct ReleaseAnswer {
    MailText id;
    std::uint64_t released = 0;
};
template <>
inline constexpr auto rows<ReleaseAnswer> = object(
    "ReleaseAnswer", "", field("id", &ReleaseAnswer::id),
    field("released", &ReleaseAnswer::released, "Number of receivers that had quarantined it."));

// The fields of a sent mail.
inline constexpr auto mail_head = std::tuple(
    field("id", mail_text), field("projectID", &Mail::project), field("from", mail_from),
    field("by", &Mail::by), field("text", &Mail::text), field("replyTo", mail_answered),
    field("conversation", mail_conversation, "The first mail of it."), field("hops", &Mail::hops),
    field("expires", &Mail::expires), nested("time", "", field("created", &Mail::sent)));

struct SentMail {
    Mail mail;
    std::optional<MailSide> to = {};  // of one that is not delivered yet, or quarantined
    std::optional<std::string_view> status = {};
    std::optional<std::uint64_t> receivers = {}, failed = {};  // of one of a session
};
template <>
inline constexpr auto rows<SentMail> =
    object("SentMail",
           "A sent mail. In the list of a session: with the number of its receivers. In that of a "
           "project: undelivered, with one receiver and status.",
           of(&SentMail::mail, mail_head), maybe("to", &SentMail::to),
           maybe("status", &SentMail::status, {.words = "queued quarantined"}),
           maybe("receivers", &SentMail::receivers),
           maybe("failed", &SentMail::failed, "Receivers to which it could not be delivered."));

struct DeliveryStatus {
    MailTarget to;
    std::string_view status = {};  // empty: not known yet
    std::optional<std::string> reason = {};
};
template <>
inline constexpr auto rows<DeliveryStatus> =
    object("", "The state of the delivery to one receiver.",
           of(&DeliveryStatus::to, field("sessionID", &MailTarget::session),
              field("alias", or_null(&MailTarget::alias))),
           field("status", &DeliveryStatus::status,
                 {.words = "queued delivered quarantined read expired failed"}),
           field("reason", &DeliveryStatus::reason));

struct MailState {
    Mail mail;
    std::vector<DeliveryStatus> deliveries;
    std::optional<std::uint64_t> next;
};
template <>
inline constexpr auto rows<MailState> =
    object("MailState", "A mail and the state of its deliveries.", of(&MailState::mail, mail_head),
           field("receivers", &MailState::deliveries),
           field("next", &MailState::next, "The next page of receivers begins after this one."));

}  // namespace dormouse::http
