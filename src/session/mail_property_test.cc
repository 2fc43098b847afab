#include "session/testing/ledger.h"
#include "session/testing/world.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

// Mail between all else that may happen to a session: none that wakes is lost, each is read once,
// and the session comes to rest.
namespace dormouse::session::testing {
namespace {

SessionId sender(std::uint32_t number) {
    SessionId id;
    id.bytes[15] = static_cast<std::uint8_t>(100 + number);
    return id;
}

class Letters {
public:
    explicit Letters(World& world) : given_(world.session) {}

    void step(std::uint32_t a, std::uint32_t b) {
        if (b % 8 == 0) return release(a);
        if (b % 8 == 1) return send(a);
        Mail mail;
        SessionId const from = sender(a % 3);
        mail.id = {from, ++sent_};
        mail.project = "default";
        mail.from = from;
        mail.text = "hello";
        mail.conversation = {from, 1 + a % 2};
        mail.hops = b % 8 == 2 ? 40 : 0;
        mail.wake = static_cast<Wake>(b / 8 % 3);
        if (b / 24 % 2 == 1) mail.expires = given_.now + Duration(1 + a * 400);
        (void)given_.when(Deliver{{from, mail.id.seq, 0}, mail});
        if (a % 5 == 0) (void)given_.when(Deliver{{from, mail.id.seq, 0}, mail});  // once more
    }

private:
    void release(std::uint32_t a) {
        auto const& inbox = given_.state.inbox;
        if (!inbox.empty()) (void)given_.when(ReleaseMail{inbox[a % inbox.size()].id});
    }
    void send(std::uint32_t a) {
        Decision const sent = given_.when(SendMail{{{sender(a % 3), "x"}}, "answer"});
        if (sent.posts.empty() || a % 2 == 0) return;
        Post const& post = sent.posts.front();
        (void)given_.when(
            Undelivered{{given_.id, post.seq, post.n}, post.to, post.what, {"not_found", "gone"}});
    }

    Given& given_;
    std::uint64_t sent_ = 0;
};

void play(World& world, std::vector<std::uint32_t> const& numbers) {
    Letters letters(world);
    for (std::uint32_t const n : numbers) {
        std::uint32_t const a = n >> 8 & 63U;
        std::uint32_t const b = n >> 16 & 63U;
        if (n % 2 == 0) {
            letters.step(a, b);
        } else {
            world.step({static_cast<Deed>((n >> 1) % 11), a, b});
        }
    }
}

RC_GTEST_PROP(MailProperty, NoWakeUpIsLostAndEachMailIsReadOnce, ()) {
    World world(*rc::gen::inRange<std::uint32_t>(0, 12));
    play(world, *rc::gen::container<std::vector<std::uint32_t>>(
                    rc::gen::inRange<std::uint32_t>(0, 1U << 22U)));
    RC_ASSERT(world.session.broken() == std::string());
    RC_ASSERT(world.come_to_rest());
    RC_ASSERT(world.session.broken() == std::string());
    Ledger const ledger(world.session.archive.log);
    RC_ASSERT(ledger.broken() == std::string());
    Lifecycle const lifecycle = world.session.state.lifecycle;
    bool const ended = lifecycle == Lifecycle::completed || lifecycle == Lifecycle::deleted;
    RC_ASSERT(ended || ledger.at_rest());
}

}  // namespace
}  // namespace dormouse::session::testing
