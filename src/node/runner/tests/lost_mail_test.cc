// The store falls back to an earlier state while a message of the lost history is being delivered,
// and another message gets its place.
#include "runner/testing/two_runners_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace dormouse::runner::testing {
namespace {

using namespace session;

class LostMail : public TwoRunners {
protected:
    LostMail() : sender(made()), one(made()), other(made()) {}

    SessionId made() {
        SessionId out;
        a.runner->create({{}, "default", "demo", {}, {}, {}, {}, {}, {}},
                         {{ActorType::token, "ann"}},
                         [&out](Result<Created> const& created) { out = created->session; });
        loop.run();
        return out;
    }
    // A stores mail, and delivers nothing before its reads are answered.
    void send(SessionId to) {
        a.runner->read_lane(sender, [](auto const&) {});
        loop.run();
        a.journal.hold_reads = true;
        SendMail mail;
        mail.to = {{to, {}}};
        mail.text = "hello";
        EXPECT_EQ(a.ask(sender, mail), "applied");
    }
    // B begins to deliver what is stored, and stops where the receiver is read.
    void begin_delivery() {
        int reads = 0;
        constexpr int before_the_receiver = 3;  // what is due, the messages, and this message
        b.journal.before_read = [this, &reads] {
            b.journal.hold_reads = ++reads > before_the_receiver;
        };
        scan();
        b.journal.before_read = {};
        EXPECT_EQ(reads, before_the_receiver + 1);
    }
    void fall_back(store::MemoryData earlier) {
        a.journal.disk->fall_back(std::move(earlier));
        a.journal.release_reads();
        loop.run();
        a.runner->forget_memory();
        loop.run();
    }
    [[nodiscard]] std::vector<std::string> targets() {
        std::vector<std::string> out;
        auto const rows = a.journal.store->due_messages("session", Time::max(), 10).value();
        for (auto const& row : rows) out.push_back(row.target);
        return out;
    }
    [[nodiscard]] auto received(SessionId by) {
        auto const records = read_records(*a.journal.store, by, 1, UINT32_MAX).value();
        return std::ranges::count_if(records, [](wire::RecordPtr const& record) {
            return type_name(record->event.body) == "mail_received";
        });
    }

    SessionId const sender, one, other;
};

TEST_F(LostMail, FallIsNoticedDuringTheDelivery_NewMailIsDeliveredInstead) {
    auto const earlier = a.journal.disk->copy();
    send(one);
    begin_delivery();
    fall_back(earlier);
    send(other);
    ASSERT_THAT(targets(), ::testing::ElementsAre(other.text())) << "under the same key";
    b.runner->forget_memory();
    b.journal.release_reads();
    loop.run();
    EXPECT_EQ(received(one), 0);
    EXPECT_THAT(targets(), ::testing::ElementsAre(other.text()));
    a.journal.release_reads();
    loop.run();
    EXPECT_EQ(received(other), 1);
    EXPECT_THAT(targets(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace dormouse::runner::testing
