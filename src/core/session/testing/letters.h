#pragma once
// Random mail, for property tests.

#include "session/testing/world.h"

namespace dormouse::session::testing {

inline SessionId letter_sender(std::uint32_t number) {
    SessionId id;
    id.bytes[15] = static_cast<std::uint8_t>(100 + number);
    return id;
}

// Mail of every kind to and from the session of a World.
class Letters {
public:
    explicit Letters(World& world) : given_(world.session) {}

    void step(std::uint32_t a, std::uint32_t b) {
        if (b % 8 == 0) return release(a);
        if (b % 8 == 1) return send(a);
        Mail mail;
        SessionId const from = letter_sender(a % 3);
        mail.id = {from, ++sent_};
        mail.project = "default";
        mail.from = from;
        mail.text = "hello";
        mail.conversation = {from, 1 + a % 2};
        mail.hops = b % 8 == 2 ? 40 : 0;
        mail.wake = static_cast<Wake>(b / 8 % 3);
        if (b / 24 % 2 == 1) mail.expires = given_.now + Duration(1 + a * 400);
        (void)given_.when(Deliver{{from, mail.id.seq, 0}, mail});
        if (a % 5 == 0) (void)given_.when(Deliver{{from, mail.id.seq, 0}, mail});  // a repeat
    }

private:
    void release(std::uint32_t a) {
        auto const& inbox = given_.state.inbox;
        if (!inbox.empty()) (void)given_.when(ReleaseMail{inbox[a % inbox.size()].id});
    }
    void send(std::uint32_t a) {
        Decision const sent = given_.when(SendMail{{{letter_sender(a % 3), "x"}}, "answer"});
        if (sent.outbox.empty() || a % 2 == 0) return;
        OutboxMessage const& message = sent.outbox.front();
        (void)given_.when(Undelivered{
            {given_.id, message.seq, message.n}, message.to, message.what, {"not_found", "gone"}});
    }

    Given& given_;
    std::uint64_t sent_ = 0;
};

}  // namespace dormouse::session::testing
