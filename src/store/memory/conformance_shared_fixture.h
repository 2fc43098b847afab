#pragma once
// The suite of stores that several processes use at the same time: two or three of them, each an
// object on one database or disk.

#include "store/memory/conformance_fixture.h"

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

namespace dormouse::store {

// Stores of as many processes as are asked for, on the same data.
class SharedUnderTest {
public:
    virtual ~SharedUnderTest() = default;
    // The store of the `place`-th process, opened when it is first asked for. Not thread-safe.
    [[nodiscard]] virtual port::Store& store(std::size_t place) = 0;
    // The others declare that process dead; it takes part again under a new epoch.
    virtual void remove(std::size_t place) = 0;
    virtual void join(std::size_t place) = 0;
};

struct SharedKind {
    std::string name;
    std::size_t stores = 2;
    // Null: what the stores need is not installed, and their tests are skipped.
    std::function<std::unique_ptr<SharedUnderTest>()> make = {};
};

inline void PrintTo(SharedKind const& kind, std::ostream* out) {
    *out << kind.name << "_" << kind.stores;
}

inline bool fenced(port::AppendResult const& result) {
    return !result && result.error().cause == port::AppendError::Cause::fenced;
}

class SharedConformance : public testing::TestWithParam<SharedKind> {
protected:
    using Results = std::vector<port::AppendResult>;

    void SetUp() override {
        if (!subject_) GTEST_SKIP() << GetParam().name << " is not installed";
        for (std::size_t i = 0; i < count(); ++i) (void)store(i);
    }

    [[nodiscard]] std::size_t count() const { return GetParam().stores; }
    [[nodiscard]] port::Store& store(std::size_t place) { return subject_->store(place); }
    [[nodiscard]] SharedUnderTest& subject() { return *subject_; }
    // The place of the process that is `n` after the first one.
    [[nodiscard]] std::size_t turn(std::uint64_t n) const { return n % count(); }

    [[nodiscard]] static port::AppendResult commit(port::Store& store, port::Append one) {
        one.epoch = store.epoch();
        return store.commit({&one, 1})[0];
    }
    void write(std::size_t place, port::Append const& one) {
        auto const result = commit(store(place), one);
        ASSERT_TRUE(result) << result.error().detail;
    }
    // Each process commits its append at the same moment.
    [[nodiscard]] Results race(std::vector<port::Append> const& each) {
        Results out(each.size());
        std::vector<port::Store*> stores;
        for (std::size_t i = 0; i < each.size(); ++i) stores.push_back(&store(i));
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < each.size(); ++i)
            threads.emplace_back([&, i] { out[i] = commit(*stores[i], each[i]); });
        threads.clear();
        return out;
    }
    // Returns the index of the only append of a race that was written.
    [[nodiscard]] static std::size_t winner(Results const& results) {
        auto const won = [](port::AppendResult const& result) { return result.has_value(); };
        EXPECT_EQ(std::ranges::count_if(results, won), 1);
        return static_cast<std::size_t>(std::ranges::find_if(results, won) - results.begin());
    }

private:
    std::unique_ptr<SharedUnderTest> subject_ = GetParam().make();
};

// One process appends to a session, the others copy it: between a copy and the frame that it names
// there is no append. The feed has the order of the commits.
TEST_P(SharedConformance, RacingCopies_HaveWhatTheirSourceHadThen) {
    constexpr Seq appends = 60;
    constexpr std::size_t copies = 10;
    write(0, create(1, "acme"));
    std::map<std::uint64_t, Seq> copied;  // number of the copy → head of the source
    std::atomic<std::size_t> made = 0;
    std::mutex mutex;
    std::atomic<bool> done = false;
    std::vector<port::Store*> stores;
    for (std::size_t i = 0; i < count(); ++i) stores.push_back(&store(i));
    auto const copy_all = [&](std::size_t place) {
        port::Store& own = *stores[place];
        for (std::uint64_t no = 1'000 * place; !done; ++no) {
            auto one = create(no, "acme");
            auto const id = session(1);
            one.source = port::SourceFrame{id, own.newest({&id, 1}).value()[0]};
            auto const result = commit(own, one);
            std::scoped_lock const lock(mutex);
            if (!result) continue;
            copied[no] = one.source->newest.head;
            ++made;
        }
    };
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < count(); ++i) threads.emplace_back(copy_all, i);
    Seq after = 1;
    for (; after < appends || made < copies; std::this_thread::yield())
        after += commit(*stores[0], append(1, after)) ? 1 : 0;
    done = true;
    threads.clear();
    Seq head = 0;
    std::size_t seen = 0;
    for (std::uint64_t at = 0;;) {
        auto const page = store(0).feed("acme", at, 1'000'000).value();
        for (port::FeedRow const& row : page.rows) {
            auto const copy = copied.find(row.session.number());
            if (row.session == session(1)) head = row.frame.first;
            if (copy == copied.end()) continue;
            EXPECT_EQ(copy->second, head) << "copy " << copy->first;
            ++seen;
        }
        if (!page.more) break;
        at = page.next;
    }
    EXPECT_EQ(head, after);
    EXPECT_EQ(seen, copied.size());
}

