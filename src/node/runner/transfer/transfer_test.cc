#include "runner/repair/verify.h"
#include "runner/testing/runner_fixture.h"
#include "runner/transfer/export.h"
#include "runner/transfer/import.h"
#include "store/memory/memory_store.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::runner::testing {
namespace {

using namespace session;

constexpr Duration one_day{24 * 3'600'000};

class Transfer : public RunnerTestOn<TestJournal<store::MemoryStore, store::MemoryDisk>> {
protected:
    [[nodiscard]] std::vector<std::string> exported(ExportChoice const& choice = {}) {
        std::vector<std::string> out;
        auto const report = export_sessions(*journal.store, choice, [&](std::string line) {
            out.push_back(std::move(line));
            return Result<void>();
        });
        EXPECT_TRUE(report) << report.error().detail;
        return out;
    }
    [[nodiscard]] ImportReport import(std::vector<std::string> const& lines,
                                      ImportOptions const& options = {}) {
        done.clear();
        std::size_t at = 0;
        auto const next = [&]() -> Result<std::optional<TransferLine>> {
            if (at == lines.size()) return std::nullopt;
            return TransferLine{lines[at++]};
        };
        ImportGuard const guard{[this] {
                                    held = true;
                                    return Result<void>();
                                },
                                [this](Epoch epoch) {
                                    outlived = epoch;
                                    return Result<void>();
                                }};
        auto const report =
            import_sessions(*disk, next, options, guard,
                            [this](ImportedSession const& one) { done.push_back(one); });
        EXPECT_TRUE(report) << report.error().detail;
        return report.value_or(ImportReport());
    }
    [[nodiscard]] std::string findings() {
        std::string out;
        for (Finding const& finding : verify(*disk, [](std::uint64_t) {})->findings)
            out += finding.session.text() + " " + finding.what + "\n";
        return out;
    }
    [[nodiscard]] State there(SessionId session) {
        auto read = read_session(*disk, session);
        EXPECT_TRUE(read) << read.error().detail;
        return read ? std::move(read->state) : State();
    }

    std::unique_ptr<store::MemoryStore> disk = std::make_unique<store::MemoryStore>();
    std::vector<ImportedSession> done;
    bool held = false;
    Epoch outlived = 0;
};

TEST_F(Transfer, SleepingSession_IsTheSameInAnotherStore) {
    SessionId const session = waiting_session(one_day);
    auto const report = import(exported());
    EXPECT_EQ(report.imported, 1U);
    EXPECT_EQ(report.holding, 1U);
    EXPECT_TRUE(held);
    EXPECT_EQ(there(session), stored(session));
    EXPECT_EQ(findings(), "");
    EXPECT_EQ(disk->pending_rows(session).value(), journal.store->pending_rows(session).value());
    EXPECT_EQ(disk->key_rows(session).value(), journal.store->key_rows(session).value());
    EXPECT_EQ(disk->load(session)->wake_at, journal.store->load(session)->wake_at);
}

TEST_F(Transfer, SessionAtRest_DoesNotHold) {
    (void)new_session();
    EXPECT_EQ(import(exported()).imported, 1U);
    EXPECT_FALSE(held);
}

TEST_F(Transfer, Repetition_ChangesNothing) {
    (void)waiting_session(one_day);
    auto const lines = exported();
    (void)import(lines);
    auto const report = import(lines);
    EXPECT_EQ(report.before, 1U);
    EXPECT_EQ(report.imported, 0U);
}

TEST_F(Transfer, OpenRun_NeedsALaterEpoch) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    EXPECT_EQ(import(exported()).imported, 1U);
    EXPECT_EQ(outlived, journal.store->epoch());
}

TEST_F(Transfer, TakenNumber_IsRefusedAndWithNewIdsAllNamesChange) {
    SessionId const session = waiting_session(one_day);
    auto const lines = exported();
    port::Append other;
    other.session = SessionId::make(session.number(), {7, 7, 7, 7, 7, 7, 7, 7});
    other.epoch = disk->epoch();
    other.frame = {1, 1, "[]"};
    other.row = port::SessionRow{.id = other.session, .project = "default", .agent = "demo"};
    other.row->status = "active";
    ASSERT_TRUE(disk->commit({&other, 1}).front());
    EXPECT_EQ(import(lines).refused, 1U);
    EXPECT_TRUE(done[0].error.contains("--new-ids")) << done[0].error;

    EXPECT_EQ(import(lines, {.new_ids = true}).imported, 1U);
    SessionId const now = done[0].now;
    EXPECT_NE(now.number(), session.number());
    State const copy = there(now);
    EXPECT_EQ(copy.calls.begin()->second.pending.session, now);
    EXPECT_EQ(import(lines, {.new_ids = true}).before, 1U) << "the second time";
    EXPECT_EQ(done[0].now, now);
}

