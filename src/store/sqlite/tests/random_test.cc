// The SQLite store and the reference store get the same random appends and must give the same
// answers.
#include "store/memory/conformance_fixture.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tests/test_directory.h"

#include <map>
#include <random>

namespace dormouse::store {
namespace {

class Scenario {
public:
    explicit Scenario(std::uint32_t seed) : random_(seed) { reopen(); }

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            commit();
            if (one_in(15)) reopen();
            if (one_in(4)) compare_lists();
        }
        EXPECT_EQ(everything(*sqlite_), everything(*memory_));
    }

private:
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
    bool one_in(std::uint32_t n) { return below(n) == 0; }

    void reopen() {
        sqlite_.reset();
        memory_.reset();
        memory_ = std::make_unique<MemoryStore>(disk_);
        auto opened = SqliteStore::open(directory_.path());
        ASSERT_TRUE(opened) << opened.error().detail;
        sqlite_ = std::move(*opened);
        EXPECT_EQ(sqlite_->epoch(), memory_->epoch());
        EXPECT_EQ(sqlite_->next_session_number(), memory_->next_session_number());
    }

    void commit() {
        std::vector<port::Append> batch(below(10));
        for (auto& append : batch) append = any_append();
        auto const expected = memory_->commit(batch);
        auto const got = sqlite_->commit(batch);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < batch.size(); ++i) {
            EXPECT_EQ(code(got[i]), code(expected[i])) << i;
            if (!got[i]) continue;
            auto& head = heads_[batch[i].session.number()];
            head = batch[i].after + batch[i].frame.count;
        }
    }

    port::Append any_append() {
        std::uint64_t const number = 1 + below(12);
        Seq const head = heads_[number] + (one_in(8) ? 1 : 0);
        std::uint32_t const count = 1 + below(3);
        auto made = head == 0 ? create(number, one_in(3) ? "other" : "acme", count)
                              : append(number, head, count);
        if (one_in(12)) made.session = SessionId::make(number, Bits128{0, 0, 0, 0, 0, 1});
        if (made.row || one_in(6)) made.row = any_row(made);
        made.wake_changed = !one_in(3);
        if (one_in(2)) made.wake_at = at(below(5));
        for (auto n = below(4); n > 0; --n) made.pending.push_back(any_pending(head + 1));
        for (auto n = below(3); n > 0; --n)
            made.keys.push_back({std::to_string(below(200)), head + 1});
        if (one_in(5))
            made.snapshot = port::SnapshotRow{head + 1 + below(count), below(3), "state"};
        if (one_in(6)) made.create_key = Bits128{static_cast<std::uint8_t>(below(9))};
        made.erase = head > 0 && one_in(25);
        return made;
    }

    port::SessionRow any_row(port::Append const& append) {
        auto row = append.row.value_or(*create(append.session.number(), "acme").row);
        row.id = append.session;
        row.title = one_in(2) ? "title" : "";
        row.agent = one_in(2) ? "ops" : "claude";
        row.status = one_in(9) ? "deleted" : "active";
        row.updated = at(below(99));
        if (row.status == "active") row.turn = static_cast<port::TurnState>(below(3));
        return row;
    }

    port::PendingRow any_pending(Seq seq) {
        auto row = pause(1 + below(4), below(3));
        row.status = static_cast<port::PendingStatus>(below(5));
        row.tool = one_in(2) ? "deploy" : "approve";
        row.paused = seq;
        if (row.status != port::PendingStatus::waiting) row.settled = seq;
        if (one_in(2)) row.timeout = at(below(50));
        return row;
    }

    void compare_lists() {
        std::string const project = one_in(3) ? "other" : "acme";
        port::PendingFilter filter{.project = project, .limit = below(6)};
        if (one_in(3))
            filter.project =
                one_in(2) ? port::Projects::all() : port::Projects::of({"other", "nobody", "acme"});
        if (one_in(2)) filter.statuses = {port::PendingStatus::waiting};
        if (one_in(3)) filter.statuses.push_back(port::PendingStatus::failed);
        if (one_in(3)) filter.tool = one_in(3) ? "unheard of" : "deploy";
        if (one_in(3)) filter.session = session(1 + below(12));
        if (one_in(2)) filter.before = PendingId{session(below(13)), below(5), below(3), {}};
        EXPECT_EQ(names(*sqlite_, filter), names(*memory_, filter));

        port::Due const last{at(below(5)), session(1 + below(12))};
        auto const after = one_in(2) ? std::optional(last) : std::nullopt;
        auto const until = at(below(6));
        EXPECT_EQ(dues(*sqlite_, until, after), dues(*memory_, until, after));
        EXPECT_EQ(sqlite_->next_due().value(), memory_->next_due().value());
        EXPECT_EQ(sqlite_->open_pending(10000).value(), memory_->open_pending(10000).value());
        auto const before = below(13);
        EXPECT_EQ(numbers(sqlite_->sessions(project, before, 4).value()),
                  numbers(memory_->sessions(project, before, 4).value()));
        auto const most = below(8);
        EXPECT_EQ(sqlite_->session_counts(project, most).value(),
                  memory_->session_counts(project, most).value());
        auto const key = Bits128{static_cast<std::uint8_t>(below(9))};
        EXPECT_EQ(sqlite_->find_created(key).value(), memory_->find_created(key).value());
    }

    static std::string names(port::Store& store, port::PendingFilter const& filter) {
        std::string out;
        auto const rows = store.list_pending(filter).value();
        for (auto const& row : rows) out += name_of(row) + " " + describe(row.row) + "\n";
        return out;
    }

    static std::string dues(port::Store& store, Time until, std::optional<port::Due> after) {
        std::string out;
        auto const found = store.due(until, after, 5).value();
        for (auto const& due : found)
            out += std::to_string(to_ms(due.at)) + due.session.text() + "\n";
        return out;
    }

    std::mt19937 random_;
    TestDirectory directory_;
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::unique_ptr<MemoryStore> memory_;
    std::unique_ptr<SqliteStore> sqlite_;
    std::map<std::uint64_t, Seq> heads_;
};

TEST(RandomAppends, BothStores_GiveTheSameAnswers) {
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Scenario(seed).run(60);
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace dormouse::store