TEST_P(SharedConformance, Append_IsSeenByAllOthers) {
    auto const first = create(1, "acme", 2);
    write(0, first);
    auto const stamp = port::stamp_of(session(1), first.frame);
    auto const id = session(1);
    std::set<Epoch> epochs;
    for (std::size_t i = 0; i < count(); ++i) {
        EXPECT_TRUE(store(i).shared());
        epochs.insert(store(i).epoch());
        EXPECT_EQ(store(i).newest({&id, 1}).value()[0], (port::NewestFrame{2, stamp}));
    }
    EXPECT_EQ(epochs.size(), count());
}

TEST_P(SharedConformance, Append_OnAnotherHeadOrStamp_IsMoved) {
    auto const first = create(1, "acme");
    write(0, first);
    auto stale = append(1, 1);
    stale.stamp = port::Stamp{7};
    for (std::size_t i = 0; i < count(); ++i) {
        EXPECT_TRUE(moved(commit(store(i), stale))) << "the head is right, and the events are not";
        EXPECT_TRUE(moved(commit(store(i), append(1, 2))));
    }
    stale.stamp = port::stamp_of(session(1), first.frame);
    write(1, stale);
    EXPECT_TRUE(moved(commit(store(0), stale)));
}

TEST_P(SharedConformance, RacingAppends_ExactlyOneIsWritten) {
    write(0, create(1, "acme"));
    for (Seq after = 1; after < 30; ++after) {
        std::vector<port::Append> each;
        for (std::size_t i = 0; i < count(); ++i) {
            each.push_back(append(1, after));
            each.back().frame.bytes = "[\"of " + std::to_string(i) + "\"]";
        }
        auto const results = race(each);
        auto const won = winner(results);
        ASSERT_LT(won, count());
        for (std::size_t i = 0; i < count(); ++i) EXPECT_TRUE(i == won || moved(results[i]));
        EXPECT_EQ(store(0).page(session(1), after + 1, 1).value().at(0).bytes,
                  each[won].frame.bytes);
    }
    EXPECT_EQ(store(1).load(session(1)).value().tail.size(), 30U) << "no gap, nothing twice";
}

TEST_P(SharedConformance, RacingAliases_ExactlyOneHoldsIt) {
    for (std::uint64_t round = 0; round < 20; ++round) {
        std::vector<port::Append> each;
        for (std::size_t i = 0; i < count(); ++i) {
            each.push_back(create(1 + round * count() + i, "acme"));
            each.back().row->alias = "ops-" + std::to_string(round % 3);
            each.back().claims_alias = true;
        }
        auto const results = race(each);
        auto const won = winner(results);
        ASSERT_LT(won, count());
        for (std::size_t i = 0; i < count(); ++i)
            EXPECT_TRUE(i == won || code(results[i]) == Code::alias_taken);
        auto freed = append(each[won].session.number(), 1);
        freed.row = each[won].row;
        freed.row->status = "completed";
        write(turn(round), freed);
    }
}

