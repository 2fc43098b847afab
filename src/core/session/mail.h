#pragma once
// Mail: messages from agents or people to agents.

#include "session/vocabulary.h"

#include <compare>

namespace dormouse::session {

// The session and event that first stored the mail: the sender's, or the receiver's if a person
// sent it.
struct MailId {
    SessionId session;
    Seq seq = 0;
    friend auto operator<=>(MailId const&, MailId const&) = default;
};

// When a mail wakes its receiver. standard: if it is idle, but not if calls wait; always: also if
// calls wait; never: the next request reads it.
enum class Wake : std::uint8_t { standard, always, never };

// Why a received mail does not wake its receiver.
enum class MailHold : std::uint8_t {
    none,    // it wakes
    quiet,   // sent with Wake::never
    minute,  // its conversation woke the receiver too often in this minute: wakes in the next one
    quarantined,  // its conversation is too long: wakes when a person releases it
};

struct MailTarget {
    SessionId session;
    std::string alias = {};  // the name used by the sender; empty: the id
    friend bool operator==(MailTarget const&, MailTarget const&) = default;
};

struct Mail {
    MailId id = {};  // zero in a command that brings a person's mail
    std::string project = {};
    std::optional<SessionId> from = {};  // nullopt: a person
    std::string from_alias = {};
    std::string to_alias = {};
    std::string text = {};
    std::optional<MailId> reply_to = {};
    MailId conversation = {};  // the first mail of the conversation
    std::uint32_t hops = 0;    // number of mails that led to this one
    Wake wake = Wake::standard;
    Actor by = {};
    Time sent = {};
    std::optional<Time> expires = {};  // if no request has read it by then, none will
    TraceHeaders trace = {};           // the turn that reads it continues this trace
    friend bool operator==(Mail const&, Mail const&) = default;
};

// The mail conversation that led to the current work, and its length.
struct Thread {
    MailId conversation;
    std::uint32_t hops = 0;
    friend bool operator==(Thread const&, Thread const&) = default;
};

// The rules by which a project delivers mail to its sessions.
struct MailPolicy {
    Wake default_wake = Wake::standard;  // of mail that does not say whether it wakes
    bool notifies_parent = false;  // the parent of a session is notified of mail to the session
    bool from_elsewhere = false;   // the mail comes from another project that may write to this one
    friend bool operator==(MailPolicy const&, MailPolicy const&) = default;
};

[[nodiscard]] std::string_view text(Wake v);
[[nodiscard]] std::string_view text(MailHold v);
template <> [[nodiscard]] std::optional<Wake> parse<Wake>(std::string_view word);
template <> [[nodiscard]] std::optional<MailHold> parse<MailHold>(std::string_view word);
// "mail_<session>_<seq>"
[[nodiscard]] std::string text(MailId const& id);
[[nodiscard]] std::optional<MailId> parse_mail_id(std::string_view text);

}  // namespace dormouse::session
