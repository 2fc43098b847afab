#include "http/resources/operations/doctor/concerns.h"

#include "wire/journal/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace dormouse::http {
namespace {

using namespace session;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr Duration whole_day{24LL * 3'600'000};
Time const noon = from_ms(1'800'000'000'000);

std::vector<std::string> about(ConcernFacts const& facts) {
    std::vector<std::string> out;
    for (Concern const& one : concerns_of(facts, noon)) {
        EXPECT_FALSE(one.why.empty());
        EXPECT_FALSE(one.next.empty());
        out.push_back(one.about);
    }
    return out;
}

ConcernFacts healthy() {
    return {.notifies = true,
            .public_url = "https://ops.example.org",
            .disk_free = std::uint64_t{50} << 30U,
            .disk_size = std::uint64_t{100} << 30U,
            .until_full = 30 * whole_day,
            .files_open = 100,
            .files_max = 1'024,
            .backed_up_here = true,
            .backup = noon - whole_day,
            .first_start = noon - 100 * whole_day};
}

TEST(Concerns, HealthyServer_HasNone) { EXPECT_THAT(about(healthy()), IsEmpty()); }

TEST(Concerns, WorkThatFails_IsNamed) {
    auto facts = healthy();
    facts.missing_agents = {{"ops", 1}, {"web", 2}};
    facts.rejected_keys = {{"ops", "the provider answered 401"}};
    facts.failed_turns = {{noon, SessionId::make(1, {}), "boom"}};
    facts.given_up = 3;
    EXPECT_THAT(about(facts), ElementsAre("agents", "agents", "key", "turns", "deliveries"));
    EXPECT_THAT(concerns_of(facts, noon).front().why, HasSubstr("1 session of it has not ended"));
}

TEST(Concerns, ArchiveThatFails_IsNamed) {
    auto facts = healthy();
    facts.archive_failure = "/srv/archive: No space left on device";
    EXPECT_THAT(about(facts), ElementsAre("archive"));
    EXPECT_THAT(concerns_of(facts, noon).front().why, HasSubstr("/srv/archive"));
}

TEST(Concerns, FailingReceivers_AreNamedWithoutSecretsInTheirAddress) {
    auto facts = healthy();
    facts.receivers = {{"notify:discord:N_URL", "refused", 3, noon - Duration(240'000), noon}};
    for (int i = 0; i < 6; ++i)
        facts.receivers.push_back({"https://example.org:9/s3cret?k=s3cret", "503", 2, noon, noon});
    auto const found = concerns_of(facts, noon);
    ASSERT_EQ(found.size(), 6U);
    EXPECT_EQ(found[0].why,
              "'notify:discord:N_URL' accepts no webhook or notification: 3 attempts failed in 4 "
              "minutes; the newest: refused");
    EXPECT_THAT(found[1].why, HasSubstr("'example.org:9'"));
    EXPECT_THAT(found[1].why, Not(HasSubstr("s3cret")));
    EXPECT_EQ(found[5].why, "other receivers that accept nothing: 2");
}

TEST(FailingReceivers, SeveralFailures_UntilOneIsAccepted) {
    FailingReceivers receivers;
    receivers.refused("a", 1, "503", noon);
    EXPECT_THAT(receivers.failing(noon + whole_day), IsEmpty()) << "one failure";
    receivers.refused("a", 2, "504", noon);
    EXPECT_THAT(receivers.failing(noon), IsEmpty()) << "two at once";
    EXPECT_THAT(receivers.failing(noon + FailingReceivers::minutes), SizeIs(1));
    receivers.refused("b", 5, "refused", noon + Duration(1));
    auto const found = receivers.failing(noon + FailingReceivers::minutes);
    ASSERT_EQ(found.size(), 2U) << "an earlier process made the other attempts";
    EXPECT_EQ(found[0].why, "504");
    EXPECT_EQ(found[1].attempts, 5U);
    receivers.accepted("a");
    EXPECT_THAT(receivers.failing(noon + FailingReceivers::minutes), SizeIs(1));
    EXPECT_THAT(receivers.failing(noon + 2 * whole_day), IsEmpty()) << "nothing is sent any more";
}

TEST(FailingReceivers, Many_AreLimited) {
    FailingReceivers receivers;
    for (std::size_t i = 0; i < 2 * FailingReceivers::receivers_max; ++i)
        receivers.refused(std::to_string(i), 3, "503", noon);
    EXPECT_EQ(receivers.failing(noon).size(), FailingReceivers::receivers_max);
}

TEST(Concerns, LinksToLoopback_OnlyIfPeopleGetThem) {
    auto facts = healthy();
    facts.public_url = "http://127.0.0.1:3676";
    EXPECT_THAT(about(facts), ElementsAre("public_url"));
    facts.notifies = false;
    EXPECT_THAT(about(facts), IsEmpty());
}

TEST(Concerns, Disk_LittleFreeOrSoonFull) {
    auto facts = healthy();
    facts.disk_free = std::uint64_t{5} << 30U;
    EXPECT_THAT(about(facts), ElementsAre("disk"));
    facts = healthy();
    facts.until_full = 3 * whole_day;
    EXPECT_THAT(concerns_of(facts, noon).front().why, HasSubstr("full in 3 days"));
    facts.disk_free.reset();
    EXPECT_THAT(about(facts), IsEmpty());
}

TEST(Concerns, ClockAndFiles_AreNamed) {
    auto facts = healthy();
    facts.clock_jumped = true;
    facts.files_open = 1'000;
    EXPECT_THAT(about(facts), ElementsAre("clock", "files"));
}

TEST(Concerns, Backup_OldOrNever) {
    auto facts = healthy();
    facts.backup = noon - 8 * whole_day;
    EXPECT_THAT(concerns_of(facts, noon).front().why, HasSubstr("8 days old"));
    facts.backup.reset();
    EXPECT_THAT(about(facts), ElementsAre("backup"));
    facts.first_start = noon - whole_day;
    EXPECT_THAT(about(facts), IsEmpty());
    facts = healthy();
    facts.backed_up_here = false;
    facts.backup.reset();
    EXPECT_THAT(about(facts), IsEmpty());
}

TEST(Concerns, WaitingUpgrade_NamesTheOlderServers) {
    auto facts = healthy();
    facts.upgrade = Upgrade{.written = 8, .newest = 9, .older = {"web1 (0.1.0)", "web2 (0.1.0)"}};
    EXPECT_THAT(about(facts), ElementsAre("upgrade"));
    EXPECT_THAT(concerns_of(facts, noon)[0].next, HasSubstr("(web1 (0.1.0), web2 (0.1.0))"));
    facts.upgrade->older.clear();
    EXPECT_THAT(concerns_of(facts, noon)[0].next, HasSubstr("dormouse upgrade --finish"));
    facts.upgrade->self_older = true;
    EXPECT_THAT(concerns_of(facts, noon)[0].next, HasSubstr("this server"));
}

TEST(Concerns, StoreThatTakesNoWrites_IsNamed) {
    auto facts = healthy();
    facts.unwritable = "cannot execute UPDATE in a read-only transaction";
    EXPECT_THAT(about(facts), ElementsAre("store"));
    EXPECT_THAT(concerns_of(facts, noon)[0].why, HasSubstr("read-only"));
}

TEST(Concerns, RedactedContentsInTheFiles_AreNamed) {
    auto facts = healthy();
    facts.removed_remain = true;
    EXPECT_THAT(about(facts), ElementsAre("redaction"));
}

TEST(Concerns, ServersThatCannotTellEachOther_AreNamed) {
    auto facts = healthy();
    facts.signal_failure = "redis://h:1/0: Connection refused";
    EXPECT_THAT(about(facts), ElementsAre("signal"));
    EXPECT_THAT(concerns_of(facts, noon)[0].why, HasSubstr("Connection refused"));
}

TEST(LastBackup, UnreadableFile_CountsAsNone) {
    auto const folder = std::filesystem::temp_directory_path() / "dormouse-last-backup-test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / last_backup_name) << "1234\n";
    EXPECT_EQ(last_backup(folder.string()), from_ms(1'234));
    std::ofstream(folder / last_backup_name) << "soon\n";
    EXPECT_EQ(last_backup(folder.string()), std::nullopt);
    std::filesystem::remove_all(folder);
    EXPECT_EQ(last_backup(folder.string()), std::nullopt);
    EXPECT_EQ(last_backup(""), std::nullopt);
}

TEST(DiskTrend, Shrinking_IsExtrapolated) {
    DiskTrend trend;
    trend.note(noon, 1'000);
    EXPECT_EQ(trend.until_full(noon + DiskTrend::every / 2, 900), std::nullopt) << "too short";
    trend.note(noon + DiskTrend::every, 900);
    EXPECT_EQ(trend.until_full(noon + DiskTrend::every, 900), 9 * DiskTrend::every);
    EXPECT_EQ(trend.until_full(noon + DiskTrend::every, 1'100), std::nullopt) << "it grows";
    Time const later = noon + 2 * DiskTrend::kept;
    trend.note(later, 500);
    EXPECT_EQ(trend.until_full(later, 400), std::nullopt) << "what is older than a day is gone";
}

class TroublesTest : public ::testing::Test {
protected:
    void append(Event::Body body, Time at = noon) {
        Event event;
        event.seq = ++seq;
        event.at = at;
        event.body = std::move(body);
        state.agent = "ops";
        troubles.appended(state, {wire::record(SessionId::make(1, {}), std::move(event))});
    }
    static ModelFailed failed(std::string why) {
        return {1, 1, {"model_failed", std::move(why)}, {}};
    }

    State state;
    Seq seq = 0;
    Troubles troubles;
};

TEST_F(TroublesTest, RejectedKey_IsNamedUntilTheModelReplies) {
    append(failed("main: the provider answered 503"));
    EXPECT_THAT(troubles.rejected_keys(), IsEmpty());
    append(failed("main: the provider answered 401 (check the key that api_key_env names): no"));
    EXPECT_EQ(troubles.rejected_keys().count("ops"), 1U);
    append(ModelReplied{});
    EXPECT_THAT(troubles.rejected_keys(), IsEmpty());
}

TEST_F(TroublesTest, FailedTurns_AreThoseSince) {
    append(TurnEnded{1, FinishReason::error, {}, Trouble{"model_failed", "old"}},
           noon - 2 * whole_day);
    append(TurnEnded{2, FinishReason::stop, {}, {}});
    append(TurnEnded{3, FinishReason::error, {}, Trouble{"model_failed", "new"}});
    auto const found = troubles.failed_since(noon - whole_day);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().why, "new");
    for (int i = 0; i < 300; ++i) append(TurnEnded{4, FinishReason::error, {}, {}});
    EXPECT_EQ(troubles.failed_since(noon - whole_day).size(), Troubles::turns_max);
}

}  // namespace
}  // namespace dormouse::http
