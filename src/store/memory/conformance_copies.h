#pragma once
// Conformance: appends that copy from another session. Included by conformance.h.

#include "store/memory/conformance_fixture.h"

#include <array>

namespace dormouse::store {

inline port::Append copy_of(std::uint64_t number, port::SourceFrame const& source) {
    auto out = create(number, "acme");
    out.source = source;
    return out;
}

inline port::SourceFrame newest_of(port::Store& store, std::uint64_t number) {
    return {session(number), store.newest(std::vector{session(number)}).value().front()};
}

TEST_P(StoreConformance, Copy_SourceIsAsItWasRead_IsWritten) {
    commit_one(create(1, "acme", 2));
    auto const source = newest_of(store(), 1);
    EXPECT_EQ(source.newest.head, 2u);
    commit_one(copy_of(2, source));
    commit_one(copy_of(3, source));
    reopen();
    EXPECT_EQ(store().sessions("acme", 0, 10).value().size(), 3u);
}

TEST_P(StoreConformance, Copy_SourceHasChanged_FailsAlone) {
    commit_one(create(1, "acme"));
    commit_one(create(2, "acme"));
    auto const source = newest_of(store(), 1);
    auto const other = newest_of(store(), 2);
    std::array const batch{append(1, 1), copy_of(3, source), copy_of(4, other), append(4, 1)};
    auto const results = store().commit(batch);
    EXPECT_TRUE(results[0]);
    EXPECT_EQ(code(results[1]), Code::precondition_failed);
    EXPECT_EQ(results[1].error().cause, port::AppendError::Cause::failed);
    EXPECT_TRUE(results[2]) << results[2].error().detail;
    EXPECT_FALSE(store().load(session(3)).value().row);
    auto with_key = copy_of(3, source);
    with_key.create_key = Bits128{9};
    EXPECT_EQ(code(store().commit(std::array{with_key}).front()), Code::precondition_failed);
    EXPECT_EQ(store().find_created(Bits128{9}).value(), std::nullopt);
    with_key.source = newest_of(store(), 1);
    commit_one(with_key);
    EXPECT_EQ(store().find_created(Bits128{9}).value(), session(3));
}

// As after a standby without the tail took over: the number of the event is the same.
TEST_P(StoreConformance, Copy_SourceHasAnotherFrame_IsRefused) {
    commit_one(create(1, "acme"));
    auto source = newest_of(store(), 1);
    source.newest.stamp = port::Stamp{std::to_underlying(source.newest.stamp) ^ 1};
    EXPECT_EQ(code(store().commit(std::array{copy_of(2, source)}).front()),
              Code::precondition_failed);
}

TEST_P(StoreConformance, Copy_SourceIsGone_IsRefused) {
    commit_one(create(1, "acme"));
    auto const source = newest_of(store(), 1);
    auto last = append(1, 1);
    last.erase = true;
    commit_one(last);
    EXPECT_EQ(code(store().commit(std::array{copy_of(2, source)}).front()),
              Code::precondition_failed);
    port::SourceFrame const never{session(7), source.newest};
    EXPECT_EQ(code(store().commit(std::array{copy_of(2, never)}).front()),
              Code::precondition_failed);
}

}  // namespace dormouse::store
