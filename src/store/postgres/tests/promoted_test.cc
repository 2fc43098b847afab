// Tests the promotion of a standby that lacks the newest writes, as far as one database shows it.
#include "store/postgres/testing/test_store.h"

#include <gmock/gmock.h>

namespace dormouse::store::postgres {
namespace {

class PromotedStandby : public SharedStores {
protected:
    // `lost`: SQL that removes what the standby lacks. Its history gets another number.
    void promote(std::string const& lost) const {
        sql(lost +
            ";UPDATE meta SET value = value + 1 WHERE name = 'timeline';"
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            "  WHERE application_name LIKE 'dormouse/%'");
    }
    // Returns the SQL that removes the registration of the process of this epoch.
    [[nodiscard]] static std::string registration(Epoch epoch) {
        auto const number = std::to_string(epoch);
        return "DELETE FROM nodes WHERE epoch = " + number +
               ";UPDATE writers SET epoch = NULL, incarnation = NULL WHERE epoch = " + number +
               ";SELECT setval('epochs', " + number + ", false)";
    }
    [[nodiscard]] static port::DataKeyRow key(std::string const& wrapped) {
        return {.id = "00000000000000aa",
                .master = "00000000000000bb",
                .mixed = false,
                .wrapped = wrapped};
    }
};

// Until its next heartbeat the process does not know that its registration is lost.
TEST_F(PromotedStandby, ProcessThatStarts_GetsNoNumberOfALostRegistration) {
    auto const lost = b_->epoch();
    promote(registration(lost));
    auto const next = open_store(url_);
    EXPECT_GT(next->epoch(), lost);
    EXPECT_GT(open_store(url_)->epoch(), next->epoch());
    EXPECT_LT(open_store(url_)->epoch(), 2'000U) << "raised once";
}

TEST_F(PromotedStandby, ProcessThatJoinsAgain_GetsNoNumberOfALostRegistration) {
    auto const lost = b_->epoch();
    promote(registration(lost));
    write(*a_, create(1, "acme"));
    EXPECT_GT(a_->join().value(), lost);
    EXPECT_GT(b_->join().value(), lost);
}

TEST_F(PromotedStandby, NumbersOfSessions_AreNotThoseOfALostBlock) {
    auto const lost = b_->take_numbers().value();
    promote("SELECT setval('blocks', " + std::to_string(lost.first >> 8U) + ", false)");
    EXPECT_GE(a_->take_numbers().value().first, lost.first + 256);
}

// Without the key, what this process encrypts with it could never be read again.
TEST_F(PromotedStandby, LostDataKey_IsThereAgainBeforeTheNextAppend) {
    auto const own = key("own");
    ASSERT_TRUE(a_->put_data_keys({&own, 1}));
    promote("DELETE FROM data_keys");
    ASSERT_THAT(b_->data_keys().value(), testing::IsEmpty());
    write(*a_, create(1, "acme"));
    EXPECT_THAT(b_->data_keys().value(), testing::ElementsAre(own));
}

// `dormouse rekey`, run beside the servers, has encrypted the key with another master key.
TEST_F(PromotedStandby, DataKeyThatWasKept_StaysAsItIs) {
    auto const own = key("own"), newer = key("newer");
    ASSERT_TRUE(a_->put_data_keys({&own, 1}));
    ASSERT_TRUE(b_->put_data_keys({&newer, 1}));
    promote("SELECT 1");
    write(*a_, create(1, "acme"));
    EXPECT_THAT(b_->data_keys().value(), testing::ElementsAre(newer));
}

}  // namespace
}  // namespace dormouse::store::postgres
