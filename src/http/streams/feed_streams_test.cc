#include "http/streams/feed_streams.h"

#include "json/json.h"
#include "session/testing/given.h"
#include "wire/journal/record.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using namespace dormouse::session;

// A session whose oldest turn was cut; one of its events was kept after its base.
class CutFrame : public ::testing::Test, protected session::testing::Given {
protected:
    CutFrame() {
        (void)create();
        for (int turn = 0; turn < 2; ++turn) {
            (void)prompt("hello");
            (void)reply();
        }
    }
    // Returns the frame that begins with the event `first`; everything before it was cut but the
    // event `kept`.
    [[nodiscard]] port::FeedRow cut(Seq first, Seq kept) const {
        State before;
        before.id = id;
        std::vector<wire::RecordPtr> records;
        for (Event const& event : archive.log) {
            if (event.seq <= first) apply(before, event);
            if (event.seq == kept || event.seq > first) records.push_back(wire::record(id, event));
        }
        port::FeedRow row;
        row.session = id;
        row.frame.first = first;
        row.frame.count = static_cast<std::uint32_t>(archive.log.back().seq - first + 1);
        row.frame.bytes = wire::pack_base(before, now, first, records);
        return row;
    }
};

TEST_F(CutFrame, Feed_KeptOlderEvent_IsNotReportedAgain) {
    Seq const first = 4;
    auto const row = cut(first, 2);
    auto const records = wire::unpack(id, first, row.frame.bytes);
    ASSERT_TRUE(records);
    auto const is_kept = [](wire::RecordPtr const& record) { return record->event.seq == 2; };
    ASSERT_TRUE(std::ranges::any_of(*records, is_kept));
    auto const events = feed_events(row);
    ASSERT_TRUE(events);
    ASSERT_FALSE(events->empty());
    for (std::string const& event : *events)
        EXPECT_GE(json::View(event)["seq"].integer_or(0), first);
}

}  // namespace
}  // namespace dormouse::http
