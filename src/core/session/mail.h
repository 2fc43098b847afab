#pragma once
// Mail: what one agent says to another, or a person to one of them.

#include "session/vocabulary.h"

#include <compare>

namespace dormouse::session {

// Whose journal it was first written in, and by which event: its sender's, or its receiver's when a
// person sent it.
struct MailId {
    SessionId session;
    Seq seq = 0;
    friend auto operator<=>(MailId const&, MailId const&) = default;
};

// Whether it may wake its receiver. usual: an idle one, and one that waits goes on waiting; always:
// also one that waits; never: it is read with whatever is asked next.
enum class Wake : std::uint8_t { usual, always, never };

// Why a mail that has come makes nobody read it yet.
enum class MailHold : std::uint8_t {
    none,    // it wakes
    quiet,   // it was not to wake
    minute,  // its conversation has woken the receiver often in this minute: in the next
    held,    // its conversation has gone on for long enough: until a person says so
};

struct MailTarget {
    SessionId session;
    std::string alias = {};  // by which it was named; empty: by its id
    friend bool operator==(MailTarget const&, MailTarget const&) = default;
};

struct Mail {
    MailId id = {};  // zero in a command that brings a person's
    std::string project = {};
    std::optional<SessionId> from = {};  // nullopt: a person
    std::string from_alias = {};
    std::string to_alias = {};
    std::string text = {};
    std::optional<MailId> reply_to = {};
    MailId conversation = {};  // the first mail of it
    std::uint32_t hops = 0;    // how many mails led to this one
    Wake wake = Wake::usual;
    Actor by = {};
    Time sent = {};
    std::optional<Time> expires = {};  // unread until then, it is read by nobody
    friend bool operator==(Mail const&, Mail const&) = default;
};

// Which conversation of mails led to what is going on, and how long it has become.
struct Thread {
    MailId conversation;
    std::uint32_t hops = 0;
    friend bool operator==(Thread const&, Thread const&) = default;
};

// What a project makes of mail that comes to one of its sessions.
struct MailPolicy {
    Wake usual = Wake::usual;       // of mail that does not say whether it wakes
    bool tells_the_parent = false;  // the parent of a session hears of mail that comes to it
    bool from_elsewhere = false;  // the mail that comes is of another project, which may write here
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
