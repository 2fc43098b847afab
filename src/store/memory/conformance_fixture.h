#pragma once
// The store under test, and short functions to write appends and to describe results.

#include "port/many_loads.h"
#include "port/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::store {

// A store that can be closed and reopened on the same data.
class StoreUnderTest {
public:
    virtual ~StoreUnderTest() = default;
    [[nodiscard]] virtual port::Store& store() = 0;
    virtual void reopen() = 0;
};

struct StoreKind {
    std::string name;
    // Null: what the store needs is not installed, and its tests are skipped.
    std::function<std::unique_ptr<StoreUnderTest>()> make;
};

inline void PrintTo(StoreKind const& kind, std::ostream* out) { *out << kind.name; }

inline Time at(std::int64_t ms) { return from_ms(1'795'290'000'000 + ms); }

inline SessionId session(std::uint64_t number) {
    auto const low = static_cast<std::uint8_t>(number);
    return SessionId::make(number, {0, 0, 0, 0, 0, low, 0x80, 0xff, 1, 2, 3, 4, 5, 6, 7, 8});
}

inline port::Append append(std::uint64_t number, Seq after, std::uint32_t count = 1) {
    port::Append made;
    made.session = session(number);
    made.epoch = 1;
    made.after = after;
    made.frame = {.first = after + 1, .count = count, .bytes = ""};
    made.frame.bytes =
        R"([["note",)" + std::to_string(number) + R"(,{"after":)" + std::to_string(after) + "}]]";
    return made;
}

inline port::Append create(std::uint64_t number, std::string project, std::uint32_t count = 1) {
    auto made = append(number, 0, count);
    made.row = port::SessionRow{.id = session(number),
                                .project = std::move(project),
                                .agent = "ops",
                                .alias = "",
                                .title = "",
                                .status = "active",
                                .created = at(0),
                                .updated = at(0)};
    return made;
}

inline port::OutboxRow outbox_row(std::uint64_t from, Seq seq, std::uint32_t n, std::string kind,
                                  std::int64_t next_at) {
    port::OutboxRow row;
    row.key = {session(from), seq, n};
    row.kind = std::move(kind);
    row.target = session(77).text();
    row.body = std::string("body\0of ", 8) + std::to_string(seq);
    row.created = at(1);
    row.next_at = at(next_at);
    return row;
}

inline port::PendingRow pause(CallNo call, Generation generation = 1) {
    return {.call = call,
            .generation = generation,
            .status = port::PendingStatus::waiting,
            .tool = "deploy",
            .created = at(call),
            .timeout = std::nullopt,
            .paused = 1,
            .settled = 0};
}

// Returns true if the newest frame was another one than the append names.
inline bool moved(port::AppendResult const& result) {
    return !result && result.error().cause == port::AppendError::Cause::moved;
}

template <class T, class E> std::optional<Code> code(std::expected<T, E> const& result) {
    if (result) return std::nullopt;
    return result.error().code;
}

inline std::string describe(port::SessionRow const& row) {
    return row.id.text() + "|" + row.project + "|" + row.agent + "|" + row.alias + "|" + row.title +
           "|" + row.status + "|" + std::to_string(to_ms(row.created)) + "|" +
           std::to_string(to_ms(row.updated)) + "|" + std::to_string(static_cast<int>(row.turn));
}

inline std::string describe(port::Loaded const& loaded) {
    std::string out = loaded.row ? describe(*loaded.row) : "none";
    if (loaded.snapshot)
        out += ";" + std::to_string(loaded.snapshot->seq) + "," +
               std::to_string(loaded.snapshot->format) + "," + loaded.snapshot->state;
    for (port::Frame const& frame : loaded.tail)
        out += ";" + std::to_string(frame.first) + "," + std::to_string(frame.count) + "," +
               frame.bytes;
    return out + ";" + std::to_string(std::to_underlying(loaded.stamp)) + "," +
           std::to_string(loaded.named) + "," + std::to_string(loaded.wake_known) + "," +
           std::to_string(loaded.wake_at ? to_ms(*loaded.wake_at) : -1) + "," +
           std::to_string(loaded.driver);
}