TEST_F(Transfer, DeletedSession_ComesBackOnlyOnRequest) {
    SessionId const session = new_session();
    EXPECT_EQ(ask(session, Move{Move::To::end, ""}), "applied");
    auto const lines = exported();
    EXPECT_EQ(import(lines).imported, 1U);
    port::Append gone;
    gone.session = session;
    gone.epoch = disk->epoch();
    gone.after = there(session).head;
    gone.frame = {gone.after + 1, 1, "[]"};
    gone.erase = true;
    ASSERT_TRUE(disk->commit({&gone, 1}).front());
    EXPECT_EQ(import(lines).refused, 1U);
    EXPECT_TRUE(done[0].error.contains("--restore-deleted")) << done[0].error;
    ImportOptions const back{.at = from_ms(99), .deleted = Deleted::restored};
    EXPECT_EQ(import(lines, back).imported, 1U);
    EXPECT_EQ(there(session), stored(session));
    EXPECT_EQ(findings(), "");
    EXPECT_FALSE(held);
    EXPECT_EQ(disk->load(session)->row->updated, from_ms(99)) << "retention counts from now on";
    EXPECT_EQ(import(lines, back).before, 1U);
}

TEST_F(Transfer, DeletedSessionWithWork_DoesNotComeBack) {
    SessionId const session = waiting_session(one_day);
    auto const lines = exported();
    (void)import(lines);
    port::Append gone;
    gone.session = session;
    gone.epoch = disk->epoch();
    gone.after = there(session).head;
    gone.frame = {gone.after + 1, 1, "[]"};
    gone.erase = true;
    ASSERT_TRUE(disk->commit({&gone, 1}).front());
    EXPECT_EQ(import(lines, {.deleted = Deleted::restored}).refused, 1U);
    EXPECT_TRUE(done[0].error.contains("only a completed session")) << done[0].error;
}

// What an import that was cut off leaves: events, and a row that hides them.
TEST_F(Transfer, NoMoreEventsThanACutOffImportHas_AreRefused) {
    SessionId const session = new_session();
    auto const lines = exported();
    auto row = journal.store->load(session)->row;
    row->status = "deleted";
    auto const frames = journal.store->page(session, 1, 100);
    ASSERT_TRUE(frames && !frames->empty());
    for (port::Frame const& frame : *frames) {
        port::Append begun;
        begun.session = session;
        begun.epoch = disk->epoch();
        begun.after = frame.first - 1;
        begun.frame = frame;
        begun.row = *row;
        ASSERT_TRUE(disk->commit({&begun, 1}).front());
    }
    EXPECT_EQ(import(lines).refused, 1U);
    EXPECT_TRUE(done[0].error.contains("--restore-deleted")) << done[0].error;
}

TEST_F(Transfer, EditedOrTruncatedSession_IsRefusedAlone) {
    SessionId const first = new_session();
    SessionId const second = new_session();
    auto const lines = exported();
    auto const is_end = [](std::string const& line) { return line.contains("\"session_end\""); };
    auto const end = std::ranges::find_if(lines, is_end);
    ASSERT_NE(end, lines.end());
    for (int const damage : {0, 1, 2, 3}) {
        disk = std::make_unique<store::MemoryStore>();
        auto bad = lines;
        auto const place = bad.begin() + (end - lines.begin());
        if (damage == 0) bad.erase(place);
        if (damage == 1) bad.erase(place - 1);
        if (damage == 2) (place - 1)->insert(1, " ");
        if (damage == 3) *(place - 1) = "{";
        auto const report = import(bad);
        EXPECT_EQ(report.refused, 1U) << damage;
        EXPECT_EQ(report.imported, 1U) << damage;
        EXPECT_FALSE(disk->load(first)->row) << damage;
        EXPECT_TRUE(disk->load(second)->row) << damage;
    }
}

TEST_F(Transfer, FileThatWasCutOff_ImportsWholeSessionsAndSaysSo) {
    (void)new_session();
    (void)new_session();
    auto lines = exported();
    lines.resize(lines.size() - 2);
    auto const report = import(lines);
    EXPECT_TRUE(report.cut_off);
    EXPECT_EQ(report.imported, 1U);
    EXPECT_EQ(report.refused, 1U);
}

TEST_F(Transfer, NewerFormat_IsRefused) {
    auto lines = exported();
    lines[0].replace(lines[0].find("\"format\":2"), 10, "\"format\":3");
    auto const next = [&]() -> Result<std::optional<TransferLine>> {
        return TransferLine{lines[0]};
    };
    auto const report = import_sessions(*disk, next, {}, {}, [](ImportedSession const&) {});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Code::newer_format);
}

}  // namespace
}  // namespace dormouse::runner::testing
