#include "session/decide/decider.h"

#include "base/text/utf8.h"
#include "session/fold/fold.h"

#include <algorithm>

// Mail: the receiver decides what wakes it and when, in its own order of events.
namespace dormouse::session {

namespace {

// Returns true if an earlier mail already wakes the session: the request for it shows later mail,
// too.
bool has_waking_mail(State const& state) {
    for (InboxItem const& item : state.inbox) {
        if (item.hold == MailHold::none && item.seq > state.asked_view) return true;
    }
    return false;
}

constexpr std::string_view unread_text = "The mail expired unread.";

struct DeliveryPolicy {
    MailHold hold = MailHold::none;
    std::optional<Time> until = {};
};

// Limits how often one conversation wakes a session, in a minute and in total, so that agents that
// answer each other become idle.
DeliveryPolicy delivery_policy(Decider const& d, Mail const& mail) {
    if (mail.wake == Wake::never) return {MailHold::quiet};
    if (mail.hops >= limits::mail_hops_max) return {MailHold::quarantined};
    if (has_waking_mail(d.state)) return {};
    ConversationState const* const known = conversation_of(d.state, mail.conversation);
    if (!known) return {};
    if (known->wakes >= limits::mail_wakes_max) return {MailHold::quarantined};
    Time const next = known->minute + limits::mail_minute;
    bool const often = known->in_minute >= limits::mail_wakes_per_minute && d.at < next;
    return often ? DeliveryPolicy{MailHold::minute, next} : DeliveryPolicy{};
}

std::unexpected<Error> inbox_full() {
    return fail(Code::inbox_full,
                "The inbox is full: " + std::to_string(limits::inbox_max) + " mails are unread.");
}

std::string sender_of(Mail const& mail) {
    if (!mail.from) return mail.by.name;
    return mail.from_alias.empty() ? mail.from->text() : mail.from_alias;
}

bool is_child(State const& state, SessionId const& session) {
    return std::ranges::any_of(state.tasks,
                               [&](auto const& entry) { return entry.second.child == session; });
}

// Notifies the parent, except of mail from the parent or from a child. The notice continues the
// mail's conversation, so that its limits apply.
void notify_parent(Decider& d, Mail const& mail) {
    State const& state = d.state;
    if (!d.context.mail.notifies_parent || !state.parent || mail.wake == Wake::never) return;
    SessionId const parent = state.parent->session;
    if (mail.from && (*mail.from == parent || is_child(state, *mail.from))) return;
    std::string says = "Mail to your task " + task_id(parent, state.parent->task) + " from " +
                       sender_of(mail) + ": " + mail.text;
    says.resize(cut_utf8(says, limits::mail_bytes_max).size());
    FITS(says.size() <= limits::mail_bytes_max);
    d.emit(MailSent{{{parent}},
                    std::move(says),
                    {},
                    mail.conversation,
                    mail.hops + 1,
                    mail.wake,
                    {},
                    {},
                    mail.expires,
                    mail.trace});
}

Result<Answer> take(Decider& d, Mail mail) {
    State& state = d.state;
    if (is_full(state)) return journal_full();
    if (mail.project != state.project && !d.context.mail.from_elsewhere) return unknown();
    if (state.lifecycle == Lifecycle::completed) return wrong_state(state, "take mail");
    if (mail.expires && *mail.expires <= d.at) return fail(Code::expired, std::string(unread_text));
    if (state.inbox.size() >= limits::inbox_max) return inbox_full();
    if (mail.wake == Wake::standard) mail.wake = d.context.mail.default_wake;
    DeliveryPolicy const what = delivery_policy(d, mail);
    FITS((what.hold == MailHold::minute) == what.until.has_value());
    d.emit(MailReceived{mail, state.mails + 1, what.hold, what.until, d.idem()});
    FITS(!state.inbox.empty() && state.inbox.back().seq == state.head);
    Answer answer;
    answer.seq = state.head;
    notify_parent(d, mail);
    answer.quarantined = what.hold == MailHold::quarantined;
    return answer;
}

Result<Answer> answer_earlier(Decider const& d) {
    FITS(d.context.found.earlier.has_value());
    Found::Earlier const& earlier = *d.context.found.earlier;
    if (earlier.idem == d.idem())
        return Answer{.outcome = Answer::Outcome::duplicate, .seq = earlier.seq};
    return fail(Code::idempotency_mismatch,
                "This Idempotency-Key was used with another request body.");
}

std::optional<Error> refuse(SendMail const& c) {
    if (c.to.empty()) return Error{Code::bad_value, "The mail must have a receiver.", {}};
    if (c.to.size() > limits::mail_receivers_max) {
        return Error{Code::bad_value,
                     "A mail must have at most " + std::to_string(limits::mail_receivers_max) +
                         " receivers.",
                     {}};
    }
    if (c.text.size() > limits::mail_bytes_max)
        return over_limit("A mail", "mail_bytes", limits::mail_bytes_max).error();
    if (c.text.size() * c.to.size() > limits::mail_bytes_of_all_max) {
        return over_limit("A mail and its copies", "mail_bytes_of_all",
                          limits::mail_bytes_of_all_max)
            .error();
    }
    return std::nullopt;
}

std::optional<Time> expiry(Decider const& d, std::optional<Duration> ttl) {
    return ttl ? std::optional(d.at + *ttl) : std::nullopt;
}

}  // namespace

Result<Answer> receive_mail(Decider& d, Mail const& mail) { return take(d, mail); }

void bounce_mail(Decider& d, Undelivered const& back, Mail const& mail) {
    d.emit(MailBounced{mail.id.seq, {back.to, mail.to_alias}, back.error});
}

void lose_mail(Decider& d, MailLost const& lost) {
    if (lost.mail.session != d.state.id) return;
    d.emit(MailBounced{lost.mail.seq, lost.to, {"expired", std::string(unread_text)}});
}

void mail_is_due(Decider& d) {
    MailExpired expired;
    for (InboxItem const& item : d.state.inbox) {
        if (may_expire(d.state, item) && *item.expires <= d.at)
            expired.numbers.push_back(item.number);
    }
    if (!expired.numbers.empty()) d.emit(std::move(expired));
    MailReleased released;
    for (InboxItem const& item : d.state.inbox) {
        if (item.hold == MailHold::minute && item.until <= d.at)
            released.numbers.push_back(item.number);
    }
    if (!released.numbers.empty()) d.emit(std::move(released));
}

Result<Answer> handle(Decider& d, SendMail const& c) {
    if (d.context.found.earlier) return answer_earlier(d);
    State const& state = d.state;
    if (is_full(state)) return journal_full();
    if (state.lifecycle == Lifecycle::completed) return wrong_state(state, "send mail");
    if (auto error = refuse(c)) return std::unexpected(std::move(*error));
    MailSent sent{c.to, c.text, c.reply_to, {}, 0, c.wake, d.command.by, d.idem()};
    sent.expires = expiry(d, c.ttl);
    sent.trace = trace_of_sent(d);
    sent.conversation = {state.id, state.head + 1};
    if (state.turn && state.turn->thread) {
        sent.conversation = state.turn->thread->conversation;
        sent.hops = state.turn->thread->hops + 1;
    }
    d.emit(std::move(sent));
    return done(d);
}

Result<Answer> handle(Decider& d, TakeMail const& c) {
    if (d.context.found.earlier) return answer_earlier(d);
    if (c.mail.text.size() > limits::mail_bytes_max)
        return over_limit("A mail", "mail_bytes", limits::mail_bytes_max);
    FITS(!c.mail.from);  // a person sends it
    Mail mail = c.mail;
    mail.id = {d.state.id, d.state.head + 1};
    mail.conversation = mail.id;
    mail.by = d.command.by;
    mail.trace = d.command.trace;
    mail.sent = d.at;
    mail.expires = expiry(d, c.ttl);
    return take(d, std::move(mail));
}

Result<Answer> handle(Decider& d, ReleaseMail const& c) {
    for (InboxItem const& item : d.state.inbox) {
        if (item.id != c.mail) continue;
        if (item.hold == MailHold::none) break;
        d.emit(MailReleased{{item.number}, d.command.by});
        return done(d);
    }
    return Answer{.outcome = Answer::Outcome::duplicate, .seq = d.state.head};
}

}  // namespace dormouse::session