inline std::string describe(port::PendingRow const& row) {
    return std::to_string(row.call) + "," + std::to_string(row.generation) + "," +
           std::to_string(static_cast<int>(row.status)) + "," + row.tool + "," +
           std::to_string(to_ms(row.created)) + "," +
           std::to_string(row.timeout ? to_ms(*row.timeout) : -1) + "," +
           std::to_string(row.paused) + "," + std::to_string(row.settled);
}

inline std::vector<std::uint64_t> numbers(std::vector<port::SessionRow> const& rows) {
    std::vector<std::uint64_t> found;
    for (auto const& row : rows) found.push_back(row.id.number());
    return found;
}

// Returns "session/call/generation".
inline std::string name_of(port::PendingListed const& listed) {
    return std::to_string(listed.session.number()) + "/" + std::to_string(listed.row.call) + "/" +
           std::to_string(listed.row.generation);
}

// Returns all data of a store as text: equal for two stores with the same rows.
inline std::string everything(port::Store& store) {
    std::string out = "next " + std::to_string(store.next_session_number());
    auto const all_of_them = store.due_messages("session", Time::max(), 1'000'000).value();
    for (auto const& message : all_of_them)
        out += "\npost " + message.key.from.text() + " " + std::to_string(message.key.seq) + "." +
               std::to_string(message.key.n) + " " + message.target + message.body;
    auto const dues = store.due(Time::max(), std::nullopt, 1'000'000).value();
    for (auto const& due : dues)
        out += "\ndue " + std::to_string(to_ms(due.at)) + " " + due.session.text();
    auto const sessions = store.all_sessions(0, 1'000'000).value();
    for (auto const& row : sessions) {
        out += "\n" + describe(row);
        auto const loaded = store.load(row.id).value();
        if (loaded.snapshot)
            out += "\n  snapshot " + std::to_string(loaded.snapshot->seq) + loaded.snapshot->state;
        out += "\n  tail from " + std::to_string(loaded.tail.empty() ? 0 : loaded.tail[0].first);
        auto const frames = store.page(row.id, 1, 1'000'000'000).value();
        for (auto const& frame : frames)
            out += "\n  " + std::to_string(frame.first) + "+" + std::to_string(frame.count) + " " +
                   frame.bytes;
        auto const calls = store.pending_rows(row.id).value();
        for (auto const& pending : calls) out += "\n  pending " + describe(pending);
        auto const keys = store.key_rows(row.id).value();
        for (auto const& key : keys) out += "\n  key " + key.key + " " + std::to_string(key.seq);
    }
    return out;
}

class StoreConformance : public testing::TestWithParam<StoreKind> {
protected:
    void SetUp() override {
        if (!subject_) GTEST_SKIP() << GetParam().name << " is not installed";
    }

    [[nodiscard]] port::Store& store() { return subject_->store(); }
    void reopen() { subject_->reopen(); }

    void commit_one(port::Append const& one) {
        auto const results = store().commit({&one, 1});
        ASSERT_EQ(results.size(), 1u);
        ASSERT_TRUE(results[0]) << results[0].error().detail;
    }

    [[nodiscard]] std::string listed(port::PendingFilter const& filter) {
        std::string names;
        auto const rows = store().list_pending(filter).value();
        for (auto const& row : rows) names += (names.empty() ? "" : " ") + name_of(row);
        return names;
    }

    // Stores sessions 1 and 3 of "acme" and 2 of "other", with calls in several states.
    void fill_pending() {
        auto first = create(1, "acme", 9);
        first.wake_at = at(40);
        first.keys = {{"one", 1}, {"two", 2}};
        first.pending = {pause(1), pause(1, 2), pause(2), pause(3)};
        first.pending[0].status = port::PendingStatus::completed;
        first.pending[0].settled = 5;
        first.pending[2].status = port::PendingStatus::completed;
        first.pending[2].tool = first.pending[3].tool = "approve";
        auto second = create(2, "other");
        second.pending = {pause(1)};
        auto third = create(3, "acme");
        third.create_key = Bits128{1, 2, 3};
        third.pending = {pause(1, 0), pause(1)};
        third.pending[0].status = port::PendingStatus::expired;
        for (auto const& one : {first, second, third}) commit_one(one);
    }

private:
    std::unique_ptr<StoreUnderTest> subject_ = GetParam().make();
};

}  // namespace dormouse::store