TEST_P(SharedConformance, RacingCreateKeys_ExactlyOneSessionExists) {
    for (std::uint64_t round = 0; round < 20; ++round) {
        std::vector<port::Append> each;
        for (std::size_t i = 0; i < count(); ++i) {
            each.push_back(create(1 + round * count() + i, "acme"));
            each.back().create_key = Bits128{1, static_cast<std::uint8_t>(round)};
        }
        auto const results = race(each);
        auto const won = winner(results);
        ASSERT_LT(won, count());
        for (std::size_t i = 0; i < count(); ++i) {
            EXPECT_TRUE(i == won || code(results[i]) == Code::conflict);
            EXPECT_EQ(store(i).find_created(*each[0].create_key).value(), each[won].session);
        }
    }
    EXPECT_EQ(store(0).all_sessions(0, 1'000).value().size(), 20U);
}

TEST_P(SharedConformance, Driver_IsOneProcessUntilItLeavesOrIsGone) {
    auto const driving = [](Seq after, port::Drive drive) {
        auto one = after == 0 ? create(1, "acme") : append(1, after);
        one.drive = drive;
        return one;
    };
    write(0, driving(0, port::Drive::keep));
    for (std::size_t i = 1; i < count(); ++i) {
        EXPECT_EQ(store(i).load(session(1)).value().driver, store(0).epoch());
        EXPECT_TRUE(moved(commit(store(i), driving(1, port::Drive::keep))));
        EXPECT_TRUE(moved(commit(store(i), driving(1, port::Drive::leave))));
    }
    write(1, driving(1, port::Drive::none));
    write(0, driving(2, port::Drive::leave));
    write(1, driving(3, port::Drive::keep));
    subject().remove(1);
    auto const last = count() - 1;
    auto const next = last == 1 ? std::size_t{0} : last;
    write(next, driving(4, port::Drive::keep));
    EXPECT_EQ(store(0).load(session(1)).value().driver, store(next).epoch());
}

TEST_P(SharedConformance, RacingTakeOvers_ExactlyOneDrives) {
    write(0, create(1, "acme"));
    for (Seq after = 1; after < 20; ++after) {
        std::vector<port::Append> each(count(), append(1, after));
        for (auto& one : each) one.drive = port::Drive::keep;
        auto const won = winner(race(each));
        ASSERT_LT(won, count());
        EXPECT_EQ(store(0).load(session(1)).value().driver, store(won).epoch());
        auto free = append(1, ++after);
        free.drive = port::Drive::leave;
        write(won, free);
    }
}

TEST_P(SharedConformance, RemovedProcess_IsFencedUntilItJoinsUnderANewEpoch) {
    write(0, create(1, "acme"));
    auto const old = store(0).epoch();
    subject().remove(0);
    EXPECT_TRUE(fenced(commit(store(0), append(1, 1))));
    for (std::size_t i = 1; i < count(); ++i) write(i, append(1, i));
    subject().join(0);
    EXPECT_GT(store(0).epoch(), old);
    auto early = append(1, count());
    early.epoch = old;
    EXPECT_TRUE(moved(store(0).commit({&early, 1})[0])) << "decided under the old epoch";
    write(0, append(1, count()));
}

TEST_P(SharedConformance, AuditOfAllProcesses_IsChainsWithoutGaps) {
    for (std::uint64_t n = 0; n < 12; ++n)
        ASSERT_TRUE(store(turn(n)).change_tokens({.audit = "line " + std::to_string(n)}));
    for (std::size_t i = 0; i < count(); ++i) {
        std::map<std::uint64_t, port::AuditRow> last;
        std::set<std::string> lines;
        auto const rows = store(i).audit(0, 100).value();
        for (auto const& row : rows) {
            auto& before = last[row.n >> 48];
            EXPECT_TRUE(before.n == 0 || row.n == before.n + 1);
            EXPECT_EQ(row.hash, port::chained(before.hash, row.n, row.line));
            before = row;
            EXPECT_TRUE(lines.insert(row.line).second);
        }
        EXPECT_EQ(lines.size(), 12U);
    }
}

namespace shared_feed {

constexpr std::size_t sessions = 6;

// Appends until `count` were written, to sessions that the other writers change too.
inline void append_some(port::Store& store, int count, std::uint64_t seed) {
    for (int written = 0; written < count;) {
        auto const number = 1 + (seed = seed * 1'103'515'245 + 12'345) / 65'536 % sessions;
        auto const id = session(number);
        Seq const after = store.newest({&id, 1}).value()[0].head;
        auto one = after == 0 ? create(number, "acme") : append(number, after);
        one.epoch = store.epoch();
        auto const result = store.commit({&one, 1})[0];
        EXPECT_TRUE(result || moved(result)) << result.error().detail;
        if (result) ++written;
    }
}

struct Seen {
    std::set<std::string> rows;
    bool in_order = true;
};

// Reads the feed until it has seen `count` appends, or for a minute after all writers ended.
inline Seen follow(port::Store& store, std::size_t count, std::atomic<bool> const& ended) {
    Seen seen;
    std::map<std::uint64_t, Seq> heads;
    std::uint64_t after = 0;
    std::uint64_t last = 0;
    auto end = std::chrono::steady_clock::time_point::max();
    while (seen.rows.size() < count && std::chrono::steady_clock::now() < end) {
        if (ended && end == std::chrono::steady_clock::time_point::max())
            end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        auto const page = store.feed(port::Projects::all(), after, 2'000).value();
        for (auto const& row : page.rows) {
            auto& head = heads[row.session.number()];
            seen.in_order = seen.in_order && row.n > last && row.frame.first == head + 1;
            last = row.n;
            head = row.frame.first;
            seen.rows.insert(std::to_string(row.session.number()) + "/" + std::to_string(head));
        }
        seen.in_order = seen.in_order && page.next >= after;
        after = page.next;
    }
    return seen;
}

}  // namespace shared_feed

TEST_P(SharedConformance, FeedOfEightWriters_IsWholeAndInOrderForEightReaders) {
    constexpr std::size_t each = 60;
    constexpr std::size_t writers = 8;
    constexpr std::size_t readers = 8;
    std::vector<port::Store*> stores;
    for (std::size_t i = 0; i < writers + readers; ++i) stores.push_back(&store(i));
    std::array<shared_feed::Seen, readers> seen;
    std::atomic<bool> ended = false;
    {
        std::vector<std::jthread> following;
        for (std::size_t i = 0; i < readers; ++i)
            following.emplace_back(
                [&, i] { seen.at(i) = shared_feed::follow(*stores[i], writers * each, ended); });
        std::vector<std::jthread> writing;
        for (std::size_t i = 0; i < writers; ++i)
            writing.emplace_back(
                [&, i] { shared_feed::append_some(*stores[readers + i], int{each}, i); });
        writing.clear();
        ended = true;
    }
    for (auto const& one : seen) {
        EXPECT_EQ(one.rows.size(), writers * each);
        EXPECT_TRUE(one.in_order);
    }
}

}  // namespace dormouse::store
