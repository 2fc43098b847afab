// Claims of outgoing messages that last longer than one claim does.
#include "store/postgres/testing/test_store.h"

#include <vector>

namespace dormouse::store::postgres {
namespace {

TEST_F(SharedStores, Claim_IsRenewedWhileItIsItsOwn) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "webhook", 10), outbox_row(1, 1, 1, "webhook", 10)};
    write(*a_, first);
    std::vector<port::OutboxKey> const keys{first.outbox[0].key, first.outbox[1].key};
    EXPECT_EQ(a_->claim(keys, at(20), at(40)).value(), keys);
    std::vector<port::OutboxClaim> const own{{keys[0], {0, at(40)}}, {keys[1], {0, at(40)}}};
    EXPECT_EQ(a_->renew(own, at(50)).value(), keys);
    EXPECT_EQ(a_->renew(own, at(50)).value(), keys) << "the first answer was lost";
    EXPECT_TRUE(b_->claim(keys, at(49), at(69)).value().empty());
    port::OutboxUpdate failed{.key = keys[0]};
    failed.attempt = port::OutboxAttempt{.attempts = 0, .next_at = at(50)};
    failed.attempts = 1;
    failed.next_at = at(50);
    ASSERT_TRUE(a_->update_messages({&failed, 1}));
    EXPECT_EQ(b_->claim(keys, at(50), at(70)).value(), keys);
    EXPECT_TRUE(a_->renew(own, at(60)).value().empty()) << "they are the other's";
    std::vector<port::OutboxClaim> const late{{keys[0], {0, at(70)}}, {keys[1], {0, at(50)}}};
    EXPECT_TRUE(a_->renew(late, at(80)).value().empty());
    EXPECT_TRUE(a_->renew({}, at(80)).value().empty());
}

}  // namespace
}  // namespace dormouse::store::postgres
