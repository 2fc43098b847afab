#pragma once
// A store with one session that a random story made, for tests of what changes stored history.

#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "runner/repair/rebuild.h"
#include "store/memory/memory_store.h"
#include "wire/testing/story.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace dormouse::runner::testing {

class StoredStory {
public:
    using Records = std::vector<wire::RecordPtr>;

    // Stores the sample in frames of random sizes.
    StoredStory(session::testing::Given const& sample, std::uint32_t seed) : random_(seed) {
        id = SessionId::make(1, sample.id.bytes);
        all = wire::unpack(id, 1, wire::pack(sample.id, wire::testing::records_of(sample))).value();
        session::State empty;
        empty.id = id;
        auto rebuilt = rebuild({empty, all}).value();
        for (std::size_t at = 0; at < all.size();) {
            std::size_t const count = std::min<std::size_t>(1 + random_() % 4, all.size() - at);
            auto append = append_of({all.begin() + static_cast<std::ptrdiff_t>(at),
                                     all.begin() + static_cast<std::ptrdiff_t>(at + count)});
            at += count;
            if (at == count) append.row = session_row(rebuilt.state);
            if (at == all.size()) {
                for (auto const& [key, row] : rebuilt.pending) append.pending.push_back(row);
                for (auto const& [key, seq] : rebuilt.keys) append.keys.push_back({key, seq});
                append.wake_at = wake_at(rebuilt.state);
            }
            commit(std::move(append));
        }
        state = rebuilt.state;
    }

    [[nodiscard]] Records stored() { return read_records(store, id, 1, state.head).value(); }

    SessionId id;
    session::State state;
    Records all;  // as the story made them
    std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>();
    store::MemoryStore store{disk};

protected:
    [[nodiscard]] port::Append append_of(Records const& records) const {
        port::Append append;
        append.session = id;
        append.after = records.front()->event.seq - 1;
        append.frame = {records.front()->event.seq, static_cast<std::uint32_t>(records.size()),
                        wire::pack(id, records)};
        return append;
    }
    void commit(port::Append append) {
        std::vector<port::Append> const one{std::move(append)};
        auto const done = store.commit(one);
        ASSERT_TRUE(done.front()) << done.front().error().detail;
    }
    [[nodiscard]] std::uint32_t random() { return static_cast<std::uint32_t>(random_()); }

private:
    std::mt19937 random_;
};

}  // namespace dormouse::runner::testing
